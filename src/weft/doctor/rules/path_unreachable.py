"""A pair of adapters cannot reach one another: cabling, routing or a switch's configuration.

What it checks: queue pairs that could not be connected (network unreachable, timed out), and
benchmarks between two hosts that failed at once; pings that get no answer; a switch none of
whose BGP sessions stands.
Why it matters: channels pair adapters by index, so one pair without a path stops the job.
What to do: test the pair with ib_write_bw on the named adapters; look at cabling and routes;
NCCL pairs equal indices, so cable them alike.
References: NCCL troubleshooting, RoCE; ibv_modify_qp(3): 110 connectivity, 101 no route.
"""

import errno
import re
from collections.abc import Iterator

from weft.doctor import job, links
from weft.doctor.reach import reach
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
from weft.doctor.rules.pod_network import without_device
from weft.observe.facts.benchmarks import TransferSetup
from weft.observe.facts.communicators import CommunicatorRank, RingsConnected
from weft.observe.facts.interfaces import HostReached, LinkEvent, RoutingSession
from weft.observe.facts.programs import Command, Message
from weft.observe.facts.verbs import CallFailed, CompletionError

_UNREACHABLE = {
    errno.ENETUNREACH: ("unreachable", 0.75),
    errno.EHOSTUNREACH: ("no route", 0.7),
    errno.ETIMEDOUT: ("timed out", 0.75),
}
_OTHERS = ("UCX", "MPI")
"""Transports that fail before the collective library begins: that is another cause."""
_LATE = re.compile(
    r"MAD completed in error \(IB_TIMEOUT\)|Timeout while getting attribute|"
    r"send completed with error.{0,20}\(IB_TIMEOUT\)|bad status 110|_do_madrpc failed"
)
_NO_DEVICE = (
    Suspect(
        cause="k8s-no-roce-gid",
        confidence_ratio=0.4,
        question="is it a pod, and is its only interface one end of a pair (eth0@if)?",
        next_command="ip -d link; show_gids",
    ),
    Suspect(
        cause="hca-selection-wrong",
        confidence_ratio=0.3,
        question="which adapter owns the interface that the route leads over?",
        next_command="ip route get <peer>; rdma link",
    ),
    suspect("port-down", 0.2),
)
"""Who may be to blame where an address belongs to no RDMA device [rdma_resolve_addr(3)]."""
_PICKED = re.compile(r"\bbgp\b.*\|\s*(?:e?grep|include|inc|match|awk)\b")
_OF_A_PAIR = re.compile(r"--src-to-dst|--sgid-to-dgid|--slid\b.{0,40}--dlid\b")
_RAILS_APART = 0.5
"""How sure it is where pings show that it is the rails that are not joined."""
_LOOK = (
    "ib_write_bw -d <adapter> -x <GID index> on both hosts; ip route get <peer> oif <interface>"
)


_OTHERWISE = (
    suspect("gid-index-wrong", 0.3),
    suspect("rail-isolated", 0.2),
)


def _check(facts: Facts) -> Iterator[Finding]:
    failed = _refused(facts)
    if failed:
        yield _no_path(facts, failed)
        return
    yield from _not_resolved(facts)
    yield from _not_answered(facts)
    yield from _no_sessions(facts)
    yield from _unanswered(facts)
    yield from _no_way(facts)
    yield from _no_record(facts)
    yield from _session_lost(facts)


def _refused(facts: Facts) -> list[CallFailed]:
    """Return the set-ups of connections that the kernel refused for want of a path."""
    calls = [
        one for one in facts.of(CallFailed)
        if "modify_qp" in one.call or "create_ah" in one.call or "rdma_connect" in one.call
        or "resolve" in one.call
    ]  # fmt: skip
    if job.uses_mpi(facts) and not job.began(facts):
        calls = [one for one in calls if one.library.upper() not in _OTHERS]
    failed = [one for one in calls if _sure(one) and not _stays_on_link(one)]
    retried = [one for one in failed if "retrying" in one.evidence.text]
    if job.worked_after(facts, retried, CommunicatorRank, RingsConnected):
        failed = [one for one in failed if one not in retried]
    return failed


