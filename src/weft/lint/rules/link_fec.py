"""A fast port has no Reed-Solomon FEC.

What it checks: FEC of ports from 200 Gb/s on, and of 100G ports that say none or fc.
Why it matters: PAM4 links (50G a lane and faster) do not work without RS-FEC: the link stays
down, or counts errors that RDMA turns into repeats.
What to do: rs (reed-solomon) on both ends.
References: IEEE 802.3, clauses 91, 119 and 161.
"""

from typing import Final

from weft.lint.facts import Port
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_PAM4_GBIT: Final = 200
_WRONG: Final = frozenset({"none", "off", "fc", "disabled", "baser", "fire-code", "fc-fec"})


def _check(case: Case) -> Found:
    for one in case.of(Port):
        fast = one.speed_gbit is not None and one.speed_gbit >= _PAM4_GBIT
        if one.fec.lower() in _WRONG and (fast or one.speed_gbit in {100, None}):
            yield problem(
                one,
                f"{one.device} {one.name} has FEC {one.fec} at {one.speed_gbit or '?'} Gb/s",
                "use rs",
            )


link_fec = Rule(
    layer=Layer.LINKS,
    severity=Severity.ERROR,
    reference="https://standards.ieee.org/ieee/802.3/10422/",
    check=_check,
)
