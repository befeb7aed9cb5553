"""Logs whose newest line comes first say the same as those that begin with the oldest."""

import json

import pytest

from weft.doctor.diagnose import find
from weft.observe import backwards, text
from weft.observe.backwards import in_time, turned
from weft.observe.facts.interfaces import LinkEvent
from weft.observe.facts.verbs import CompletionError
from weft.observe.reading import read_text

DIED = (
    "2026-11-20T10:00:00+0000 node2 kernel: Out of memory: Killed process 40112 (python3) "
    "total-vm:9122kB, anon-rss:8812kB"
)
FLUSHED = (
    "2026-11-20T10:00:09+0000 node1 python[4100]: node1:4100:4180 [0] NCCL WARN NET/IB : "
    "Got completion from peer 10.9.0.5<41022> with error 5, opcode 1, len 4096, "
    "vendor err 249 (Recv)"
)
LINK = "2026-11-20T09:{minute}:00+0000 node2 kernel: mlx5_core 0000:18:00.0 ens1: Link {way}"
LINKS = [LINK.format(minute=m, way=way) for m, way in ((10, "up"), (20, "down"), (30, "up"))]


def _causes(lines, name="all.log"):
    facts, _ = read_text("\n".join(lines) + "\n", name)
    return [(one.cause, one.severity) for one in find(facts)]


@pytest.mark.parametrize(
    "lines", [[DIED, FLUSHED], LINKS, LINKS[:2], [*LINKS, DIED, FLUSHED], [*LINKS[1:], FLUSHED]]
)
def test_a_log_that_runs_backwards_names_the_same_causes(lines):
    assert _causes(lines)
    assert _causes(lines[::-1]) == _causes(lines)


def test_a_link_that_came_back_is_not_lost_in_a_log_read_from_its_end():
    facts, _ = read_text("\n".join(reversed(LINKS)), "kernel.log")
    links = [one for one in facts if isinstance(one, LinkEvent)]
    assert [(one.up, one.evidence.line) for one in links] == [(True, 3), (False, 2), (True, 1)]
    assert [one.evidence.text for one in links] == LINKS


def test_lines_that_nobody_reads_keep_the_numbers_of_the_file():
    lines = [f"2026-11-20 10:00:0{9 - n} zorp failed for reason {n}" for n in range(4)]
    _, read = read_text("\n".join(lines), "zorp.log")
    assert [(one.line, one.text) for one in read.first_unread] == [*enumerate(lines, 1)][::-1]
    assert read.opening.split("\n") == lines


def test_what_goes_on_in_indented_lines_stays_with_its_entry():
    stamped = [f"2026-01-01 00:00:0{n} {n}" for n in (9, 7, 5)]
    lines = [stamped[0], "  of 9", *stamped[1:], "   of 5", "ibstat"]
    assert turned(lines) == [3, 4, 2, 0, 1, 5]


def test_each_output_of_a_paste_is_turned_for_itself():
    newest = [f"2026-01-01 00:00:0{n} x" for n in (9, 7, 5)]
    oldest = [f"2026-01-01 00:00:0{n} y" for n in (1, 2, 3)]
    lines = ["$ journalctl -r", *newest, "$ cat other.log", *oldest]
    assert turned(lines) == [0, 3, 2, 1, 4, 5, 6, 7]


@pytest.mark.parametrize(
    "lines",
    [
        ["b", "a"],
        ["2026-01-01 00:00:05 b", "no stamp", "nor here", "2026-01-01 00:00:04 a"],
        ["[  9.100000] of one host", "[  7.100000] of another"],
        ["2026-01-01 00:00:05 one form", "[  7.100000] another"],
        ["2026-01-01 00:00:05 b", "2026-01-01 00:00:04 a", "2026-01-01 00:00:06 c"],
        [
            "it began on 2026-01-01 00:00:05, they say",
            "it ended on 2026-01-01 00:00:01, we say",
        ],
    ],
)
def test_a_text_whose_stamps_do_not_say_so_stays_as_it_is(lines):
    assert turned(lines) == [*range(len(lines))]


