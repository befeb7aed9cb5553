"""Counters that a loop or a site's own table holds: each row is a reading of its own."""

import pytest

from weft.doctor.diagnose import diagnose
from weft.doctor.rule import Severity
from weft.doctor.rules.link_errors import risen
from weft.observe.facts.adapters import PartitionKey
from weft.observe.facts.interfaces import Counter
from weft.observe.facts.pci import PcieLink
from weft.observe.observation import Observation
from weft.observe.reading import read_text

TABLE = """time,host,hca,link_downed,symbol_error
09:00,gpu3,mlx5_4,2,40110
09:15,gpu3,mlx5_4,2,{}
09:00,gpu3,mlx5_5,2,0
09:15,gpu3,mlx5_5,2,0
"""
COLUMNS = """$ while true; do echo $(date +%T) \
$(cat /sys/class/infiniband/mlx5_4/ports/1/counters/{{symbol_error,link_error_recovery}}); \
sleep 5; done
14:20:01 40110 9
14:20:06 {} 9
"""
LINES = """$ for i in 1 2; do cat /sys/class/infiniband/mlx5_4/ports/1/counters/symbol_error \
/sys/class/infiniband/mlx5_4/ports/1/counters/link_downed; sleep 5; done
40110
2
{}
2
"""
CLOCKS = """08:10:00
/sys/class/infiniband/mlx5_4/ports/1/counters/symbol_error:40110
08:20:00
/sys/class/infiniband/mlx5_4/ports/1/counters/symbol_error:{}
"""


def _errors(text):
    facts, read = read_text(text, "watch.txt")
    found = diagnose(Observation(facts=tuple(facts), files=(read,))).findings
    return [one.finding.cause for one in found if one.finding.severity is Severity.ERROR]


@pytest.mark.parametrize("text", [TABLE, COLUMNS, LINES, CLOCKS])
def test_what_grows_from_row_to_row_is_wrong_now(text):
    assert _errors(text.format(58310)) == ["ib-link-errors"]


@pytest.mark.parametrize("text", [TABLE, COLUMNS, LINES, CLOCKS])
def test_what_stands_still_from_row_to_row_is_of_long_ago(text):
    assert _errors(text.format(40110)) == []


def test_two_ports_of_a_table_without_times_are_one_reading():
    facts, _ = read_text("hca port symbol_error\nmlx5_0 1 7\nmlx5_0 2 9\n", "t.txt")
    counters = [one for one in facts if isinstance(one, Counter)]
    assert [(one.port, one.value) for one in counters] == [(1, 7), (2, 9)]
    assert risen(counters) == {}


def test_a_heading_of_other_columns_begins_no_table():
    facts, read = read_text("time host user job\n09:00 gpu3 ann 77\n", "t.txt")
    assert not facts
    assert read.unread == 2


def test_files_printed_by_one_command_are_told_apart():
    text = "$ cat /sys/class/infiniband/mlx5_0/ports/1/pkeys/{0..2}\n0x7fff\n0xffff\n0x0000\n"
    facts, _ = read_text(text, "t.txt")
    keys = [one for one in facts if isinstance(one, PartitionKey)]
    assert [(one.index, one.full) for one in keys] == [(0, False), (1, True)]


def test_files_are_of_the_folder_that_the_session_went_to():
    lines = (
        "$ cd /sys/class/infiniband/mlx5_3/device",
        "$ grep . *_link_width",
        "current_link_width:8",
        "max_link_width:16",
    )
    text = "\n".join(lines)
    facts, _ = read_text(text, "t.txt")
    links = [one for one in facts if isinstance(one, PcieLink)]
    assert [(one.device, one.lanes, one.max_lanes) for one in links] == [
        ("mlx5_3", 8, None),
        ("mlx5_3", None, 16),
    ]
