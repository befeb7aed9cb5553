"""The answers to congestion (CNP) travel where they can be held up or lost.

What it checks: the DSCP of CNPs that NICs write: its class on the switch, whether that class
paused, whether its queue is strict, and whether the NIC sends them in the priority of their
DSCP.
Why it matters: news of congestion that waits behind the congestion comes too late; DCQCN then
swings or PFC takes over.
What to do: a class of its own, strict, without PFC: DSCP 48 to priority 6 is usual.
References: NVIDIA Cumulus, RoCE; Zhu et al., SIGCOMM 2015, section 3.
"""

from weft.lint.facts import Congestion, Map, QueueUse, Scheduler, Side
from weft.lint.quality import host_map, paused, table, target
from weft.lint.rule import Case, Device, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    marks = [one for one in case.of(Congestion) if one.name == "cnp_dscp"]
    priorities = [one for one in case.of(Congestion) if one.name == "cnp_802p_prio"]
    for switch in case.switches:
        classes, lossless = table(switch, Map.DSCP_TO_CLASS), paused(switch)
        for one in marks if classes and lossless else ():
            row = classes.get(one.value)
            given = row.target if row else 0
            seen = [one, *([row] if row else [])]
            if given in lossless:
                yield problem(
                    seen,
                    f"CNPs (DSCP {one.value}) share the lossless class {given} of "
                    f"{switch.name} and are paused with it",
                    "give them a class of their own",
                )
            elif given == 0:
                yield problem(
                    seen,
                    f"CNPs (DSCP {one.value}) are best effort on {switch.name}",
                    f"map DSCP {one.value} to a strict class",
                )
            else:
                yield from _turn(switch, one, given)
    for one in marks:
        row = host_map(case).get(one.value)
        for priority in priorities:
            if row and row.target != priority.value:
                yield problem(
                    [priority, row],
                    f"the NIC sends CNPs in priority {priority.value} and "
                    f"maps their DSCP to {row.target}",
                    "use one priority",
                )


def _turn(switch: Device, one: Congestion, given: int) -> Found:
    queue = target(table(switch, Map.CLASS_TO_QUEUE), given)
    by_name = {turn.name: turn for turn in switch.of(Scheduler) if turn.name}
    named = [
        use for use in switch.of(QueueUse) if use.queue == queue and use.scheduler in by_name
    ]
    turns = [turn for turn in switch.of(Scheduler) if turn.queue == queue]
    turns += [by_name[use.scheduler] for use in named]
    for turn in turns:
        if not turn.strict:
            yield problem(
                [*named[:1], turn, one],
                f"queue {queue} of {switch.name}, where CNPs are, takes turns with the others",
                "schedule it strictly",
                severity=Severity.WARNING,
            )
            return


qos_cnp_class = Rule(
    layer=Layer.QOS,
    severity=Severity.ERROR,
    reference="https://docs.nvidia.com/networking-ethernet-software/cumulus-linux-514/Layer-1-and-Switch-Ports/Quality-of-Service/RDMA-over-Converged-Ethernet-RoCE",
    check=_check,
    needs=(Side.HOST, Side.SWITCH),
)
