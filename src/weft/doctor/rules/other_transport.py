"""MPI's own transport failed before the collective library began.

What it checks: errors of UCX or libfabric in a log without a word of the collective library.
Where nothing names MPI they may be another program's: then it is a suspicion. A program of MPI
that had sent much over RoCE before a peer was lost is no such job: there packets are lost.
Why it matters: people tune NCCL for hours while mpirun's transport is what fails.
What to do: let MPI use TCP (--mca pml ob1 --mca btl tcp,self or UCX_TLS=tcp): it only starts
the ranks. Then see whether the collective library works.
References: UCX FAQ; Open MPI, selecting a PML and BTL.
"""

import errno
import re
from collections.abc import Iterator

from weft.doctor import job
from weft.doctor.rule import (
    Facts,
    Finding,
    Rule,
    Severity,
    Suspect,
    Symptom,
    finding,
    suspect,
    suspected,
)
from weft.observe.facts.base import Fact, LinkLayer
from weft.observe.facts.benchmarks import (
    MeasuredCollective,
    MeasuredLatency,
    MeasuredTransfer,
)
from weft.observe.facts.pods import ClusterEvent
from weft.observe.facts.programs import Command, Message
from weft.observe.facts.reading import Opening
from weft.observe.facts.verbs import CallFailed, CompletionError

_ON_THE_WAY = (
    suspect("roce-packet-loss", 0.3),
    suspect("fabric-path-unreachable", 0.25),
)
_SHARED = re.compile(
    r"\bmm_(?:posix|sysv|ep|xpmem)\b|\bshm(?:_open|at)\b|shared memory", re.IGNORECASE
)
_LACKING = re.compile(
    r"DEVX requested but not supported|not supported by (?:the )?provider",
    re.IGNORECASE,
)
"""Memory that the processes of a host share, and what an adapter's provider cannot do."""
_LENGTH_ERROR = 1
_NO_ANSWER = 12
_OF_MPI = frozenset({"OSU", "IMB"})
_BY_SIZE = "by size"
_FOREIGN = ("ucx", "openmpi", "open mpi", "mpi", "pmix")


_BESIDE = (
    Suspect(
        cause="hca-selection-wrong",
        confidence_ratio=0.25,
        question="does UCX_NET_DEVICES name the adapters beside the GPUs, and those alone?",
        next_command="ucx_info -d | grep -e Transport -e Device; env | grep UCX_",
    ),
)


_NOT_SHARED = r"cuIpcOpenMemHandle|cuda_ipc\b.{0,80}\b(?:fail|invalid)|rocm_ipc.{0,80}fail"
"""What UCX says when it cannot open the memory of another process's GPU."""
_OF_OTHERS = (
    suspect("mpi-ucx-not-nccl", 0.4),
    *_ON_THE_WAY,
)
_PROGRAM = re.compile(
    r"\bO(?:pen ?)?MPI\b|\bMPICH\b|\bosu_\w|\bIMB-|\bmpi(?:run|exec)\b|\bompi_\w|\bMPI_[A-Z]\w"
)
_COLLECTIVE_LIBRARY = re.compile(r"nccl|rccl|torch|horovod", re.IGNORECASE)
_UNSENT = (
    suspect("mpi-ucx-not-nccl", 0.45),
    suspect("fabric-path-unreachable", 0.2),
    suspect("gid-index-wrong", 0.15),
)
"""Where a call failed before anything was sent, nothing was lost on the way."""
_ISOLATED = suspect("container-gpu-isolation", 0.45)


def _under_load(facts: Facts, seen: list[Fact]) -> bool:
    """Return whether a program of MPI alone lost a peer over RoCE after it had sent a lot."""
    lost = [
        one for one in seen
        if isinstance(one, CompletionError) and one.status == _NO_ANSWER
        and one.link_layer is LinkLayer.ETHERNET
    ]  # fmt: skip
    if not lost or len(lost) < len([one for one in seen if isinstance(one, CompletionError)]):
        return False
    first = {one.evidence.file: one.evidence.place for one in reversed(lost)}
    measured: list[Fact] = [*facts.of(MeasuredLatency), *facts.of(MeasuredTransfer)]
    above = any(
        one.evidence.place < first.get(one.evidence.file, 0) for one in measured
        if getattr(one, "benchmark", "") in _OF_MPI
    )  # fmt: skip
    told = any(one.software == _BY_SIZE for one in facts.of(Message))
    words = [one.text for one in facts.of(Opening)]
    words += [one.text for one in facts.of(Message)]
    words += [one.command for one in facts.of(Command)]
    if any(map(_COLLECTIVE_LIBRARY.search, words)) or facts.any_of(MeasuredCollective):
        return False  # a job that MPI only starts
    return above or (told and any(map(_PROGRAM.search, words)))


