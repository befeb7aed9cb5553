"""A job that is configured for RDMA has no RDMA device in its pods.

What it checks: pods with NCCL_IB variables and GPUs: an RDMA resource, a claim, privileged with
the host's network, or a network with devices.
Why it matters: NCCL finds no adapter inside the pod and falls back to TCP over the pod network.
What to do: ask for the RDMA resource of the cluster.
References: NVIDIA network operator; k8s-rdma-shared-dev-plugin.
"""

from typing import Final

from weft.lint.facts import Container, Workload
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_MEANT: Final = (
    "NCCL_IB_HCA",
    "NCCL_IB_TC",
    "NCCL_IB_SL",
    "NCCL_IB_GID_INDEX",
    "NCCL_NET_GDR_LEVEL",
)
_OTHER: Final = frozenset({"vpc.amazonaws.com/efa"})


def _check(case: Case) -> Found:
    pods = {one.device: one for one in case.of(Workload)}
    for one in case.of(Container):
        pod = pods.get(one.device)
        wanted = [v for v in case.variables(*_MEANT) if v.device == one.device]
        gpus = any(name == "nvidia.com/gpu" for name, _ in one.limits)
        if pod is None or not wanted or not gpus or pod.claims or one.privileged:
            continue
        names = [name for name, _ in [*one.limits, *one.requests]]
        if any(name in _OTHER or _rdma(name) for name in names):
            continue
        off = [v for v in case.variables("NCCL_IB_DISABLE") if v.device == one.device]
        if not any(v.value == "1" for v in off):
            yield problem(
                [one, *wanted],
                f"{one.device} sets {wanted[0].name} and has no RDMA device",
                "ask for the RDMA resource",
            )


def _rdma(name: str) -> bool:
    prefix, slash, base = name.partition("/")
    return bool(slash) and not (prefix == "nvidia.com" and base.startswith(("gpu", "mig")))


pod_without_rdma = Rule(
    layer=Layer.KUBERNETES,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/networking/display/kubernetes2640/index.html",
    check=_check,
)
