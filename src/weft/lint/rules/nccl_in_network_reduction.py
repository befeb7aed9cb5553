"""CollNet is asked for where there is no SHARP.

What it checks: NCCL_COLLNET_ENABLE against the fabric and the cluster document.
Why it matters: SHARP is a service of InfiniBand switches: elsewhere the setting does nothing,
or NCCL stops because its plug-in finds no aggregation manager.
What to do: remove it, or set up SHARP.
References: NCCL user guide, NCCL_COLLNET_ENABLE; NVIDIA, NCCL-RDMA-SHARP plug-ins.
"""

from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for one in case.variables("NCCL_COLLNET_ENABLE"):
        if one.value.strip() != "1":
            continue
        if case.on_ethernet:
            yield problem(
                one, f"CollNet needs SHARP, and the fabric is {case.fabric}", "remove it"
            )
        elif case.cluster is not None and not case.cluster.cluster.fabric.in_network_reduction:
            yield problem(
                [one, case.cluster],
                "CollNet is asked for, and the cluster document has no in_network_reduction",
                "make the two agree",
            )


nccl_in_network_reduction = Rule(
    layer=Layer.NCCL,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)
