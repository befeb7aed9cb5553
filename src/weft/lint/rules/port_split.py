"""A port of a split cage is configured, and the cage is split otherwise or not at all.

What it checks: names of the parts of a cage (Ethernet1/1/2, swp1s1) against how the cages of
the switch are split.
Why it matters: the port does not exist: its lines are refused, or wait for ever.
What to do: split the cage into as many ports as are configured.
References: NX-OS, interface breakout; NVUE, link breakout.
"""

from typing import Final

import re2

from weft.lint.facts import Port, Speaker, Split
from weft.lint.rule import Case, Device, Found, Layer, Rule, Severity, problem

_PART: Final = re2.compile(r"(Ethernet\d+/\d+/|swp\d+s)(\d+)")
_FIRST: Final = {"E": 1, "s": 0}
"""Of the numbers of the parts, by how the name begins."""


def _check(case: Case) -> Found:
    for switch in case.switches:
        yield from _parts(switch)


def _parts(switch: Device) -> Found:
    splits = {cage: one for one in switch.of(Split) for cage in one.cages}
    if not splits and not switch.of(Speaker):  # a part of a configuration
        return
    alone: list[Port] = []
    for port in switch.of(Port):
        match = _PART.fullmatch(port.name)
        if match is None:
            continue
        split = splits.get(match[1])
        if split is None:
            alone.append(port)
        elif int(match[2]) - _FIRST[match[1][0]] >= split.ways:
            yield problem(
                [port, split],
                f"{switch.name} has no {port.name}: its cage is split {split.ways} ways",
                "split it further, or remove the port",
            )
    if alone:
        more = f" and {len(alone) - 1} more are parts" if len(alone) > 1 else " is a part"
        yield problem(
            [alone[0], *switch.of(Split)[:1]],
            f"{switch.name} {alone[0].name}{more} of a cage that is not split",
            "split the cage",
        )


port_split = Rule(
    layer=Layer.LINKS,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/networking-ethernet-software/cumulus-linux/Layer-1-and-Switch-Ports/Interface-Configuration-and-Management/Switch-Port-Attributes/",
    check=_check,
)