def _no_path(facts: Facts, failed: list[CallFailed]) -> Finding:
    apart = reach(facts).rails_apart
    return finding(
        "fabric-path-unreachable",
        failed,
        _RAILS_APART if apart else max(_sure(one) for one in failed),
        subject=", ".join(dict.fromkeys(one.peer for one in failed if one.peer)),
        message=f"no path {_same_ends(failed)}, says the kernel",
        advice="test this pair with ib_write_bw; check cables (equal ports) and routes",
        next_command=_LOOK,
        missing=()
        if facts.any_of(TransferSetup)
        else ("ib_write_bw between the two adapters",),
        explains=(
            Symptom.TRANSPORT_RETRY,
            Symptom.FLUSHED,
            Symptom.VERBS_CALL,
            Symptom.CONNECT,
            "mpi-ucx-not-nccl",
        ),
        suspects=_OTHERWISE,
    )


def _stays_on_link(one: CallFailed) -> bool:
    """Return whether an end has an address of its own link only: no path is missing then."""
    return links.is_link_local(one.local_gid or one.remote_gid)


def _not_resolved(facts: Facts) -> Iterator[Finding]:
    """Find connections that the connection manager could not make, for whatever reason."""
    failed = [one for one in facts.of(CallFailed) if one.call == "rdma_cm"]
    said = any(one.errno == errno.ENODEV for one in failed)
    without = without_device(facts) if said else []  # beside it the rest means the same
    failed = [one for one in failed if one not in without]
    if without and not job.worked_after(facts, without):
        yield suspected(
            _NO_DEVICE,
            without,
            symptom=Symptom.VERBS_CALL,
            message="the connection manager found no RDMA device behind the address",
            advice="use an address of an interface that the RDMA adapter owns, in a pod one of "
            "its own (macvlan, host-device, SR-IOV)",
        )
    if failed and not job.worked_after(facts, failed):
        yield suspected(
            (
                suspect("fabric-path-unreachable", 0.4, next_command=_LOOK),
                suspect(
                    "k8s-no-roce-gid",
                    0.3,
                    question="does the address used belong to an interface of the adapter?",
                    next_command="show_gids; ip -br addr",
                ),
                suspect("host-routing-ambiguous", 0.15),
            ),
            failed,
            symptom=Symptom.VERBS_CALL,
            message="the connection manager could not resolve or reach the peer's address",
            advice="use an address of the RDMA adapter's interface, and test it with ping -I",
        )


def _not_answered(facts: Facts) -> Iterator[Finding]:
    """Find a host that does not answer to an echo request of common size.

    What crosses the rails of a host is no missing path: rails need not be joined.
    """
    tried = reach(facts)
    across = [id(one) for one in tried.lost_across]
    lost = [one for one in tried.lost if id(one) not in across]
    if not lost:
        return
    unmade: list[CallFailed | CompletionError] = [
        one for one in facts.of(CallFailed) if "modify_qp" in one.call
    ]
    targets = {one.address or one.target for one in lost}
    broken = [
        one for one in facts.of(CompletionError)
        if links.plain(one.remote_gid) in targets or _same_way(one, lost)
    ]  # fmt: skip
    apart = tried.lost_alone or (tried.lost_within and tried.met_within)
    sure = 0.8 if broken else 0.65 if unmade or apart else 0.5
    yield finding(
        "fabric-path-unreachable",
        [*lost, *unmade, *broken],
        sure,
        severity=Severity.ERROR if unmade or broken else Severity.WARNING,
        subject=", ".join(dict.fromkeys(one.target for one in lost if one.target)),
        message="a host does not answer to ping over this path",
        advice="look at the route and the neighbour's address; some hosts drop echo requests",
        next_command=_LOOK,
        missing=("whether the other host drops echo requests by rule",),
        explains=(Symptom.VERBS_CALL, Symptom.TRANSPORT_RETRY),
    )


def _same_way(broken: CompletionError, lost: list[HostReached]) -> bool:
    """Return whether a transfer broke on the adapter from which nobody is reached."""
    return broken.adapter != "" and any(one.source == broken.adapter for one in lost)


def _no_sessions(facts: Facts) -> Iterator[Finding]:
    """Find a switch all of whose sessions of routing are down: it knows no way out."""
    by_host: dict[str, list[RoutingSession]] = {}
    if any(_PICKED.search(one.command) for one in facts.of(Command)):
        return  # of what was picked out nothing can be said to be all
    for one in facts.of(RoutingSession):
        by_host.setdefault(one.host or one.evidence.file, []).append(one)
    for host, sessions in by_host.items():
        down = [one for one in sessions if not one.established and not one.stopped]
        if len(down) == len(sessions):
            yield finding(
                "fabric-path-unreachable",
                down,
                0.75,
                severity=Severity.ERROR if facts.any_of(CallFailed, CompletionError)
                else Severity.WARNING,
                subject=host,
                message="no session of BGP stands on this switch: it has lost all its routes",
                advice="look at the links to the neighbours, their numbers and passwords",
                next_command="show ip bgp neighbors <neighbour>; show log | grep -i bgp",
                explains=(Symptom.TRANSPORT_RETRY, Symptom.CONNECT, "rail-isolated"),
            )  # fmt: skip


