"""What lines hint at that no parser understood."""

import pytest

from weft.doctor.diagnose import diagnose
from weft.doctor.rule import Severity
from weft.doctor.senses import senses
from weft.observe.complaints import troubles
from weft.observe.observation import Observation
from weft.observe.reading import read_text


def _diagnosed(text):
    facts, file = read_text(text, "site.log")
    return diagnose(Observation(tuple(facts), (file,)))


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("widget: registering memory for buffers: out of memory", "memlock-limit"),
        ("opening /dev/infiniband/uverbs3: denied by policy", "container-rdma-permission"),
        ("site-check: the aggregation manager refused the job", "sharp-unavailable"),
        ("fabtool: fabric handle rejected by the driver", "imex-domain-missing"),
        ("widget 3: partition key mismatch with peer", "ib-pkey-membership"),
    ],
)
def test_a_thing_and_its_trouble_hint_at_a_cause_and_ask_what_settles_it(text, cause):
    diagnosis = _diagnosed(text)
    assert diagnosis.causes[0] == cause
    finding = diagnosis.findings[0].finding
    assert not finding.decided
    assert finding.severity is Severity.WARNING
    assert finding.missing


@pytest.mark.parametrize(
    "text",
    [
        "link 4 is down, as it should be",
        "HW Thermal Slowdown of card 3: Not Active",
        "nvlink check passed: no errors",
        "0 errors in the subnet manager's log",
        "no trouble at all with the fabric manager",
    ],
)
def test_a_state_that_may_be_meant_is_no_hint(text):
    assert not _diagnosed(text).findings


def test_hints_stand_back_where_a_cause_is_named():
    named = _diagnosed("NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus\n")
    both = _diagnosed(
        "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus\n"
        "site-check: SHARP tree allocation failed\n"
    )
    assert both.causes == named.causes


def test_lines_that_differ_in_numbers_are_one_complaint():
    _, file = read_text("widget 7 failed\nwidget 8 failed\n", "site.log")
    assert [one.evidence.line for one in file.complaints] == [1]


def test_every_sense_names_troubles_that_lines_are_sorted_by():
    kinds = {kind for one in senses() for kind in one.trouble}
    from weft.observe.complaints import _KINDS  # noqa: PLC0415 - the sorts themselves

    assert kinds <= {name for name, _ in _KINDS}


def test_a_line_without_trouble_has_none():
    assert troubles("Using network IB") == ()
