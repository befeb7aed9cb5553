"""Partitions of tenants: who reaches whom."""

import pytest

from weft.lint.lint import causes, lint_texts
from weft.lint.rule import Severity
from weft.lint.text import Text

LIMITED = "Default=0x7fff, ipoib : ALL=limited, SELF=full ;\n"
OPEN = "Default=0x7fff, ipoib, defmember=full : ALL, SELF ;\n"
TENANTS = "A=0x8001, indx0 : 0x11=full, 0x12=full ;\nB=0x8002, indx0 : 0x21=full, 0x22=full ;\n"


def _worse(text):
    findings = lint_texts([Text(name="partitions.conf", content=text)]).findings
    return [one.message for one in findings if one.severity is not Severity.INFO]


def test_tenants_with_limited_members_of_the_default_partition_are_apart():
    assert not _worse(LIMITED + TENANTS)


@pytest.mark.parametrize(
    ("text", "shared"),
    [
        (OPEN + TENANTS, "Default"),
        (LIMITED + TENANTS + "Both=0x8003 : ALL_CAS=full ;\n", "Both"),
        (LIMITED + TENANTS + "Both=0x8003, defmember=full : 0x11, 0x21 ;\n", "Both"),
        (LIMITED + TENANTS + "Both=0x8003 : 0x11=full ;\nBoth=0x8003 : 0x21=full ;\n", "Both"),
    ],
)
def test_a_key_of_which_two_tenants_are_full_members_joins_them(text, shared):
    (message,) = _worse(text)
    assert f"full members of {shared} (0x" in message
    assert "reach each other" in message


def test_a_storage_host_in_the_partition_of_each_tenant_joins_nobody():
    files = TENANTS.replace(" ;", ", 0x99=full ;")
    assert not _worse(LIMITED + files)


def test_one_tenant_is_not_isolated_from_itself():
    assert not _worse(OPEN + TENANTS.splitlines()[0])


def test_a_partition_on_two_lines_is_one_partition():
    """Its members are full on one line and limited on the other. [man opensm]"""
    one_line = "Share=0x300 : ALL=limited ;\n"
    two_lines = "Share=0x300 : SELF=full ;\n" + one_line
    limited = "all members of Share are limited: none can talk to another"
    assert limited in _worse(OPEN + one_line)
    assert limited not in _worse(OPEN + two_lines)


def test_every_finding_is_counted_and_those_of_one_cause_are_one():
    """A rule with more than 30 findings hides none of another cause behind them."""
    bad = "".join(f"P{key}={key:#06x}, mtu=9 : SELF=full ;\n" for key in range(1, 101))
    no_members = "Last=0x0200, sl=99 : SELF=full ;\n"
    found = [
        one
        for one in lint_texts(
            [Text(name="partitions.conf", content=LIMITED + bad + no_members)]
        ).findings
        if one.rule == "ib_partition"
    ]
    assert sum("mtu=9" in one.message for one in found) == 100
    assert [len(group) for group in causes(found) if "service level" in group[0].message] == [1]