def _unanswered(facts: Facts) -> Iterator[Finding]:
    """Find questions of the subnet manager that nodes did not answer, where none left."""
    late = [
        one for one in facts.of(Message)
        if one.software in {"OpenSM", "infiniband-diags"} and _LATE.search(one.text)
    ]  # fmt: skip
    if late and not facts.of(LinkEvent):
        yield suspected(
            (
                Suspect(
                    cause="fabric-path-unreachable",
                    confidence_ratio=0.35,
                    question="which node lies at the end of the path in the next lines?",
                    next_command="ibtracert; smpquery -D nodeinfo <path>",
                ),
                suspect("ib-link-errors", 0.3),
            ),
            late,
            symptom=Symptom.VERBS_CALL,
            severity=Severity.WARNING,
            message="a node of the fabric does not answer",
            advice="look whether the node is booting or hung; then at the links towards it",
        )


def _no_way(facts: Facts) -> Iterator[Finding]:
    """Find switches that have no entry for a node, or a cable whose other end is silent."""
    told = [
        one for one in facts.of(Message)
        if one.software == "OpenSM" and one.text.startswith("no way: ")
    ]  # fmt: skip
    if told and not facts.of(LinkEvent):
        silent = all("remote side" in one.text for one in told)
        yield suspected(
            (
                suspect("fabric-path-unreachable", 0.4 if silent else 0.6),
                suspect("ib-link-errors", 0.25 if silent else 0.1),
                suspect("port-down", 0.2 if silent else 0.1),
            ),
            told,
            symptom=Symptom.VERBS_CALL,
            severity=Severity.WARNING,
            message="the node behind a switch port does not answer"
            if silent
            else "a switch has no entry that leads to a node",
            advice="look at this port's cable and what is behind it"
            if silent
            else "look whether the node left, then have the manager sweep anew (kill -HUP)",
        )


def _session_lost(facts: Facts) -> Iterator[Finding]:
    """Find sessions of routing that were lost for want of an answer and did not come back."""
    last = {
        (one.evidence.file, one.place): one for one in facts.of(Message)
        if one.software == "routing"
    }  # fmt: skip
    lost = [one for one in last.values() if "is lost" in one.text]
    if lost and not facts.of(RoutingSession):
        yield suspected(
            (
                suspect("fabric-path-unreachable", 0.5),
                suspect("ib-link-flap", 0.25),
                suspect("port-down", 0.15),
            ),
            lost,
            severity=Severity.WARNING,
            subject=", ".join(dict.fromkeys(one.place for one in lost[:4])),
            message="a switch lost a neighbour without an answer: its routes over it are gone",
            advice="look at the link to this neighbour and at the neighbour itself",
        )


def _no_record(facts: Facts) -> Iterator[Finding]:
    """Ask why the manager knows no path between two nodes that it was asked for."""
    asked = [
        one for one in facts.of(Command)
        if "saquery" in one.command and _OF_A_PAIR.search(one.command)
    ]  # fmt: skip
    none = job.said(facts, r"\bSA\(No records\)|status 0x0?300\b.{0,30}no records")
    if asked and none:
        yield suspected(
            (
                suspect("ib-pkey-membership", 0.4),
                suspect("fabric-path-unreachable", 0.35),
            ),
            [*asked, *none],
            symptom=Symptom.VERBS_CALL,
            severity=Severity.WARNING,
            message="the subnet manager gives no path between these two nodes",
            advice="compare the partition keys of both ports, and look whether both are known",
        )


def _sure(failed: CallFailed) -> float:
    words = f"{failed.error} {failed.evidence.text}".lower()
    for number, (text, sure) in _UNREACHABLE.items():
        if failed.errno == number or (failed.errno is None and text in words):
            return sure
    return 0.0


def _same_ends(failed: list[CallFailed]) -> str:
    first = failed[0]
    if first.local_gid and first.remote_gid:
        return f"between {first.local_gid} and {first.remote_gid}"
    if first.adapter and first.remote_gid:
        return f"from {first.adapter} to {first.remote_gid}"
    return f"from {first.adapter}" if first.adapter else "between two adapters"


path_unreachable = Rule(causes=("fabric-path-unreachable",), check=_check)
