"""Titles above outputs say whose each is, and what only looks like one says nothing."""

import pytest

from weft.observe.facts.adapters import Gid
from weft.observe.facts.interfaces import Counter
from weft.observe.reading import read_text
from weft.observe.titles import titles

_TABLE = """\
mlx5_0  1  0  fe80:0000:0000:0000:ba59:9fff:fe0c:7d12   v1 ens6f0
mlx5_0  1  3  0000:0000:0000:0000:0000:ffff:0ac9:0a1c 10.201.10.28 v2 ens6f0
"""


@pytest.mark.parametrize(
    ("one", "other", "names"),
    [
        ("# node28", "# node29", ["node28", "node29"]),
        ("=== gpu-04 ===", "=== gpu-05 ===", ["gpu-04", "gpu-05"]),
        ("dgx7:", "dgx8:", ["dgx7", "dgx8"]),
        ("[trn-1]", "[trn-2]", ["trn-1", "trn-2"]),
        ("# pod A", "# pod B", ["pod A", "pod B"]),
        ("# node tr-01", "# node tr-02", ["tr-01", "tr-02"]),
        ("Node 1:", "Node 2:", ["Node 1", "Node 2"]),
        ("# host A (works)", "# host B (fails)", ["host A", "host B"]),
        ("$ ssh rk7 show_gids", "$ ssh rk8 show_gids", ["rk7", "rk8"]),
    ],
)
def test_a_title_names_the_host_of_what_stands_below(one, other, names):
    facts, _ = read_text(f"{one}\n{_TABLE}\n{other}\n{_TABLE}", "gids.txt")
    hosts = [fact.host for fact in facts if isinstance(fact, Gid)]
    assert list(dict.fromkeys(hosts)) == names


@pytest.mark.parametrize(
    "text",
    [
        "mlx5_0:\nup\nmlx5_1:\ndown\n",
        "eth0:\nup\neth1:\ndown\n",
        "node1:\n  gpus: 8\nnode2:\n  gpus: 8\n",
        "node1:\nnode2:\nnode3:\n",
        "=== run 1 ===\nx\n=== run 2 ===\ny\n",
        "=== node1 ===\nalone\n",
        "GPU 0:\nx\nGPU 1:\ny\n",
        "# driver-545\nx\n# driver-560\ny\n",
        "# t0\nx\n# t1\ny\n",
        "# sep-03\nx\n# sep-04\ny\n",
        "# fp16\nx\n# bf16\ny\n",
    ],
)
def test_what_names_no_host_or_stands_alone_is_no_title(text):
    assert titles(text) == {}


def test_one_host_at_two_times_is_read_twice():
    text = (
        "== rk3, before ==\nrx_discards_phy: 10\n"
        "== rk3, an hour later ==\nrx_discards_phy: 900\n"
    )
    facts, _ = read_text(text, "ethtool_S.txt")
    counters = [fact for fact in facts if isinstance(fact, Counter)]
    assert [(one.host, one.sample or 0) for one in counters] == [("rk3", 0), ("rk3", 1)]
