"""The lossless queue is not marked by ECN, or the mark is on another queue.

What it checks: an ECN profile on every queue that PFC pauses, on the same ports, and whether it
marks at all.
Why it matters: without marks nobody slows down until PFC stops whole links, and congestion
spreads to flows that have nothing to do with it.
What to do: put the ECN profile on the lossless queue of every port.
References: Zhu et al., SIGCOMM 2015; RFC 3168.
"""

from weft.lint.facts import Fact, Marking, Pause, QueueUse
from weft.lint.quality import MarkedQueue, lossless_queues, marked
from weft.lint.rule import Case, Device, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for switch in case.switches:
        queues = lossless_queues(switch)
        found = list(marked(switch))
        if not queues or not switch.of(Marking):
            on = [one for one in switch.of(Pause) if one.priorities]
            if queues:
                yield problem(
                    on,
                    f"{switch.name} has no ECN profile: PFC alone holds senders",
                    "mark the lossless queue",
                )
            continue
        for queue in sorted(queues):
            yield from _queue(switch, queue, [one for one in found if one.queue == queue])
        for one in found:
            if one.queue not in queues and one.marking.ecn and not _also(found, queues):
                yield problem(
                    one.use,
                    f"{switch.name} marks queue {one.queue}, and lossless is {min(queues)}",
                    "mark the lossless queue",
                )


def _also(found: list[MarkedQueue], queues: set[int]) -> bool:
    return any(one.queue in queues for one in found)


def _queue(switch: Device, queue: int, own: list[MarkedQueue]) -> Found:
    if not own:
        shown: list[Fact] = [u for u in switch.of(QueueUse) if u.queue == queue]
        yield problem(
            shown or switch.of(Marking),
            f"the lossless queue {queue} of {switch.name} has no ECN profile",
            "give it one",
        )
        return
    off = [one for one in own if not one.marking.ecn]
    if off:
        yield problem(
            [off[0].marking, off[0].use],
            f"the profile of the lossless queue {queue} of "
            f"{switch.name} drops in place of marking",
            "switch ECN on",
        )
    ports = {port for one in own for port in one.ports}
    if not ports:
        return
    for pause in switch.of(Pause):
        missing = sorted(set(pause.ports) - ports) if pause.priorities else []
        if missing:
            shown = [
                u for u in switch.of(QueueUse) if u.queue == queue and missing[0] in u.ports
            ]
            yield problem(
                [*shown[:1], own[0].use],
                f"queue {queue} of {missing[0]} on {switch.name} "
                f"({len(missing)} ports in all) has no ECN profile",
                "give it one",
            )


ecn_queue = Rule(
    layer=Layer.QOS,
    severity=Severity.ERROR,
    reference="https://doi.org/10.1145/2785956.2787484",
    check=_check,
)
