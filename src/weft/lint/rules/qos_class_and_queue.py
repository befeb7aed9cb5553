"""A lossless class and the queue that PFC pauses are not the same queue.

What it checks: the queue of each paused class against the queue that its PFC priority stops,
and whether any DSCP leads to a paused class at all.
Why it matters: the switch pauses one queue and fills another: the filled one drops, and the
paused one stands still for nothing.
What to do: map class, priority, group and queue to one number.
References: SONiC, configuration of QoS maps; IEEE 802.1Qbb.
"""

from weft.lint.facts import Map, Pause
from weft.lint.quality import CLASSES, paused, table, target
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for switch in case.switches:
        lossless = paused(switch)
        queues, stops = table(switch, Map.CLASS_TO_QUEUE), table(switch, Map.PAUSE_TO_QUEUE)
        groups = table(switch, Map.CLASS_TO_GROUP)
        stopped_groups = table(switch, Map.PAUSE_TO_GROUP)
        for priority in sorted(lossless):
            queue, stopped = target(queues, priority), target(stops, priority)
            if queue != stopped:
                seen = [rows[priority] for rows in (queues, stops) if priority in rows]
                yield problem(
                    seen,
                    f"{switch.name} sends class {priority} through queue {queue}, "
                    f"and PFC stops queue {stopped}",
                    "map both to one queue",
                )
            group, asked = target(groups, priority), target(stopped_groups, priority)
            if (groups or stopped_groups) and group != asked:
                seen = [r[priority] for r in (groups, stopped_groups) if priority in r]
                yield problem(
                    seen,
                    f"{switch.name} holds class {priority} in group {group}, and PFC "
                    f"asks for group {asked}",
                    "map both to one group",
                )
        classes = table(switch, Map.DSCP_TO_CLASS)
        reached = {row.target for row in classes.values()}
        for priority in sorted(lossless - reached) if classes else ():
            on = next(one for one in switch.of(Pause) if priority in one.priorities)
            yield problem(
                on,
                f"no DSCP leads to the lossless class {priority} of {switch.name}",
                "map the DSCP of RoCE to it",
            )
        shared = {
            q for c in set(range(CLASSES)) - lossless for q in [target(queues, c)] if queues
        }
        for priority in sorted(lossless):
            if target(queues, priority) in shared:
                other = next(
                    c
                    for c in range(CLASSES)
                    if c not in lossless and target(queues, c) == target(queues, priority)
                )
                seen = [rows[c] for rows in (queues,) for c in (other, priority) if c in rows]
                yield problem(
                    seen,
                    f"class {other} shares the lossless queue of {switch.name}",
                    "give it another queue",
                )


qos_class_and_queue = Rule(
    layer=Layer.QOS,
    severity=Severity.ERROR,
    reference="https://github.com/sonic-net/sonic-buildimage/blob/master/src/sonic-yang-models/doc/Configuration.md",
    check=_check,
)
