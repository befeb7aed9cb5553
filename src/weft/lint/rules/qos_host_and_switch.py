"""The NIC and the switch do not pause the same priority, or sort a DSCP differently.

What it checks: PFC priorities of NICs against those of every switch, and the priority of each
DSCP of the lossless class against the class that the switch gives it.
Why it matters: a pause for a priority that the other end does not use stops nothing: the switch
overflows and drops, or the NIC stops the wrong traffic.
What to do: the same priority on both ends of every link.
References: IEEE 802.1Qbb; NVIDIA, quality of service.
"""

from weft.lint.facts import Map, Pause, Side
from weft.lint.quality import host_map, host_pauses, paused, table
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    pauses, rows = host_pauses(case), host_map(case)
    for switch in case.switches:
        on = [one for one in switch.of(Pause) if one.priorities]
        theirs = paused(switch)
        for one in pauses:
            if theirs and set(one.priorities) != theirs:
                yield problem(
                    [one, *on[:1]],
                    f"the NICs pause {_list(set(one.priorities))}, and "
                    f"{switch.name} pauses {_list(theirs)}",
                    "pause the same",
                )
        classes = table(switch, Map.DSCP_TO_CLASS)
        for dscp, row in rows.items() if classes else ():
            given = classes[dscp].target if dscp in classes else 0
            apart = given != row.target
            if apart and ({given} & theirs or {row.target} & _lossless(pauses)):
                seen = [row, *([classes[dscp]] if dscp in classes else [])]
                yield problem(
                    seen,
                    f"DSCP {dscp} is priority {row.target} on the NIC and class "
                    f"{given} on {switch.name}",
                    "map it alike on both",
                )


def _lossless(pauses: list[Pause]) -> set[int]:
    return {priority for one in pauses for priority in one.priorities}


def _list(numbers: set[int]) -> str:
    return ", ".join(str(one) for one in sorted(numbers)) or "nothing"


qos_host_and_switch = Rule(
    layer=Layer.QOS,
    severity=Severity.ERROR,
    reference="https://1.ieee802.org/dcb/802-1qbb/",
    check=_check,
    needs=(Side.HOST, Side.SWITCH),
)
