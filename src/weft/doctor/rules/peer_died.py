"""A process of the job died first; errors of the others are its echo.

What it checks: deaths by the kernel, by signals and by faults, earlier than the network's
errors where both say when; broken connections that only a death explains. The kernel's log
tells of every process of a host and of every day: a death in it is the cause where the job has
errors of that time or lost a peer, or where it was one of its ranks; else it is a suspect.
Why it matters: the survivors' logs are long and about the network; the cause is one line in
another log.
What to do: read the log of the rank that died and its host's kernel log.
References: kernel OOM killer; signal(7); NCCL troubleshooting, remote process exited.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

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
from weft.observe.facts.base import Clock, Fact, Moment
from weft.observe.facts.collectives import CollectiveTimeout
from weft.observe.facts.communicators import CommunicatorRank
from weft.observe.facts.pods import ClusterEvent, PodState
from weft.observe.facts.programs import ProcessEnded, ProgramRaised
from weft.observe.facts.verbs import AdapterEvent, CallFailed, CompletionError

_REMOTE = frozenset({9, 10, 11})
_TERMINATED = (15, 2)
_POD_ENDS = frozenset({"OOMKilled", "Evicted", "NodeLost", "ContainerStatusUnknown"})
_POD_LOST = frozenset(
    {
        "Evicted",
        "NodeNotReady",
        "TaintManagerEviction",
        "Preempted",
        "NodeShutdown",
        "OOMKilling",
    }
)
"""Reasons of events after which a pod's processes are gone [Kubernetes, node controller]."""
_PATIENCE_S = 3600.0
"""A death shows in the others' errors at the latest when their longest patience ends: the watch
over collectives gives one up after 10 to 30 minutes [PyTorch, ProcessGroupNCCL]; twice that."""
_SERVICE = re.compile(
    r"systemd|dbus|sshd|kubelet|containerd|dockerd|crond?\b|rsyslog|snapd|node_export|prometheus|"
    r"dcgm|nv-hostengine|chrom|firefox|Xorg|gnome|apt|dpkg|unattended|tuned|polkit|telegraf|"
    r"fluent|filebeat|packagekit|fwupd|etcd|kube-|coredns|calico|grafana|mysqld|postgres|nginx"
)
"""Names of processes that are of no job, as those of services and desktops are."""
_OF_A_SERVICE = re.compile(
    rf"(?:^|[\s/])(?:{_SERVICE.pattern}|bird|bgpd|bgpcfgd|bfdd|frr|zebra|felix|haproxy|envoy|"
    r"client_loop|packet_write_wait|rsyncd|postfix|ntpd|chronyd|nfsd)[\w.-]*(?:\[\d+\])?:"
)
"""The name of a service where a line names who writes it: its connections are no job's."""
_HEAD = 120
_OF_CLUSTER = re.compile(
    r"kube-|multus|whereabouts|calico|cilium|coredns|nvidia-|gpu-operator|network-operator|"
    r"dcgm|sriov|rdma-shared|nv-ipam|prometheus|node-exporter|metrics-server"
)
"""Names of pods that serve the cluster and are of no job."""
_CLUSTER_ROW = re.compile(rf"(?:kube-system\s|(?:[\w-]+\s+)?(?:{_OF_CLUSTER.pattern}))")
_PEER_GONE = (
    r"closed by remote peer|remote process (has )?exited(?! or there)|broken pipe|"
    r"connection reset by (?:remote )?peer|declaring peer \S+ as dead|"
    r"bad queue pair \(qp\) number|"
    r"connection to the c10d store has failed|got 0 bytes|connection was likely closed|"
    r"horovod has been shut down"
)
_ABORTED = 6
"""What a process does to itself after an error: an echo where there are errors."""
_JOB = re.compile(
    r"python|^pt_|^ray|torch|train|_perf|mpi|orted|prted|vllm|sglang|megatron|deepspeed|"
    r"nccl|rccl|cuda|gpu|infer|llm|worker|^java$|^node$|main|a\.out|julia|lmp|gmx|vasp|hpl|osu_"
)
"""Names of processes that make up jobs, or may."""
_FOLLOW = (
    Symptom.TRANSPORT_RETRY, Symptom.FLUSHED, Symptom.WATCHDOG, Symptom.CONNECT,
    Symptom.REMOTE_ERROR, "host-firewall", "fabric-path-unreachable",
)  # fmt: skip


_DIAGNOSIS = re.compile(r"\bUCX +DIAG\b")


