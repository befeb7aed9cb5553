"""A pod has all GPUs of a host and only some of its rails.

What it checks: containers with as many GPUs as a host has (8, or as the cluster document says)
that ask for fewer RDMA devices of a kind that is given one by one.
Why it matters: the missing rails' GPUs send through the others': their bandwidth is shared.
What to do: as many devices as rails.
References: NVIDIA network operator, multi-rail; NCCL, PXN.
"""

from weft.lint.document import whole
from weft.lint.facts import Container, Offered
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    if case.cluster is None:
        return
    host = case.cluster.cluster.host
    counted = {
        one.resource.partition("/")[2]: one
        for one in case.of(Offered)
        if one.count is not None and one.by.startswith("SriovNetworkNodePolicy")
    }
    for one in case.of(Container):
        limits = dict(one.limits)
        if whole(limits.get("nvidia.com/gpu", "")) != host.gpus:
            continue
        devices = {
            name: whole(count) or 0
            for name, count in limits.items()
            if name.partition("/")[2] in counted
        }
        if devices and sum(devices.values()) < host.nics:
            yield problem(
                [one, case.cluster],
                f"{one.device} has {host.gpus} GPUs and "
                f"{sum(devices.values())} of {host.nics} rails",
                f"ask for {host.nics} devices",
            )


pod_gpu_and_rails = Rule(
    layer=Layer.KUBERNETES,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/networking/display/kubernetes2640/index.html",
    check=_check,
)
