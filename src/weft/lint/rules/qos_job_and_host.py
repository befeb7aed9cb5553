"""NCCL and the NIC do not mean the same class.

What it checks: NCCL_IB_TC against the traffic class that the host writes (cma_roce_tos, sysfs),
against the NIC's map of DSCP to priorities and its PFC, and NCCL_IB_SL against that priority.
Why it matters: packets leave in a priority that the NIC does not pause, so it overruns the
switch, or is paused for others' sake.
What to do: derive all of them from one DSCP and one priority.
References: NVIDIA, quality of service: mlnx_qos, cma_roce_tos.
"""

from weft.lint.facts import Mapped, Mark, Pause, Side, Variable
from weft.lint.quality import CLASSES, ECN_BITS, host_map, host_pauses, number, traffic_classes
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    rows, pauses = host_map(case), host_pauses(case)
    lossless = {priority for one in pauses for priority in one.priorities}
    for one, value in traffic_classes(case):
        for mark in case.of(Mark):
            if mark.traffic_class // ECN_BITS != value // ECN_BITS:
                yield problem(
                    [one, mark],
                    f"NCCL marks DSCP {value // ECN_BITS}, and {mark.tool} "
                    f"DSCP {mark.traffic_class // ECN_BITS}",
                    "use one traffic class",
                )
        yield from _priority(one, value // ECN_BITS, rows, pauses, lossless)
    for one in case.variables("NCCL_IB_SL"):
        level = number(one.value)
        if lossless and level and level not in lossless:
            yield problem(
                [one, *pauses[:1]],
                f"NCCL_IB_SL={level} is priority {level} on RoCE, and "
                f"PFC protects {min(lossless)}",
                f"set {min(lossless)}, or unset it",
                severity=Severity.WARNING,
            )


def _priority(
    one: Variable, dscp: int, rows: dict[int, Mapped], pauses: list[Pause], lossless: set[int]
) -> Found:
    """Yield a DSCP whose priority is not paused; by default the NIC takes DSCP / 8."""
    priority = rows[dscp].target if dscp in rows else dscp // CLASSES
    if lossless and priority not in lossless:
        seen = [one, *([rows[dscp]] if dscp in rows else []), *pauses[:1]]
        yield problem(
            seen,
            f"DSCP {dscp} is priority {priority} on the NIC, and PFC protects {min(lossless)}",
            f"map it: mlnx_qos --dscp2prio set,{dscp},{min(lossless)}",
        )


qos_job_and_host = Rule(
    layer=Layer.QOS,
    severity=Severity.ERROR,
    reference="https://docs.nvidia.com/networking/display/mlnxofedv24010331/quality+of+service+(qos)",
    check=_check,
    needs=(Side.JOB, Side.HOST),
    not_on=frozenset({"infiniband"}),
)
