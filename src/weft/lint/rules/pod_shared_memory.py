"""Ranks of a pod have 64 MiB of shared memory.

What it checks: pods and containers with two GPUs or more: a memory volume on /dev/shm (Docker:
--shm-size or --ipc=host) of at least 1 GiB.
Why it matters: NCCL and data loaders meet through /dev/shm: "No space left on device", or a bus
error in the middle of training.
What to do: an emptyDir of medium Memory on /dev/shm; --shm-size=16g.
References: NCCL user guide, troubleshooting: shared memory; Kubernetes, emptyDir.
"""

from typing import Final

from weft.lint.document import whole
from weft.lint.facts import Container, Workload
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_LEAST_BYTES: Final = 1 << 30
_GPUS: Final = ("nvidia.com/gpu", "amd.com/gpu")


def _check(case: Case) -> Found:
    pods = {one.device: one for one in case.of(Workload)}
    for one in case.of(Container):
        if one.engine == "docker":
            if one.gpus and not one.host_ipc and (one.shm_bytes or 0) < _LEAST_BYTES:
                said = f"{one.shm_bytes} B" if one.shm_bytes else "Docker's 64 MiB"
                yield problem(
                    one,
                    f"{one.name} has {said} of shared memory",
                    "add --shm-size=16g or --ipc=host",
                )
            continue
        pod = pods.get(one.device)
        gpus = max((whole(c) or 0 for n, c in one.limits if n in _GPUS), default=0)
        if pod is None or gpus < 2 or pod.host_ipc:  # noqa: PLR2004 - ranks that share memory
            continue
        if pod.shm_bytes is None:
            yield problem(
                one,
                f"{one.device} has {gpus} GPUs and no memory volume on /dev/shm",
                "add an emptyDir of medium Memory",
            )
        elif 0 < pod.shm_bytes < _LEAST_BYTES:
            yield problem(
                one,
                f"{one.device} has {pod.shm_bytes} B on /dev/shm for {gpus} GPUs",
                "give it several GiB",
            )


pod_shared_memory = Rule(
    layer=Layer.KUBERNETES,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
    check=_check,
)