def _check(facts: Facts) -> Iterator[Finding]:
    errors: list[CompletionError | CollectiveTimeout | CallFailed] = [
        *facts.of(CompletionError),
        *facts.of(CollectiveTimeout),
        *facts.of(CallFailed),
    ]
    first = [one.moment for one in errors if one.moment is not None]
    closed = _closed(facts)
    if job.worked_after(facts, closed):
        closed = []
    ended = [
        one for one in facts.of(ProcessEnded)
        if (one.how in {"oom", "segfault", "signal"} or _left(facts, one)
            or _killed_before(one, errors))
        and one.signal not in _TERMINATED
        and not (one.signal == _ABORTED and errors)
        and not _of_itself(one, errors) and not _CLUSTER_ROW.match(one.evidence.text)
        and not _after(one.moment, first) and (errors or _of_the_job(facts, one))
    ]  # fmt: skip
    doubtful = [
        one for one in ended
        if one.by_kernel and not _counts(facts, one, first, suffers=bool(errors or closed))
    ]  # fmt: skip
    deaths: list[Fact] = [one for one in ended if one not in doubtful]
    deaths += _raised_before(facts, first)
    deaths += _pods_gone(facts, failing=bool(errors))
    if deaths:
        yield _died(deaths, [*errors], 0.85 if errors else 0.6)
        return
    remote = [one for one in facts.of(CompletionError) if one.status in _REMOTE]
    if closed and all(getattr(one, "library", "") == "PyTorch" for one in closed):
        yield _store_gone(closed)
    elif closed and not _unanswered(facts):  # the one that could not connect hangs up as well
        yield _hung_up(closed, alone=not errors)
    elif remote:
        yield _refused(facts, remote)
    elif doubtful:
        yield _perhaps(doubtful)
    else:
        yield from _evicted(facts)


def _killed_before(
    ended: ProcessEnded, errors: list[CompletionError | CollectiveTimeout | CallFailed]
) -> bool:
    """Return whether somebody noted a kill above all errors: below them he tidies up."""
    places = [one.evidence.place for one in errors if one.evidence.file == ended.evidence.file]
    return ended.how == "killed" and bool(places) and ended.evidence.place < min(places)


def _left(facts: Facts, ended: ProcessEnded) -> bool:
    """Return whether a rank left by an exception of its own, and others wait for it since."""
    waiting = {one.process.rank for one in facts.of(CollectiveTimeout)}
    return ended.how == "exception" and bool(waiting) and ended.rank not in waiting


def _raised_before(facts: Facts, errors: list[Moment]) -> list[Fact]:
    """Return exceptions of programs that are known to be before all errors of the network."""
    return [
        one for one in facts.of(ProgramRaised)
        if one.moment and not _after(one.moment, errors)
        and any(at.clock is one.moment.clock is not Clock.BOOT for at in errors)
        and not _long_before(one.moment, errors)
    ]  # fmt: skip


def _closed(facts: Facts) -> list[Fact]:
    """Return connections that the other end closed."""
    return [
        *[
            one for one in job.said(facts, _PEER_GONE)
            if not _OF_A_SERVICE.search(_head(one)) and "decommission" not in one.evidence.text
        ],
        *[
            one for one in facts.of(CallFailed)
            if one.library == "Gloo" and "closed by peer" in one.error.lower()
        ],
    ]  # fmt: skip


def _head(line: Fact) -> str:
    """Return what a line begins with, where the name of its program stands."""
    return line.evidence.text[:_HEAD]


def _pods_gone(facts: Facts, *, failing: bool) -> list[Fact]:
    """Return pods that ended, and those that were taken away while the job was failing."""
    ended = [
        one for one in facts.of(PodState)
        if {one.reason, one.phase} & _POD_ENDS and not _OF_CLUSTER.match(one.pod)
    ]  # fmt: skip
    lost = [
        one for one in facts.of(ClusterEvent)
        if failing and one.reason in _POD_LOST and "EmptyDir" not in one.message
    ]  # fmt: skip
    return [*ended, *lost]


def _evicted(facts: Facts) -> Iterator[Finding]:
    """Find pods that the cluster took away, where no error of the job is shown."""
    gone = [
        one for one in facts.of(ClusterEvent)
        if one.reason in {"Evicted", "MPIJobEvicted"} and one.warning is not False
        and not _OF_CLUSTER.match(one.subject)
    ]  # fmt: skip
    if gone:
        yield replace(
            _died([*gone], [], 0.5),
            severity=Severity.WARNING,
            message="the cluster evicted a pod: if it was the job's, its other ranks fail",
            advice="see to what its node ran short of; ask for it in the pod's requests",
            next_command="kubectl get pods -o wide; kubectl describe node <node>",
        )


def _refused(facts: Facts, remote: list[CompletionError]) -> Finding:
    """Say who may be at fault where the other end refused access to its memory."""
    return suspected(
        _SUSPECTS,
        [*remote, *[one for one in facts.of(AdapterEvent) if one.on == "qp"]],
        symptom=Symptom.REMOTE_ERROR,
        severity=Severity.WARNING
        if job.only_a_tool(facts, facts.of(CompletionError))
        else Severity.ERROR,
        message="the other end refused access to its memory, as a dead process does",
        advice="look at the other rank first: a killed peer gives this status too",
    )


def _counts(facts: Facts, death: ProcessEnded, errors: list[Moment], *, suffers: bool) -> bool:
    """Return whether a death that the kernel tells of is one that the job suffered from."""
    if _is_rank(facts, death):
        return True
    old = death.moment is not None and _long_before(death.moment, errors)
    return suffers and not old and not _SERVICE.match(death.name)