def test_a_few_lines_out_of_order_do_not_hide_that_a_log_runs_backwards():
    minutes = [59 - n for n in range(40)]
    minutes[10], minutes[11] = minutes[11], minutes[10]
    lines = [f"2026-01-01 00:{minute:02}:00 x" for minute in minutes]
    assert turned(lines) == [*range(39, -1, -1)]


def test_blocks_of_one_log_are_turned_together():
    lines = [f"2026-01-01 00:{59 - n:02}:00 x" for n in range(40)]
    [only] = in_time(["\n".join(lines[:25]), "\n".join(lines[25:])])
    assert only.text.split("\n") == lines[::-1]
    assert [*only.places] == [*range(39, -1, -1)]


def test_a_log_too_long_to_be_turned_at_once_is_in_order_all_the_same(monkeypatch):
    monkeypatch.setattr(backwards, "_HELD_BYTES", 1)
    monkeypatch.setattr(text, "BLOCK_BYTES", 1 << 12)
    event = "2026-11-20T{:02}:{:02}:00+0000 n kernel: mlx5_core 0000:18:00.0 ens{}: Link down"
    lines = [event.format(n // 60, n % 60, n) for n in range(600)]
    facts, _ = read_text("\n".join(["-- Boot 1 --", *reversed(lines)]), "kernel.log")
    links = [one for one in facts if isinstance(one, LinkEvent)]
    assert [one.interface for one in links] == [f"ens{n}" for n in range(600)]
    assert [one.evidence.line for one in links] == [*range(601, 1, -1)]
    places = [one.evidence.place for one in links]
    assert places == sorted(set(places))


def test_what_follows_a_turned_block_keeps_its_numbers():
    back = [f"2026-01-01 00:{59 - n:02}:00 x" for n in range(40)]
    on = "\n".join(f"2026-01-01 01:{n:02}:00 y" for n in range(40))
    first, second = in_time(["\n".join(back), on])
    assert first.places
    assert (second.text, second.places) == (on, None)


@pytest.mark.parametrize("stamp", ["Jan 2, 2026 @ 10:00:0{}.123", "2026-01-02 10:00:0{}"])
def test_a_table_of_a_dashboard_is_turned(stamp):
    said = ["mlx5_core 0000:18:00.0 ens1: Link up", "mlx5_core 0000:18:00.0 ens1: Link down"]
    rows = [f'"{stamp.format(9 - n)}","node2","{one}"' for n, one in enumerate(said)]
    facts, _ = read_text("\n".join(["@timestamp,host,message", *rows]), "discover.csv")
    assert [one.up for one in facts if isinstance(one, LinkEvent)] == [False, True]


def test_an_answer_of_a_log_store_is_turned():
    said = [f"mlx5_core 0000:18:00.0 ens1: Link {way}" for way in ("up", "down")]
    pairs = [[str(1767348000_000000000 - n), one] for n, one in enumerate(said)]
    held = {"data": {"result": [{"stream": {"host": "a"}, "values": pairs}]}}
    facts, _ = read_text(json.dumps(held, indent=1), "loki.json")
    assert [one.up for one in facts if isinstance(one, LinkEvent)] == [False, True]


def test_records_of_a_search_are_turned():
    hits = [
        {"_source": {"@timestamp": f"2026-01-02T10:00:0{9 - n}Z", "message": one}}
        for n, one in enumerate([FLUSHED, *reversed(LINKS)])
    ]
    facts, _ = read_text(json.dumps({"hits": {"hits": hits}}, indent=1), "hits.json")
    assert [type(one) for one in facts] == [LinkEvent] * 3 + [CompletionError]


def test_work_that_goes_on_below_a_failure_is_above_it_in_a_log_that_runs_backwards():
    failed = (
        "2026-11-20 10:00:01 node1:1:1 [0] NCCL WARN Call to connect returned "
        "Connection refused"
    )
    step = "2026-11-20 10:00:0{} step {} loss 2.1 tokens/s 40000"
    lines = [failed, *(step.format(2 + n, n) for n in range(4))]
    assert _causes(lines[::-1]) == _causes(lines)
