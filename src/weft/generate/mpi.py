"""An MPIJob: a launcher without GPUs, and workers that it reaches by ssh."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from weft.generate.attachment import kubernetes, meta
from weft.generate.manifest import Manifest, Value
from weft.generate.pod import labels, launcher, template, variables, worker

if TYPE_CHECKING:
    from weft.generate.plan import Plan

SSH_PORT: Final = 2222
"""On a host's network port 22 is the host's."""


def mpi_manifest(
    plan: "Plan", *, name: str, image: str, command: str,
    before: Sequence[str] = (), forwarded: Sequence[str] = (),
) -> Manifest:  # fmt: skip
    """Return a job that runs a command on every GPU of every pod."""
    part = kubernetes(plan)
    gpus, on_host = part.gpus_per_pod.whole(), part.attached().on_host_network
    sshd = (f"exec /usr/sbin/sshd -De -p {SSH_PORT}",) if on_host else ()
    # A process that ssh starts has none of its container's variables: each is forwarded.
    kept = ("PATH", "LD_LIBRARY_PATH", *part.environment(plan.nccl), *forwarded)
    script = [
        *before,
        "exec mpirun --allow-run-as-root \\",
        f"  -np {part.pods.whole() * gpus} -N {gpus} --bind-to none \\",
        "  --mca pml ob1 --mca btl self,tcp \\",
        *(f"  {one} \\" for one in _over(plan)),
        *(f"  -x {one} \\" for one in kept),
        f"  {command}",
    ]
    roles: dict[str, Value] = {
        "Launcher": _launcher(plan, name, launcher(
            "launcher", image, script, variables(plan, {}))),
        "Worker": {
            "replicas": part.pods.whole(),
            "template": template(plan, name, worker(plan, "worker", image, sshd)),
        },
    }  # fmt: skip
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {**meta(name, part.namespace.text()), "labels": labels(plan, name)},
        "spec": {
            "slotsPerWorker": gpus,
            # The launcher starts when every worker answers, and so needs no second try.
            "launcherCreationPolicy": "WaitForWorkersReady",
            "runPolicy": {"cleanPodPolicy": "Running", "backoffLimit": 0},
            "mpiReplicaSpecs": roles,
        },
    }


def _over(plan: "Plan") -> list[str]:
    """Return over what MPI itself speaks: never over the rails."""
    if kubernetes(plan).attached().on_host_network:
        return [f'--mca plm_rsh_args "-p {SSH_PORT} -o ConnectionAttempts=10"']
    return ["--mca oob_tcp_if_include eth0 --mca btl_tcp_if_include eth0"]


def _launcher(plan: "Plan", name: str, container: dict[str, Value]) -> dict[str, Value]:
    spec: dict[str, Value] = {"containers": [container]}
    if kubernetes(plan).attached().on_host_network:
        spec |= {"hostNetwork": True, "dnsPolicy": "ClusterFirstWithHostNet"}
    pod: dict[str, Value] = {
        "metadata": {"labels": labels(plan, f"{name}-launcher")},
        "spec": spec,
    }
    return {"replicas": 1, "template": pod}
