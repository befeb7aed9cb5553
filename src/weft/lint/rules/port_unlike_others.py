"""One port of a switch lacks what all the others of its kind set.

What it checks: MTU, FEC, speed, being brought up, and the scheduler of a queue, on ports with a
cable, an address or a session, against the other such ports of the same switch.
Why it matters: the port takes the default of its operating system, which is another one: frames
that are too large, a link without error correction, a port that is down after a restart.
What to do: set it as on the others, or remove the port's other settings.
References: SONiC, PORT; NX-OS, interfaces; NVUE, link.
"""

from collections import Counter
from typing import Final

from weft.lint.facts import Address, Neighbor, Port, QueueUse
from weft.lint.rule import Case, Device, Found, Layer, Rule, Severity, problem

_SETTINGS: Final = (
    ("mtu_bytes", "no MTU"), ("fec", "no FEC"), ("speed_gbit", "no speed"),
    ("up", "nothing that brings it up"),
)  # fmt: skip
_ENOUGH: Final = 3
"""Of the others must agree before one is odd."""


def _check(case: Case) -> Found:
    for switch in case.switches:
        yield from _ports(switch)
        yield from _queues(switch)


def _ports(switch: Device) -> Found:
    used = {one.port for one in switch.of(Address)} | {n.peer for n in switch.of(Neighbor)}
    files: dict[str, list[Port]] = {}
    for one in switch.of(Port):
        if one.peer or one.name in used:
            files.setdefault(one.at.text.name, []).append(one)
    for rows in files.values():
        for name, words in _SETTINGS:
            have = [one for one in rows if getattr(one, name) not in {None, ""}]
            lack = [one for one in rows if getattr(one, name) in {None, ""}]
            if lack and len(have) >= max(_ENOUGH, _ENOUGH * len(lack)):
                more = f" and {len(lack) - 1} more" if len(lack) > 1 else ""
                yield problem(
                    [lack[0], have[0]],
                    f"{switch.name} {lack[0].name}{more} has {words}; {len(have)} other ports "
                    "have",
                    "set it as on the others",
                )


def _queues(switch: Device) -> Found:
    kinds: dict[int, list[QueueUse]] = {}
    for one in switch.of(QueueUse):
        if one.ports:
            kinds.setdefault(one.queue, []).append(one)
    for queue, rows in kinds.items():
        counts = Counter[str]()
        for one in rows:
            counts[one.scheduler] += len(one.ports)
        usual, count = counts.most_common(1)[0]
        lack = next((one for one in rows if not one.scheduler), None)
        if lack and usual and count >= max(_ENOUGH, _ENOUGH * counts[""]):
            shown = next(one for one in rows if one.scheduler == usual)
            yield problem(
                [lack, shown],
                f"queue {queue} of {switch.name} {lack.ports[0]} has no scheduler; "
                f"{usual} on {count} other ports",
                f"use {usual}",
            )


port_unlike_others = Rule(
    layer=Layer.LINKS,
    severity=Severity.WARNING,
    reference="https://github.com/sonic-net/sonic-buildimage/blob/master/src/sonic-yang-models/doc/Configuration.md",
    check=_check,
)
