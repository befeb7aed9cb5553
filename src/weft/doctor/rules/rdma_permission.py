"""The device node of an RDMA adapter is there, and opening it is refused.

What it checks: openings of adapters or /dev/infiniband nodes that ended with EACCES or EPERM.
Where an adapter is in use all the same, the refused ones belong to somebody else: silence.
Why it matters: without the node the library sees no adapter and falls back to sockets, or
MPI stops.
What to do: allow the device in the container's device cgroup and security profile; on the
host, set the mode of the nodes with the udev rules of rdma-core.
References: rdma-core udev rules; Kubernetes device plug-ins; Singularity and Apptainer binds.
"""

import re
from collections.abc import Iterator

from weft.doctor import job
from weft.doctor.rule import Facts, Fault, Finding, Rule, Suspect, Symptom, finding
from weft.observe.facts.base import Fact
from weft.observe.facts.hosts import DeviceNode
from weft.observe.facts.pods import ClusterEvent
from weft.observe.facts.transports import AdapterOpened, AdapterOpenFailed, NoRdmaDevice
from weft.observe.facts.verbs import CallFailed

_FORBIDDEN = re.compile(r"is forbidden: .*(?:IPC_LOCK|privileged|hostPath|hostNetwork|RAWIO)")
_BY_PROFILE = (
    r"(?!.*permissive=1)\bdenied\b.{0,200}/dev/infiniband/|"
    r"(?!.*permissive=1)avc: +denied.{0,200}\buverbs\d"
)
"""What the kernel's security modules write of a node that a profile closes."""
_CLOSED = "---"
"""The end of the mode of a node that not everybody may open."""
_DENIED = frozenset({1, 13})


def _check(facts: Facts) -> Iterator[Finding]:
    denied = _denied(facts)
    forbidden = [one for one in facts.of(ClusterEvent) if _FORBIDDEN.search(one.message)]
    if forbidden and not denied:
        yield _forbidden(forbidden)
    commands = [one for one in facts.of(CallFailed) if "mlx5dv_devx" in one.call]
    if commands and not denied:
        yield _without_commands(commands)
    if denied and not (job.uses_rdma(facts) or job.verbs_adapters(facts)):
        outside = bool(facts.of(AdapterOpened) or job.active_ports(facts))
        yield _not_opened(denied, 0.9 if outside else 0.8)


def _denied(facts: Facts) -> list[Fact]:
    """Return what says that a device may not be opened, or nodes whose mode forbids it."""
    denied: list[Fact] = [
        one for one in facts.of(AdapterOpenFailed)
        if one.errno in _DENIED or "permi" in one.error.lower()
    ]  # fmt: skip
    denied += [
        one for one in facts.of(CallFailed)
        if "open_device" in one.call and (one.errno in _DENIED or "permi" in one.error.lower())
    ]  # fmt: skip
    if facts.any_of(AdapterOpenFailed, NoRdmaDevice):
        denied += job.said(facts, _BY_PROFILE)
    return denied or _closed_nodes(facts)


def _forbidden(events: list[ClusterEvent]) -> Finding:
    return finding(
        "container-rdma-permission",
        events,
        0.6,
        message="the cluster refuses the pod the rights that RDMA needs",
        advice="give its service account a security context with IPC_LOCK, or its "
        "namespace a policy that allows it",
        next_command="kubectl get ns --show-labels; oc get scc; kubectl describe rs",
        explains=("memlock-limit",),
    )


def _not_opened(denied: list[Fact], confidence_ratio: float) -> Finding:
    return finding(
        "container-rdma-permission",
        denied,
        confidence_ratio,
        message="the RDMA device nodes are there, but the job may not open them",
        advice="allow /dev/infiniband in the device cgroup and security profile of the job",
        next_command="ls -lZ /dev/infiniband; id; ulimit -l   # where the job runs",
        explains=(
            Symptom.SOCKETS,
            Symptom.REGISTRATION,
            "container-no-rdma-device",
            "efa-provider-missing",
            "mpi-ucx-not-nccl",
        ),
        fault=Fault.SOCKETS,
    )


def _without_commands(refused: list[CallFailed]) -> Finding:
    """Say of a job that opens the adapter and may not give its firmware commands (DEVX)."""
    return finding(
        "container-rdma-permission",
        refused,
        0.6,
        message="the adapter is open, and a command to its firmware is refused to the job",
        advice="give the container its capabilities (privileged, or SYS_RAWIO and IPC_LOCK)",
        next_command="grep Cap /proc/self/status; ls -l /dev/infiniband; ulimit -l",
        missing=("whether it works in a privileged container",),
        explains=(Symptom.VERBS_CALL, "verbs-provider-incompatible"),
        suspects=(
            Suspect(
                cause="mr-limit-exceeded",
                confidence_ratio=0.35,
                question="were many queue pairs made before it: are the adapter's doorbell "
                "pages used up?",
                next_command="rdma resource show; devlink resource show",
            ),
        ),
    )


def _closed_nodes(facts: Facts) -> list[Fact]:
    """Return nodes that root or a group alone may open, where a device could not be opened."""
    unopened = [one for one in facts.of(AdapterOpenFailed) if not one.error]
    closed = [
        one for one in facts.of(DeviceNode)
        if one.present and "uverbs" in one.path and one.mode.endswith(_CLOSED)
    ]  # fmt: skip
    return [*unopened, *closed] if unopened and closed else []


rdma_permission = Rule(causes=("container-rdma-permission",), check=_check)
