"""NCCL's published constants, by version."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.engines.analytic.collective import algorithm, tuning
from weft.engines.analytic.collective.constants import Fitted
from weft.engines.analytic.collective.graph import search
from weft.engines.analytic.collective.path import Same, path_of
from weft.engines.analytic.collective.spread import fixed
from weft.traffic.collective import Group, Operation

from .clusters import A100, cluster

FITTED = Fitted({}, fixed())


def latency_s(name: str, where) -> float:
    """The library's own, with LL for an all-reduce."""
    kind, graphs = algorithm.find(name), search(where)
    use = algorithm.Use(
        path=where, graphs=graphs, operation=Operation.ALL_REDUCE, protocol="ll"
    )
    return kind.library_latency_s(use)


def path(hosts: int, per_host: int = 8, **changes):
    who = Group(ranks=hosts * per_host, ranks_per_domain=per_host)
    return path_of(Same(cluster(hosts, **changes)), who, FITTED)


@pytest.mark.parametrize(
    ("asked", "found"),
    [("2.16.2", "2.18.1"), ("2.18.6", "2.18.3"), ("2.26.2+cuda12.8", "2.25.1"),
     ("2.29.3", "2.29.2"), ("2.31", "2.30.7")],
)  # fmt: skip
def test_a_version_has_the_tables_of_the_newest_one_before_it(asked, found):
    assert tuning.find(asked).name == found


@pytest.mark.parametrize("version", [*tuning.versions(), "rccl"])
def test_every_version_is_complete_and_in_inside_units(version):
    found = tuning.find(version)
    for kind in algorithm.all_of():
        if kind.name != "pairwise":
            for link in ("nvlink", "pci", "net"):
                assert 0 <= found.step_s[link][kind.name]["simple"] < 1e-3
    for name in tuning.CLASSES:
        assert set(found.ll_max_bytes_per_s[name]) == set(tuning.NODE_SCALES)
        assert found.ll_max_bytes_per_s[name]["n1"] > 1e9


def test_nvls_tree_steps_grew_at_2_28_9():
    """14 us became 20.9 us."""
    before, after = (tuning.find(v).step_s["net"]["nvls_tree"] for v in ("2.28.7", "2.28.9"))
    assert (before["simple"], after["simple"]) == (pytest.approx(14e-6), pytest.approx(20.9e-6))


@pytest.mark.parametrize(
    ("hosts", "per_host", "expected_us"),
    [
        (1, 8, 6.6 + 14 * 0.6),  # ring / LL on one host
        (2, 4, 6.6 + 12 * 1.0 + 2 * 2.7),  # on two, a step costs at least the NIC's overhead
    ],
)
def test_the_latency_of_a_ring_is_the_published_formula(hosts, per_host, expected_us):
    found = latency_s("ring", path(hosts, per_host, nics=4))
    assert found * 1e6 == pytest.approx(expected_us)


def test_the_latency_of_a_tree_is_the_published_formula():
    """6.8 + 2 (3 x 0.6 + 1 x 5.0) = 20.4 us on two hosts of four."""
    found = latency_s("tree", path(2, 4, nics=4))
    assert found * 1e6 == pytest.approx(20.4)


def test_the_search_finds_twelve_channels_of_20_in_a_dgx_a100():
    """Six of 40 GB/s fill the 240 GB/s of topo.h; they are laid twice, and again connected."""
    graphs = search(path(1, **A100))
    assert (graphs.ring.channels, graphs.ring.intra_bytes_per_s) == (12, 20e9)
    assert graphs.total_channels == 24


@pytest.mark.parametrize(
    ("nics", "version", "expected"),
    [
        (8, "2.27.3", (8, 48e9, 16)),
        (4, "2.27.3", (8, 24e9, 16)),  # up to four channels are laid twice
        (2, "2.27.3", (4, 24e9, 8)),
        (8, "2.18.3", (8, 48e9, 32)),  # before 2.20 fast rings were doubled up to 32
    ],
)
def test_the_search_over_400g_nics(nics, version, expected):
    graphs = search(path(2, nics=nics, version=version))
    found = (graphs.ring.channels, graphs.ring.inter_bytes_per_s, graphs.total_channels)
    assert found == expected


@given(
    local=st.sampled_from([1, 2, 4, 8]),
    nics=st.sampled_from([1, 2, 4, 8]),
    gbit=st.sampled_from([10, 25, 100, 200, 400, 800]),
    gpu=st.sampled_from(["v100", "a100_sxm_80", "h100_sxm", "b200_sxm"]),
    version=st.sampled_from(tuning.versions()),
)
def test_channels_fit_what_the_host_has(local, nics, gbit, gpu, version):
    route = path(2, local, nics=nics, rate=gbit / 8 * 1e9, gpu=gpu, gpus=local, version=version)
    graphs = search(route)
    network = graphs.ring.channels * graphs.ring.inter_bytes_per_s
    assert network <= route.nics * route.nic_line_bytes_per_s * 1.2
    assert 1 <= graphs.total_channels <= route.tuning.rules.max_channels
    assert graphs.tree.channels == graphs.ring.channels
    assert graphs.tree.intra_bytes_per_s >= graphs.tree.inter_bytes_per_s


def test_two_ports_of_one_nic_are_one_device_since_2_20():
    ports = {"nics": 16, "rate": 12.5e9, **{k: v for k, v in A100.items() if k != "rate"}}
    assert path(2, **ports, version="2.19.3").nics == 16
    assert path(2, **ports, version="2.21.5").nics == 8


@pytest.mark.parametrize(
    ("gpu", "expected"),
    [("a100_sxm_80", "ampere"), ("gb300", "blackwell"), ("gh200", "hopper"),
     ("mi355x", "cdna4"), ("v100", "volta"), ("l40s", "ampere"), ("h20", "hopper")],
)  # fmt: skip
def test_gpus_fall_in_the_class_of_their_compute_capability(gpu, expected):
    assert tuning.gpu_class(gpu) == expected