def _lossy(seen: list[Fact]) -> Finding:
    return finding(
        "roce-packet-loss",
        seen,
        0.55,
        message="small or few transfers of MPI pass over RoCE, and large or many are lost",
        advice="make every hop lossless in one priority (PFC, ECN), or set the adapters up for "
        "loss; it is no fault of UCX",
        next_command="ethtool -S <interface> | grep -e discard -e pause -e out_of; mlnx_qos -i "
        "<interface>",
        missing=("counters of loss and pauses, before and after such a run",),
        explains=(Symptom.TRANSPORT_RETRY, Symptom.FLUSHED),
        suspects=(
            suspect("fabric-path-unreachable", 0.25),
            suspect("peer-process-died", 0.2),
            suspect("mpi-ucx-not-nccl", 0.15),
        ),
    )


def _undecided(seen: list[Fact], shared: list[Fact]) -> Finding:
    """Say who may be meant where nothing tells that MPI is the user of the transport."""
    moved = any(isinstance(one, (CallFailed, CompletionError)) for one in seen)
    unsent = all(isinstance(one, CallFailed) for one in seen)
    return suspected(
        (_ISOLATED, *_OF_OTHERS) if shared else _UNSENT if unsent else _OF_OTHERS,
        seen,
        severity=Severity.ERROR if moved or shared else Severity.INFO,
        message="a transport beside the collective library failed",
        advice="see which program uses it, and whether the collective library fails as well",
    )


def _peer_lost(seen: list[Fact]) -> Iterator[Finding]:
    """Find transfers of data between agents that ended without a word of the adapters."""
    yield finding(
        "peer-process-died",
        seen,
        0.35,
        message="transfers to another agent ended in error; the agent, or the way, is gone",
        advice="read the other agent's log first; then test the path between the two hosts",
        next_command="kubectl logs <other pod> --previous; ib_write_bw -d <adapter> <host>",
        missing=("the other agent's log of the same minute", "UCX_LOG_LEVEL=info output"),
        suspects=(*_ON_THE_WAY, *_BESIDE),
    )


def _of_the_launcher(call: CallFailed) -> bool:
    """Return whether it is a connection over TCP that nobody answered: no transport's fault."""
    return call.call == "connect" and call.errno in {errno.ETIMEDOUT, errno.EHOSTUNREACH}


def _says_why(line: Fact) -> bool:
    """Return whether a line names what fails, which is no matter of MPI but of other rules."""
    length = isinstance(line, CompletionError) and line.status == _LENGTH_ERROR
    return length or bool(
        _SHARED.search(line.evidence.text) or _LACKING.search(line.evidence.text)
    )


def _failures(facts: Facts) -> list[Fact]:
    """Return what failed beside the collective library, and does not say itself why."""
    ended: list[CallFailed | CompletionError] = [
        *(one for one in facts.of(CallFailed) if not _of_the_launcher(one)),
        *facts.of(CompletionError),
    ]
    errors = [one for one in facts.of(Message) if one.level == "error"]
    foreign = [
        *(one for one in ended if one.library.lower() in _FOREIGN),
        *(one for one in errors if one.software.lower() in _FOREIGN),
    ]
    return [one for one in foreign if not _says_why(one)]


def _without_waiting(facts: Facts, seen: list[Fact]) -> list[Fact]:
    """Leave out what a launcher says of workers that have no host yet."""
    if not any(one.reason == "FailedScheduling" for one in facts.of(ClusterEvent)):
        return seen
    return [one for one in seen if "start one or more daemons" not in one.evidence.text]


def _check(facts: Facts) -> Iterator[Finding]:
    seen = _failures(facts)
    calls = [one for one in seen if isinstance(one, CallFailed)]
    if len(calls) == len(seen) and job.went_on(facts, calls):
        return
    moved = [
        one for one in facts.of(Message) if one.software == "NIXL" and one.level == "error"
    ]
    if moved:  # NIXL uses UCX to carry data, not to start ranks
        if not facts.any_of(CallFailed, CompletionError):
            yield from _peer_lost([*moved, *seen])
        return
    seen = _without_waiting(facts, seen)
    if not seen or job.began(facts) or job.macvlan(facts):  # of children pod_network asks
        return
    shared = job.said(facts, _NOT_SHARED)
    if not shared and _under_load(facts, seen):
        yield _lossy(seen)
    elif shared or not job.uses_mpi(facts):
        yield _undecided(seen, shared)
    else:
        crashed = any("crashed in" in one.text for one in facts.of(Message))
        yield finding(
            "mpi-ucx-not-nccl",
            seen,
            0.7 if crashed else 0.6,
            message="MPI's own transport failed; the collective library had not begun",
            advice="start the ranks over TCP: --mca pml ob1 --mca btl tcp,self, or UCX_TLS=tcp",
            next_command="mpirun --mca pml ob1 --mca btl tcp,self ...   # as before",
            missing=("NCCL_DEBUG=INFO output of a run with MPI over TCP",),
            explains=(Symptom.TRANSPORT_RETRY, Symptom.VERBS_CALL, "gid-index-wrong",
                      "fabric-path-unreachable",
                      *(("peer-process-died",) if crashed else ())),
            suspects=_ON_THE_WAY,
        )  # fmt: skip


other_transport = Rule(causes=("mpi-ucx-not-nccl", "roce-packet-loss"), check=_check)
