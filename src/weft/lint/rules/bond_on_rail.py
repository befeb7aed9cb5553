"""NICs of different rails, or ports of a rail, are bundled.

What it checks: bonds of RDMA NICs on hosts and LAGs of ports to hosts, where a host has several
rails.
Why it matters: NCCL sees one adapter in place of several, a flow uses one of the members, and
the hash decides which: half the rail is idle, the other half congested.
What to do: one address a rail and no bond; let NCCL use them side by side.
References: NCCL user guide, NCCL_IB_HCA; Meta, SIGCOMM 2024 (rails without bonds).
"""

from typing import Final

import re2

from weft.lint.facts import Bond, Mark, Pause, Port, Side
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_FRONT: Final = re2.compile(r"(?i)mgmt|management|storage|front|frontend|oob")


def _check(case: Case) -> Found:
    for one in case.of(Bond):
        if len(one.members) == 0 or _FRONT.search(one.name):
            continue
        if one.side is Side.HOST and len(case.of(Pause)) + len(case.of(Mark)) == 0:
            continue
        hosts = _hosts(case, one)
        if one.side is Side.HOST or hosts:
            yield problem(
                one,
                f"{one.name} bundles {', '.join(one.members[:4])}",
                "take the bond away, and give each rail its own address",
            )


def _hosts(case: Case, one: Bond) -> bool:
    """Return whether members of a LAG lead to hosts."""
    switches = {switch.name for switch in case.switches} | case.absent
    peers = {
        p.peer
        for s in case.switches
        if s.name == one.device
        for p in s.of(Port)
        if p.name in one.members
    }
    return bool(peers - switches - {""}) or not peers


bond_on_rail = Rule(
    layer=Layer.LINKS,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)
