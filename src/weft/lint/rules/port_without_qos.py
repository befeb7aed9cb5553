"""A port lacks a map, a buffer or the pause that the other lossless ports have.

What it checks: cabled ports that pause nothing where others do, and lossless ports without one
of the maps that the other lossless ports use; the egress buffer of the lossless queue.
Why it matters: what leaves or enters through that port is put into another queue or group,
or is dropped at egress: one link of many, under load alone.
What to do: give the port what the others have.
References: SONiC, PORT_QOS_MAP and BUFFER_QUEUE.
"""

from collections import Counter

from weft.lint.facts import GroupUse, Map, MapUse, Pause, Port
from weft.lint.quality import lossless_queues
from weft.lint.rule import Case, Device, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for switch in case.switches:
        pauses = [one for one in switch.of(Pause) if one.ports]
        lossless = {port: one for one in pauses if one.priorities for port in one.ports}
        if len(pauses) == len(switch.of(Pause)) and lossless:
            yield from _unpaused(switch, {port for one in pauses for port in one.ports})
        yield from _unmapped(switch, lossless)
        yield from _buffers(switch, set(lossless))


def _unpaused(switch: Device, known: set[str]) -> Found:
    cabled = [one for one in switch.of(Port) if one.peer]
    if sum(one.name in known for one in cabled) * 2 <= len(cabled):
        return
    for one in cabled:
        if one.name not in known:
            yield problem(
                one,
                f"{switch.name} {one.name}, cabled to {one.peer}, has no quality of service: "
                "it pauses nothing, the others do",
                "set it as on the other ports",
                severity=Severity.WARNING,
            )


def _unmapped(switch: Device, lossless: dict[str, Pause]) -> Found:
    for kind in Map:
        uses = [one for one in switch.of(MapUse) if one.kind is kind]
        if not uses or any(not one.ports for one in uses):
            continue
        mapped = {port for one in uses for port in one.ports}
        without = [port for port in lossless if port not in mapped]
        if without and len(without) * 2 < len(lossless):
            yield problem(
                [lossless[without[0]], uses[0]],
                f"{switch.name} {without[0]}"
                + (f" and {len(without) - 1} more" if len(without) > 1 else "")
                + f" has no map of {kind.value}; the other lossless ports have",
                f"use {uses[0].table}",
            )


def _buffers(switch: Device, lossless: set[str]) -> Found:
    queues = lossless_queues(switch)
    uses = [one for one in switch.of(GroupUse) if not one.ingress and one.group in queues]
    by_port = {port: one for one in uses for port in one.ports if port in lossless}
    counts = Counter(one.profile for one in by_port.values())
    if not counts or counts.most_common(1)[0][1] * 2 <= len(lossless):
        return
    usual = counts.most_common(1)[0][0]
    shown = next(one for one in uses if one.profile == usual)
    for port in sorted(lossless):
        one = by_port.get(port)
        if one is None or one.profile != usual:
            has = one.profile if one else "no profile"
            yield problem(
                [one or shown, shown],
                f"the lossless queue of {switch.name} {port} has {has}; {usual} on the others",
                f"use {usual}",
                severity=Severity.WARNING,
            )


port_without_qos = Rule(
    layer=Layer.QOS,
    severity=Severity.ERROR,
    reference="https://github.com/sonic-net/sonic-swss/tree/master/orchagent",
    check=_check,
)
