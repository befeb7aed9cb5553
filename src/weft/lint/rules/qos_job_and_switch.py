"""The job's packets do not land in a lossless class of the switch.

What it checks: the DSCP of NCCL_IB_TC (or of cma_roce_tos and traffic_class) on every switch:
which class it is in, and whether that class is paused by PFC.
Why it matters: packets outside the lossless class are dropped under load; RoCE repeats whole
windows, and all-reduce crawls only when it matters.
What to do: use one DSCP and one priority everywhere.
References: NVIDIA, quality of service; RFC 2474; IEEE 802.1Qbb.
"""

from weft.lint.facts import Fact, Map, Mark, Pause, Side
from weft.lint.quality import ECN_BITS, dscp_class, paused, table, traffic_classes
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    labels: list[tuple[Fact, str, int]] = [
        (one, "NCCL_IB_TC", value // ECN_BITS) for one, value in traffic_classes(case)
    ]
    yield from _unmarked(case)
    labels += [(one, one.tool, one.traffic_class // ECN_BITS) for one in case.of(Mark)]
    for switch in case.switches:
        lossless = paused(switch)
        if not lossless or not table(switch, Map.DSCP_TO_CLASS):
            continue
        for fact, name, dscp in labels:
            row = dscp_class(switch, dscp)
            given = row.target if row else 0
            if given not in lossless:
                seen = [fact, *([row] if row else []), *switch.of(Pause)[:1]]
                yield problem(
                    seen,
                    f"{name} marks DSCP {dscp}, which {switch.name} puts into class {given}; "
                    f"lossless is {_list(lossless)}",
                    f"map DSCP {dscp} to class {min(lossless)}, or mark the DSCP that it has",
                )


def _unmarked(case: Case) -> Found:
    """Yield a lossless fabric that sorts by DSCP and whose jobs and hosts mark none."""
    jobs = [one for one in case.variables("NCCL_IB_HCA") if "$" not in one.value]
    if list(traffic_classes(case)) or case.of(Mark) or not jobs:
        return
    for switch in case.switches:
        rows = table(switch, Map.DSCP_TO_CLASS)
        given = rows[0].target if 0 in rows else 0
        if rows and paused(switch) and given not in paused(switch):
            yield problem(
                [jobs[0], *switch.of(Pause)[:1]],
                f"no job and no host marks a DSCP: RoCE travels in class {given} of "
                f"{switch.name}, and lossless is {_list(paused(switch))}",
                "set NCCL_IB_TC, or the traffic class of the NICs",
            )
            return


def _list(numbers: set[int]) -> str:
    return " and ".join(str(one) for one in sorted(numbers))


qos_job_and_switch = Rule(
    layer=Layer.QOS,
    severity=Severity.ERROR,
    reference="https://docs.nvidia.com/networking/display/mlnxofedv24010331/quality+of+service+(qos)",
    check=_check,
    needs=(Side.JOB, Side.SWITCH),
    not_on=frozenset({"infiniband"}),
)
