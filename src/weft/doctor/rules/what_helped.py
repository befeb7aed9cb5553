"""Somebody says what he changed, after which the job ran: an experiment that names the cause.

What it checks: lines that say of a variable, an option or a command that it helped (or that the
job runs without it), in outputs that tell of trouble. What only goes round a fault names the
fault that it goes round.
Why it matters: the messages of many faults are alike; what cures them is not.
What to do: mend what the change goes round, then take the change back.
References: NCCL user guide, environment variables; docker run(1); UCX and Open MPI manuals.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from weft.doctor.causes import known
from weft.doctor.rule import Facts, Finding, Rule, Severity, Suspect, Symptom, suspect
from weft.observe.facts.base import Evidence
from weft.observe.facts.collectives import CollectiveTimeout
from weft.observe.facts.gpus import GpuCallFailed
from weft.observe.facts.reading import Complaint, Opening
from weft.observe.facts.verbs import CallFailed, CompletionError
from weft.observe.trials import Trial, trials

_UNDONE_RATIO = 0.55


@dataclass(frozen=True, slots=True)
class _Remedy:
    """What is changed, and the cause that goes away with it; ``rather`` what it may be else."""

    change: re.Pattern[str]
    cause: str
    sure_ratio: float = 0.55
    rather: str = ""


def _remedy(change: str, cause: str, sure_ratio: float = 0.55, rather: str = "") -> _Remedy:
    return _Remedy(re.compile(change), cause, sure_ratio, rather)


_REMEDIES = (
    _remedy(r"NCCL_CROSS_NIC=0", "rail-isolated", rather="fabric-path-unreachable"),
    _remedy(r"\w+_SOCKET_IFNAME=lo\b", "host-firewall", 0.4, "bootstrap-wrong-interface"),
    _remedy(r"\w+_SOCKET_IFNAME=", "bootstrap-wrong-interface", 0.55,
            "host-routing-ambiguous"),
    _remedy(r"NCCL_IB_HCA=|UCX_NET_DEVICES=", "hca-selection-wrong", 0.5, "mixed-link-layers"),
    _remedy(r"(?:NCCL_IB|UCX_IB|NVSHMEM_IB)_GID_INDEX=", "gid-index-wrong"),
    _remedy(r"NCCL_(?:NET_GDR_LEVEL=(?:0|LOC)|IB_CUDA_SUPPORT=0)|UCX_IB_GPU_DIRECT_RDMA=n",
            "pcie-acs-enabled", 0.5, "gdr-access-blocked"),
    _remedy(r"NCCL_P2P_(?:DISABLE=1|LEVEL=(?:LOC|0))", "pcie-acs-enabled", 0.45,
            "container-gpu-isolation"),
    _remedy(r"--shm-size|--ipc[= ]host|NCCL_SHM_DISABLE=1", "shm-too-small"),
    _remedy(r"--ulimit[= ]memlock|--cap-add[= ]IPC_LOCK", "memlock-limit"),
    _remedy(r"--privileged|--device[= ]/dev/infiniband", "container-no-rdma-device", 0.5,
            "container-rdma-permission"),
    _remedy(r"NCCL_MNNVL_ENABLE=0", "imex-domain-missing", 0.5),
    _remedy(r"NCCL_NVLS_ENABLE=0", "fabric-manager-restarted", 0.45),
    _remedy(r"NCCL_COLLNET_ENABLE=0", "sharp-unavailable", 0.5),
    _remedy(r"NCCL_IB_(?:TC|SL)=[1-9]", "qos-dscp-mismatch", 0.5, "roce-packet-loss"),
    _remedy(r"NCCL_TOPO_FILE=", "topology-misdetected", 0.45, "vm-topology-missing"),
    _remedy(r"UCX_TLS=\S*tcp|--mca (?:pml ob1|btl tcp)|OMPI_MCA_(?:pml=ob1|btl=\S*tcp)",
            "mpi-ucx-not-nccl"),
    _remedy(r"modprobe (?:nvidia[-_]peermem|nv_peer_mem)", "gdr-peermem-not-loaded", 0.7),
    _remedy(r"systemctl (?:re)?start nvidia-fabricmanager", "fabric-manager-not-running", 0.6),
    _remedy(r"systemctl stop (?:firewalld|ufw|iptables)|iptables -F|ufw disable",
            "host-firewall", 0.7),
    _remedy(r"setenforce 0", "container-rdma-permission", 0.6),
    _remedy(r"disable[_-]acs|setpci|iommu=(?:pt|off)", "pcie-acs-enabled", 0.65),
    _remedy(r"opensm", "ib-no-subnet-manager", 0.6),
)  # fmt: skip
_FOLLOW = (
    Symptom.TRANSPORT_RETRY, Symptom.FLUSHED, Symptom.CONNECT, Symptom.VERBS_CALL,
    Symptom.REGISTRATION, Symptom.LOCAL_PROTECTION, Symptom.REMOTE_ERROR, Symptom.SOCKETS,
)  # fmt: skip
_TROUBLE = re.compile(
    r"\b(?:hang|hung|stuck|never (?:ends|returns|finishes)|fail|error|timed? out|crash|slow)",
    re.IGNORECASE,
)


def _check(facts: Facts) -> Iterator[Finding]:
    said: dict[str, Finding] = {}
    for opening in facts.of(Opening):
        for trial in trials(opening.text):
            found = _finding(trial, opening, failing=_failing(facts))
            if found and found.cause not in said:
                said[found.cause] = found
    yield from said.values()


def _failing(facts: Facts) -> bool:
    """Return whether anything else tells of trouble: a setting may simply be praised."""
    failed = facts.any_of(
        CompletionError, CallFailed, CollectiveTimeout, GpuCallFailed, Complaint
    )
    return failed or any(_TROUBLE.search(one.text) for one in facts.of(Opening))


def _finding(trial: Trial, opening: Opening, *, failing: bool) -> Finding | None:
    remedy = next((one for one in _REMEDIES if one.change.match(trial.tried)), None)
    if trial.dropped:
        remedy = _Remedy(re.compile(""), "nccl-env-misuse", _UNDONE_RATIO)
    if remedy is None or not failing:
        return None
    text = opening.evidence.file
    return Finding(
        cause=remedy.cause,
        severity=Severity.ERROR,
        confidence_ratio=remedy.sure_ratio,
        message=f"the job runs {'without' if trial.dropped else 'with'} {trial.tried}, "
        "says somebody",
        advice="mend what this goes round; a variable that hides a fault costs speed elsewhere",
        evidence=(Evidence(text, trial.line, trial.text),),
        next_command=known()[remedy.cause].command,
        missing=("the same run twice, with and without: nothing else changed",),
        explains=frozenset(_FOLLOW),
        suspects=_rather(remedy),
    )


def _rather(remedy: _Remedy) -> tuple[Suspect, ...]:
    """Return what goes away with the change as well."""
    other = (suspect(remedy.rather, 0.3),) if remedy.rather else ()
    own = (suspect(remedy.cause, remedy.sure_ratio),) if remedy.sure_ratio < 0.5 else ()  # noqa: PLR2004 - LIKELY
    return (*own, *other)


what_helped = Rule(
    causes=("nccl-env-misuse", *dict.fromkeys(one.cause for one in _REMEDIES)), check=_check
)
