"""An MTU beyond what the device takes.

What it checks: MTUs above 9216 (9214 on EOS counts, 65520 for IPoIB connected mode is let be)
or under 576.
Why it matters: the line is refused at load, and the port keeps its default of 1500 or 9100.
What to do: 9216 at the most on switches, 9000 on hosts.
References: SONiC YANG model (MTU up to 9216); vendors' guides.
"""

from typing import Final

from weft.lint.facts import Network, Offered, Port
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_MOST: Final = 9216
_LEAST: Final = 576
_IPOIB: Final = 65520


def _check(case: Case) -> Found:
    rows: list[Port | Network | Offered] = [
        *case.of(Port),
        *case.of(Network),
        *case.of(Offered),
    ]
    for one in rows:
        mtu = one.mtu_bytes
        if mtu is not None and mtu != _IPOIB and mtu and not _LEAST <= mtu <= _MOST:
            yield problem(one, f"MTU {mtu}", f"use {_LEAST} to {_MOST}")


mtu_range = Rule(
    layer=Layer.LINKS,
    severity=Severity.ERROR,
    reference="https://github.com/sonic-net/sonic-buildimage/tree/master/src/sonic-yang-models",
    check=_check,
)
