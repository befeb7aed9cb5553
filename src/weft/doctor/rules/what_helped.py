"""Somebody says what he changed, after which the job ran: an experiment that names the cause.

What it checks: lines that say of a variable, an option or a command that it helped (or that the
job runs without it), in outputs that tell of trouble; a benchmark that gives results with a
variable and none without. What only goes round a fault names the fault that it goes round.
Why it matters: the messages of many faults are alike; what cures them is not.
What to do: mend what the change goes round, then take the change back.
References: NCCL user guide, environment variables; docker run(1); UCX and Open MPI manuals.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from weft.doctor import job
from weft.doctor.causes import known
from weft.doctor.rule import Facts, Finding, Rule, Severity, Suspect, Symptom, suspect
from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.benchmarks import BenchmarkSummary, MeasuredCollective
from weft.observe.facts.collectives import CollectiveTimeout
from weft.observe.facts.communicators import CommunicatorRank, RingsConnected
from weft.observe.facts.gpus import GpuCallFailed
from weft.observe.facts.programs import Command
from weft.observe.facts.reading import Complaint, Opening
from weft.observe.facts.verbs import CallFailed, CompletionError
from weft.observe.trials import Trial, changes, tells_of_trouble, trials


@dataclass(frozen=True, slots=True)
class _Remedy:
    """What is changed, and the cause that goes away with it; ``rather`` what it may be else.

    ``silent`` where it names that cause only if the job hung, and no transfer told an error.
    """

    change: re.Pattern[str]
    cause: str
    sure_ratio: float = 0.55
    rather: str = ""
    silent: bool = False


def _remedy(
    change: str, cause: str, sure_ratio: float = 0.55, rather: str = "", *, silent: bool = False
) -> _Remedy:
    return _Remedy(re.compile(change), cause, sure_ratio, rather, silent)


_NO_GPUDIRECT = r"NCCL_(?:NET_GDR_LEVEL=(?:0|LOC)|IB_CUDA_SUPPORT=0)|UCX_IB_GPU_DIRECT_RDMA=n"


_UNDONE = _remedy("", "nccl-env-misuse")
_REMEDIES = (
    _remedy(r"NCCL_CROSS_NIC=0", "rail-isolated", rather="fabric-path-unreachable"),
    _remedy(r"\w+_SOCKET_IFNAME=lo\b", "host-firewall", 0.4, "bootstrap-wrong-interface"),
    _remedy(r"\w+_SOCKET_IFNAME=", "bootstrap-wrong-interface", 0.55,
            "host-routing-ambiguous"),
    _remedy(r"NCCL_IB_HCA=|UCX_NET_DEVICES=", "hca-selection-wrong", 0.5, "mixed-link-layers"),
    _remedy(r"(?:NCCL_IB|UCX_IB|NVSHMEM_IB)_GID_INDEX=", "gid-index-wrong"),
    _remedy(_NO_GPUDIRECT, "pcie-acs-enabled", 0.5, "gdr-access-blocked", silent=True),
    _remedy(_NO_GPUDIRECT, "gdr-access-blocked", 0.5, "pcie-acs-enabled"),
    _remedy(r"NCCL_P2P_(?:DISABLE=1|LEVEL=(?:LOC|0))", "pcie-acs-enabled", 0.5,
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
_ONE_OF_SEVERAL_RATIO = 0.4
_GOES_ROUND = re.compile(
    r"with (?:NCCL_(?:CROSS_NIC|NET_GDR_LEVEL|IB_CUDA_SUPPORT|P2P_|MNNVL|NVLS|COLLNET|SHM_)|"
    r"\w{3,8}_SOCKET_IFNAME=lo\b|UCX_IB_GPU_DIRECT|UCX_TLS|--mca|OMPI_MCA|systemctl stop|"
    r"iptables|ufw|setenforce|--privileged)"
)
"""Changes that switch off what fails, or give away more than is needed."""
_BENCHMARK = re.compile(r"\w_perf\b")
_FOLLOW = (
    Symptom.TRANSPORT_RETRY, Symptom.FLUSHED, Symptom.CONNECT, Symptom.VERBS_CALL,
    Symptom.REGISTRATION, Symptom.LOCAL_PROTECTION, Symptom.REMOTE_ERROR, Symptom.SOCKETS,
    "nccl-env-misuse", "peer-process-died",
)  # fmt: skip


def _check(facts: Facts) -> Iterator[Finding]:
    said: dict[str, Finding] = {}
    for found in (*_told(facts), *_measured(facts)):
        said.setdefault(found.cause, found)
    yield from said.values()


def _told(facts: Facts) -> Iterator[Finding]:
    """Yield what somebody says helped, where anything else tells of trouble."""
    words = [one.evidence.text for one in facts.of(Complaint)]
    words += [one.text for one in facts.of(Opening)]
    if not (_failures(facts) or any(map(tells_of_trouble, words))):
        return
    for opening in facts.of(Opening):
        file = opening.evidence.file
        told = [
            (trial, remedy) for trial in trials(opening.text)
            if (remedy := _UNDONE if trial.dropped else _remedy_of(facts, trial.tried))
            and not _failed_with(facts, trial, file)
        ]  # fmt: skip
        for trial, remedy in told:
            at_once = {other.cause for one, other in told if one.line == trial.line}
            how = f"the job runs {'without' if trial.dropped else 'with'} {trial.tried}"
            line = Evidence(file, trial.line, trial.text)
            found = _finding(remedy, f"{how}, says somebody", line)
            yield found if len(at_once) == 1 else _one_of_several(found)


def _failed_with(facts: Facts, trial: Trial, file: str) -> bool:
    """Return whether what failed had the change as well, so that this is not what helped."""
    name, _, value = trial.tried.partition("=")
    had = [
        one.evidence for one in job.settings(facts, name)
        if not trial.dropped and one.value == value
        and (one.evidence.file, one.evidence.line) != (file, trial.line)
    ]  # fmt: skip
    last: dict[str, int] = {}
    for one in _failures(facts):
        last[one.evidence.file] = max(one.evidence.place, last.get(one.evidence.file, 0))
    return any(last.get(with_it.file, 0) > with_it.place for with_it in had)


def _one_of_several(found: Finding) -> Finding:
    """Weaken what was changed together with other things: which of them helped is not said."""
    sure = min(found.confidence_ratio, _ONE_OF_SEVERAL_RATIO)
    own = suspect(found.cause, sure)
    return replace(
        found,
        confidence_ratio=sure,
        suspects=(own, *(one for one in found.suspects if one.cause != found.cause)),
        missing=("which of the changes helped: one run with each alone",),
    )


def _failures(facts: Facts) -> list[Fact]:
    return [
        *facts.of(CompletionError), *facts.of(CallFailed), *facts.of(CollectiveTimeout),
        *facts.of(GpuCallFailed),
    ]  # fmt: skip


def _measured(facts: Facts) -> Iterator[Finding]:
    """Yield what a run has that gave results, and that the one which failed has not."""
    runs = _Runs(facts)
    for run in facts.of(Command):
        if not runs.alone_gave_results(run):
            continue
        others = " ".join(one.command for one in facts.of(Command) if one is not run)
        for changed in changes(run.command):
            remedy = _remedy_of(facts, changed)
            if remedy and changed not in others and not _set_elsewhere(facts, run, changed):
                how = f"with {changed} a run gave results, without it none did"
                yield _finding(remedy, how, run.evidence)


def _remedy_of(facts: Facts, change: str) -> _Remedy | None:
    told = facts.any_of(CompletionError)
    fits = (one for one in _REMEDIES if one.change.match(change) and not (one.silent and told))
    return next(fits, None)


class _Runs:
    """Which runs of a benchmark gave results, and which failed or met and measured nothing.

    A run is what stands below a command, before the next one of its file, or above the first.
    """

    def __init__(self, facts: Facts) -> None:
        """Sort the outputs by the run that they are of."""
        self._starts: dict[str, list[int]] = {}
        for one in facts.of(Command):
            self._starts.setdefault(one.evidence.file, []).append(one.evidence.place)
        for places in self._starts.values():
            places.sort()
        self.measured = self._runs_of(facts.of(MeasuredCollective), facts.of(BenchmarkSummary))
        met = [one for one in facts.of(CommunicatorRank) if one.complete]
        self.waited = self._runs_of(facts.of(CollectiveTimeout))
        self.failed = self._runs_of(
            facts.of(CompletionError), facts.of(CallFailed), facts.of(GpuCallFailed)
        ) | (self._runs_of(met, facts.of(RingsConnected)) - self.measured)

    def alone_gave_results(self, command: Command) -> bool:
        """Return whether a command's run gave results while another failed.

        Ranks of a training wait for much that no benchmark meets.
        """
        run = self._run(command)
        waited = set() if _BENCHMARK.search(command.command) else self.waited
        return run in self.measured - self.failed - self.waited and bool(self.failed | waited)

    def _run(self, fact: Fact) -> tuple[str, int]:
        file, place = fact.evidence.file, fact.evidence.place
        return file, bisect_right(self._starts.get(file, []), place)

    def _runs_of(self, *kinds: Sequence[Fact]) -> set[tuple[str, int]]:
        return {self._run(one) for kind in kinds for one in kind}


def _set_elsewhere(facts: Facts, run: Command, change: str) -> bool:
    """Return whether the variable has that value in other outputs as well."""
    name, _, value = change.partition("=")
    return any(
        one.evidence.file != run.evidence.file and one.value == value
        for one in job.settings(facts, name)
    )


def _finding(remedy: _Remedy, how: str, line: Evidence) -> Finding:
    return Finding(
        cause=remedy.cause,
        severity=Severity.ERROR,
        confidence_ratio=remedy.sure_ratio,
        message=how,
        advice="mend what this goes round; a variable that hides a fault costs speed elsewhere"
        if _GOES_ROUND.search(how)
        else "keep the change, for every rank and beyond the next restart",
        evidence=(line,),
        next_command=known()[remedy.cause].command,
        missing=("the same run twice, with and without: nothing else changed",),
        explains=frozenset(_FOLLOW) - {remedy.cause},
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
