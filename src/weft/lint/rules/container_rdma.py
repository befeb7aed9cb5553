"""A container of Docker cannot use RDMA.

What it checks: containers with GPUs that are given /dev/infiniband or NCCL_IB variables: pinned
memory without limit, the devices, the host's network or a device of their own.
Why it matters: without --ulimit memlock=-1 registration fails; without /dev/infiniband NCCL
falls back to TCP.
What to do: --ulimit memlock=-1 --device /dev/infiniband --network host (or --privileged).
References: NCCL user guide, troubleshooting; NVIDIA container guides.
"""

from weft.lint.facts import Container, Variable
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    for one in case.of(Container):
        if one.engine != "docker" or not one.gpus:
            continue
        wants = [
            v
            for v in case.of(Variable)
            if v.device == one.device
            and v.name.startswith("NCCL_IB_")
            and v.name != "NCCL_IB_DISABLE"
        ]
        has = any(device.startswith("/dev/infiniband") for device in one.devices)
        if has or (wants and one.privileged):
            free = one.memlock.split(":")[0] in {"-1", "unlimited"}
            if not free and not one.privileged and "IPC_LOCK" not in one.capabilities:
                yield problem(
                    one,
                    f"{one.name} has RDMA devices and a limit of pinned memory",
                    "add --ulimit memlock=-1",
                )
            elif one.memlock and not free:
                yield problem(one, f"{one.name} may pin {one.memlock}", "use memlock=-1")
        elif wants and not one.privileged:
            yield problem(
                [one, *wants],
                f"{one.name} sets {wants[0].name} and has no RDMA device",
                "add --device /dev/infiniband",
            )


container_rdma = Rule(
    layer=Layer.KUBERNETES,
    severity=Severity.ERROR,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
    check=_check,
)
