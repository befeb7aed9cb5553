"""Counters read more than once: what rose between two readings says more than what stands."""

import pytest

from weft.doctor.diagnose import diagnose
from weft.doctor.rule import Severity
from weft.doctor.rules.link_errors import risen
from weft.observe.bundle import observe
from weft.observe.facts.base import Evidence
from weft.observe.facts.interfaces import Counter
from weft.observe.layouts import placed, series

BEFORE = "NIC statistics:\n     out_of_sequence: 812\n     packet_seq_err: 40\n"
AFTER = "NIC statistics:\n     out_of_sequence: 934\n     packet_seq_err: 71\n"
SWITCH = """Errors for 0x248a0703002e6012 "leaf1"
   GUID 0x248a0703002e6012 port 7: [SymbolErrorCounter == {}] [PortXmitWait == 88121]
"""


def _causes(folder, files):
    for name, text in files.items():
        (folder / name).write_text(text)
    return diagnose([folder])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("gpu07_ens3_before.txt", "gpu07_ens3_after.txt"),
        ("gpu07_ens3_t0.txt", "gpu07_ens3_t1.txt"),
        ("gpu07_ens3_20260105_101000.txt", "gpu07_ens3_20260105_102000.txt"),
        ("gpu07_ens3_2026-01-05T10:10:00.txt", "gpu07_ens3_2026-01-05T10:20:00.txt"),
        ("gpu07.1767607800.txt", "gpu07.1767608400.txt"),
    ],
)
def test_what_rose_between_two_files_of_one_series_is_loss_now(tmp_path, first, second):
    diagnosis = _causes(tmp_path, {first: BEFORE, second: AFTER})
    assert diagnosis.causes[:1] == ("roce-packet-loss",)
    assert diagnosis.findings[0].finding.severity is Severity.ERROR


def test_the_order_of_the_names_does_not_matter(tmp_path):
    (tmp_path / "x_after.txt").write_text(AFTER)
    (tmp_path / "x_before.txt").write_text(BEFORE)
    rise = risen(observe(tmp_path).of(Counter))
    assert rise["", "", None, "out_of_sequence"] == 122


def test_errors_of_a_switch_that_rise_slowly_are_seen(tmp_path):
    files = {
        "leaf1_ibqueryerrors_20260105_101000.txt": SWITCH.format(3),
        "leaf1_ibqueryerrors_20260105_102000.txt": SWITCH.format(9),
    }
    assert _causes(tmp_path, files).causes[:1] == ("ib-link-errors",)


def test_a_switch_read_once_has_not_risen(tmp_path):
    files = {
        "leaf1_perfquery_20260105_101000.txt": "# Port counters: Lid 7 port 1 (CapMask: 0)\n"
        "SymbolErrorCounter:..............0\n",
        "leaf1_ibqueryerrors_20260105_102000.txt": SWITCH.format(3),
    }
    assert not _causes(tmp_path, files).causes


def test_two_hosts_at_two_times_are_not_one_host(tmp_path):
    text = "# Port counters: Lid 7 port 1 (CapMask: 0)\nSymbolErrorCounter:..............{}\n"
    files = {
        "gpu07_perfquery_20260105_101000.txt": text.format(0),
        "gpu08_perfquery_20260105_101005.txt": text.format(4),
    }
    assert not _causes(tmp_path, files).causes


def test_a_pasted_session_without_a_host_needs_a_pause_to_be_two_readings(tmp_path):
    # Two hosts may have been pasted one after the other.
    pasted = f"$ ethtool -S ens3\n{BEFORE}$ ethtool -S ens3\n{AFTER}"
    assert not _causes(tmp_path, {"a.txt": pasted}).causes
    waited = f"$ ethtool -S ens3\n{BEFORE}$ sleep 10\n$ ethtool -S ens3\n{AFTER}"
    assert _causes(tmp_path, {"a.txt": waited}).causes[:1] == ("roce-packet-loss",)


def test_a_name_without_a_moment_is_no_reading():
    assert placed("ethtool_ens1.txt").sample is None
    assert placed("start-job.log").sample == 0
    assert series("a/b/ethtool_ens1.txt") == "a/b/ethtool_ens1.txt"


def test_the_bundle_of_a_collector_keeps_its_own_numbers():
    name = "hosts/a/sample_2_at_1767607800/ethtool.txt"
    assert placed(name).sample == 2
    assert series(name) == series("hosts/a/sample_1_at_1767607790/ethtool.txt")


def test_a_counter_of_the_second_sample_alone_rose_whichever_tool_the_first_has():
    """ibqueryerrors lists what is not zero: before, a sound subnet has nothing to list."""
    listed = Evidence(
        "b/hosts/a/sample_2_at_20/ibqueryerrors", 2, "port 3: [SymbolErrorCounter == 9]"
    )
    other = Evidence("b/hosts/a/sample_1_at_10/nstat", 2, "IpInReceives 5")
    late = Counter(where="leaf", name="symbol_error", value=9, port=3, on_switch=True, sample=2,
                   evidence=listed)  # fmt: skip
    early = Counter(where="", name="IpInReceives", value=5, sample=1, evidence=other)
    assert risen([early, late]) == {("", "leaf", 3, "symbol_error"): 9}


def test_a_counter_of_the_only_sample_did_not_rise():
    listed = Evidence("b/hosts/a/sample_1_at_10/ibqueryerrors", 2, "port 3: [...]")
    only = Counter(where="leaf", name="symbol_error", value=9, port=3, on_switch=True, sample=1,
                   evidence=listed)  # fmt: skip
    assert risen([only]) == {}


_TWICE = """$ date; rdma statistic show link mlx5_2/1
Tue Jan 6 11:02:00 UTC 2026
link mlx5_2/1 rx_write_requests 4021 out_of_sequence 1184 packet_seq_err 9021
$ sleep 60; date; rdma statistic show link mlx5_2/1
Tue Jan 6 11:03:01 UTC 2026
link mlx5_2/1 rx_write_requests 9830 out_of_sequence {} packet_seq_err 9021
"""


_HEADED = """--- mlx5_2 port 1 14:20:05
out_of_sequence 1184
packet_seq_err 90211
--- {} port 1 14:20:15
out_of_sequence {}
packet_seq_err 90211
"""


@pytest.mark.parametrize("text", [_TWICE, _HEADED.replace("{}", "mlx5_2", 1)])
@pytest.mark.parametrize(("later", "causes"), [(1184, []), (1719, ["roce-packet-loss"])])
def test_what_a_file_has_again_later_was_read_twice(tmp_path, text, later, causes):
    found = _causes(tmp_path, {"node.txt": text.format(later)}).findings
    grave = [one.finding for one in found if one.finding.severity is Severity.ERROR]
    assert [one.cause for one in grave] == causes


def test_what_a_file_has_of_another_device_was_not_read_twice(tmp_path):
    pasted = _HEADED.format("mlx5_3", 1184)
    assert _causes(tmp_path, {"node.txt": pasted}).causes[:1] == ("roce-packet-loss",)