def _long_before(moment: Moment, errors: list[Moment]) -> bool:
    """Return whether a death is known to be older than any error that it could have caused."""
    same = [one.time_s for one in errors if one.clock is moment.clock is not Clock.BOOT]
    return bool(same) and moment.time_s < min(same) - _PATIENCE_S


def _perhaps(deaths: list[ProcessEnded]) -> Finding:
    """Ask of deaths in the kernel's log whether they were the job's."""
    suspect = Suspect(
        cause="peer-process-died",
        confidence_ratio=0.25,
        question="was it a process of this job, and did it die while the job ran?",
        next_command="dmesg -T | grep -i -e oom -e segfault; the times of the job's log",
    )
    return suspected(
        [suspect],
        deaths,
        severity=Severity.WARNING,
        message="the kernel's log tells of a process that died; nothing says that it was the "
        "job's",
        advice="compare its time and name with the job's",
    )


def _of_itself(
    ended: ProcessEnded, errors: list[CompletionError | CollectiveTimeout | CallFailed]
) -> bool:
    """Return whether a program that stands alone fell over its own error, told just above."""
    above = [one for one in errors if one.evidence.file == ended.evidence.file
             and one.evidence.place < ended.evidence.place]  # fmt: skip
    alone = all(getattr(one, "library", "") == "verbs program" for one in errors)
    return ended.how == "segfault" and alone and bool(above)


def _of_the_job(facts: Facts, ended: ProcessEnded) -> bool:
    """Return whether a process that died may be one of the job, by its number or its name.

    A name that no training, benchmark or launcher has is a stranger's: services die too.
    """
    if _is_rank(facts, ended):
        return True
    return not ended.name or _JOB.search(ended.name.lower()) is not None


def _is_rank(facts: Facts, ended: ProcessEnded) -> bool:
    """Return whether a process has the number of one that joined a communicator."""
    pids = {one.process.pid for one in facts.of(CommunicatorRank)}
    return ended.pid is not None and ended.pid in pids


def _after(moment: Moment | None, errors: list[Moment]) -> bool:
    """Return whether a death is known to be later than the first error, so its consequence."""
    if moment is None:
        return False
    same = [one.time_s for one in errors if one.clock is moment.clock is not Clock.BOOT]
    return bool(same) and moment.time_s > min(same) + 1.0


def _died(seen: list[Fact], echoes: list[Fact], confidence_ratio: float) -> Finding:
    return finding(
        "peer-process-died",
        [*seen, *echoes],
        confidence_ratio,
        severity=Severity.ERROR if echoes or confidence_ratio < 0.6 else Severity.WARNING,  # noqa: PLR2004 - see above
        message="a process of the job died; errors of the others follow from it",
        advice="read the log of the rank that died and its host's kernel log",
        next_command="dmesg -T | grep -i -e oom -e segfault -e Xid; kubectl get pods -o wide",
        missing=() if echoes else ("the logs of the other ranks, with times",),
        explains=_FOLLOW,
    )


def _hung_up(closed: list[Fact], *, alone: bool) -> Finding:
    """Say that a peer closed its connections; only said for diagnosis, it may be the end."""
    found = replace(
        _died(closed, [], 0.55),
        message="a peer closed its connections: its process ended, or died",
    )
    diagnosed = alone and all(_DIAGNOSIS.search(one.evidence.text) for one in closed)
    return replace(found, severity=Severity.WARNING) if diagnosed else found


def _unanswered(facts: Facts) -> bool:
    """Return whether a rank called another in vain until it gave up."""
    return any(
        "connect" in one.call.lower()
        and "timed out" in f"{one.error} {one.evidence.text}".lower()
        for one in facts.of(CallFailed)
    )


def _store_gone(closed: list[Fact]) -> Finding:
    """State that the ranks lost the one that keeps their store."""
    peers = dict.fromkeys(str(getattr(one, "peer", "")) for one in closed)
    return finding(
        "peer-process-died",
        closed,
        0.55,
        severity=Severity.WARNING,
        subject=", ".join([one for one in peers if one][:4]),
        message="the process that keeps the ranks' store went away (rank 0 or its launcher)",
        advice="read the log of rank 0; harmless if the job had ended by then",
        next_command="the log of rank 0, and its host's dmesg (oom, segfault, Xid)",
        missing=("the logs of rank 0 and of its host, with times",),
        explains=(Symptom.CONNECT,),
    )


_SUSPECTS = (
    suspect("peer-process-died", 0.45),
    Suspect(
        cause="hca-selection-wrong",
        confidence_ratio=0.3,
        question="is the adapter of the line one of the compute network, on both hosts?",
        next_command="ibv_devices; ibdev2netdev; nvidia-smi topo -m",
    ),
    suspect("nccl-version-or-env-mismatch", 0.2),
)

peer_died = Rule(causes=("peer-process-died",), check=_check)
