"""Lines that look alike, of which each means another thing."""

import pytest

from weft.observe.facts.adapters import AdapterPort, Gid
from weft.observe.facts.interfaces import HostReached, Interface
from weft.observe.facts.verbs import CompletionError
from weft.observe.reading import read_text

_GIDS = """\
{first}:
\t\t\tGID[  3]:\t\t::ffff:10.0.0.1, RoCE v2
{second}:
\t\t\tGID[  3]:\t\t::ffff:10.0.0.2, RoCE v2
"""
_NOTICE = """\
--------------------------------------------------------------------------
WARNING: No preset parameters were found for the device that Open MPI
detected:

  Local host:            node1
"""
_FAILED = (
    "node1:11:12 [0] NCCL WARN NET/IB : Got completion from peer 10.0.0.2<4000> with error 12, "
    "opcode 0, len 0, vendor err 129"
)


def test_names_of_adapters_above_tables_of_gids_are_no_hosts():
    facts, _ = read_text(_GIDS.format(first="mlx5_0", second="mlx5_1"), "gids.txt")
    gids = [one for one in facts if isinstance(one, Gid)]
    assert [(one.adapter, one.host) for one in gids] == [("mlx5_0", ""), ("mlx5_1", "")]


def test_names_of_hosts_above_tables_of_gids_are_no_adapters():
    facts, _ = read_text(_GIDS.format(first="node1", second="node2"), "gids.txt")
    gids = [one for one in facts if isinstance(one, Gid)]
    assert [(one.adapter, one.host) for one in gids] == [("", "node1"), ("", "node2")]


@pytest.mark.parametrize(("sum_", "received"), [("0/3", 0), ("0/3 lost", 3), ("3/3 ", 3)])
def test_a_pair_arrived_or_was_lost_as_its_sum_says(sum_, received):
    facts, _ = read_text(f"10.0.0.1 -> 10.0.0.2 {sum_}\n", "pairs.txt")
    [pair] = [one for one in facts if isinstance(one, HostReached)]
    assert (pair.sent, pair.received) == (3, received)


def test_a_notice_without_an_end_hides_nothing_of_others():
    facts, _ = read_text(_NOTICE + _FAILED, "job.log")
    assert [type(one) for one in facts] == [CompletionError]


def test_the_mtu_of_a_path_is_of_no_interface():
    facts, _ = read_text("path mtu: 4096\nens1 mtu 9000\n", "mtu.txt")
    assert [one.interface for one in facts if isinstance(one, Interface)] == ["ens1"]


def test_the_state_of_a_link_is_a_processor_s_where_its_tool_was_asked():
    other, _ = read_text("link status: DOWN\n", "port.txt")
    asked, _ = read_text("$ hccn_tool -i 3 -link -g\nlink status: DOWN\n", "port.txt")
    assert not any(isinstance(one, AdapterPort) for one in other)
    assert [one.adapter for one in asked if isinstance(one, AdapterPort)] == ["npu3"]
