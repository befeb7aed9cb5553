"""A container with RDMA devices may not pin memory.

What it checks: containers that ask for an RDMA resource (or mount /dev/infiniband, or use the
host's network with RDMA): the capability IPC_LOCK, or privileged.
Why it matters: ibv_reg_mr fails with "Cannot allocate memory": NCCL stops at its start.
What to do: securityContext.capabilities.add: [IPC_LOCK].
References: NVIDIA network operator, examples; capabilities(7), CAP_IPC_LOCK.
"""

from typing import Final

from weft.lint.facts import Container, Offered
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_GPUS: Final = ("nvidia.com/gpu", "nvidia.com/mig")
_RDMA: Final = ("rdma/", "openshift.io/", "mellanox.com/")


def _check(case: Case) -> Found:
    offers = {one.resource.partition("/")[2] for one in case.of(Offered)}
    for one in case.of(Container):
        if one.engine != "kubernetes":
            continue
        names = [
            name
            for name, _ in [*one.limits, *one.requests]
            if name.startswith(_RDMA)
            or (name.partition("/")[2] in offers and "gpu" not in name)
            or (name.startswith("nvidia.com/") and not name.startswith(_GPUS))
        ]
        if names and not one.privileged and not {"IPC_LOCK", "ALL"} & set(one.capabilities):
            yield problem(
                one,
                f"{one.device}, container {one.name}: {names[0]} without IPC_LOCK",
                "add the capability IPC_LOCK",
            )


pod_ipc_lock = Rule(
    layer=Layer.KUBERNETES,
    severity=Severity.ERROR,
    reference="https://docs.nvidia.com/networking/display/kubernetes2640/index.html",
    check=_check,
)
