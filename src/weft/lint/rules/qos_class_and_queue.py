"""A lossless class and the queue that PFC pauses are not the same queue.

What it checks: the queue of each paused class against the queue that its PFC priority stops,
and whether any DSCP leads to a paused class at all.
Why it matters: the switch pauses one queue and fills another: the filled one drops, and the
paused one stands still for nothing.
What to do: map class, priority, group and queue to one number.
References: SONiC, configuration of QoS maps; IEEE 802.1Qbb.
"""

from weft.lint.facts import Map, Mapped, Pause
from weft.lint.quality import CLASSES, paused, table, target
from weft.lint.rule import Case, Device, Found, Layer, Rule, Severity, problem

_Rows = dict[int, Mapped]
"""One map of labels, by what is mapped."""


def _check(case: Case) -> Found:
    for switch in case.switches:
        lossless = paused(switch)
        queues = table(switch, Map.CLASS_TO_QUEUE)
        stops = queues, table(switch, Map.PAUSE_TO_QUEUE)
        holds = table(switch, Map.CLASS_TO_GROUP), table(switch, Map.PAUSE_TO_GROUP)
        for priority in sorted(lossless):
            yield from _apart(switch, priority, stops, "sends {} through queue", "queue")
            if any(holds):
                yield from _apart(switch, priority, holds, "holds {} in group", "group")
        yield from _unreached(switch, lossless)
        for priority in sorted(lossless) if queues else ():
            yield from _shared(switch, priority, lossless, queues)


def _apart(
    switch: Device, priority: int, maps: tuple[_Rows, _Rows], what: str, place: str
) -> Found:
    """Yield a class that goes one way while PFC stops another."""
    goes, stopped = (target(rows, priority) for rows in maps)
    if goes != stopped:
        yield problem(
            [rows[priority] for rows in maps if priority in rows],
            f"{switch.name} {what.format(f'class {priority}')} {goes}, and PFC stops {place} "
            f"{stopped}",
            f"map both to one {place}",
        )


def _unreached(switch: Device, lossless: set[int]) -> Found:
    """Yield lossless classes that no packet comes to."""
    classes = table(switch, Map.DSCP_TO_CLASS)
    reached = {row.target for row in classes.values()}
    for priority in sorted(lossless - reached) if classes else ():
        yield problem(
            next(one for one in switch.of(Pause) if priority in one.priorities),
            f"no DSCP leads to the lossless class {priority} of {switch.name}",
            "map the DSCP of RoCE to it",
        )


def _shared(switch: Device, priority: int, lossless: set[int], queues: _Rows) -> Found:
    """Yield a lossless class whose queue a lossy class uses as well."""
    queue = target(queues, priority)
    others = (c for c in range(CLASSES) if c not in lossless and target(queues, c) == queue)
    other = next(others, None)
    if other is not None:
        yield problem(
            [queues[one] for one in (other, priority) if one in queues],
            f"class {other} shares the lossless queue of {switch.name}",
            "give it another queue",
        )


qos_class_and_queue = Rule(
    layer=Layer.QOS,
    severity=Severity.ERROR,
    reference="https://github.com/sonic-net/sonic-buildimage/blob/master/src/sonic-yang-models/doc/Configuration.md",
    check=_check,
)
