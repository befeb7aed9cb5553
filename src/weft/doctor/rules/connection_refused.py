"""A TCP connection between ranks failed; what failed tells what to look at.

What it checks: errors of connecting: no route to host (a firewall says so too), aborted, timed
out, refused.
Why it matters: the ranks cannot meet, or lose one another in the middle of the run.
What to do: open all TCP ports between the hosts of the job; test with nc from host to host.
References: firewalld reject behaviour; connect(2); NCCL troubleshooting, networking issues.
"""

import errno
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
from weft.doctor.rules.bootstrap_interface import OF_EACH_HOST
from weft.observe.facts.aftermath import WorkSeen
from weft.observe.facts.base import Fact
from weft.observe.facts.communicators import CommunicatorRank
from weft.observe.facts.hosts import ServiceState
from weft.observe.facts.interfaces import HostReached, Interface, PacketFilter
from weft.observe.facts.programs import ProcessEnded
from weft.observe.facts.transports import BootstrapInterface
from weft.observe.facts.verbs import CallFailed, CompletionError

_NC = "nc -zv <other host> <port>; ping -c1 <other host>; firewall-cmd --list-all"
_SHUT_OUT = (
    r"unreachable remote|\bRC: ?110\b.{0,80}unreach|"
    r"the security group on either|net/ofi .{0,200}\berr: 113\b|"
    r"prov_err: (?:not|is) a directory"
)
"""What a fabric says of a peer that a security group keeps apart."""
_HUNG_UP = r"closed by remote peer|connection reset by peer|no route to host"
_LOST = re.compile(r"lost communication with a remote daemon|actor died unexpectedly")
"""What launchers say of processes that they do not reach any more, dead or not."""
_FILTERED = (
    r"-P INPUT (?:DROP|REJECT)|\bstop firewalld\b(?!.{0,80}(?:no change|n[o']t help|still))|"
    r"\bDenyAllIn[Bb]ound\b|"
    r"firewall[\w -]{0,20}(?:policy|rule).{0,40}block|self[- ]reference"
)
"""What speaks of a filter in the same line as the failure."""
_DOTTED = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
"""An address of IPv4: that there is no way for IPv6 is usual, and tried first."""
_NO_ANSWER = 12
_BY_KERNEL = "connection timed out"
"""How a kernel says that nobody answered: a program's own patience also ends over refusals."""
_WAIT_ALONE = frozenset({"NCCL", "nc", "NIXL", "Horovod"})
"""Who says that it timed out only where nobody answered at all."""
_ROCE_PORT = "4791"
_FIREWALL = {errno.EHOSTUNREACH, errno.ECONNABORTED}
_WORDS = {
    errno.EHOSTUNREACH: "no route to host",
    errno.ECONNABORTED: "connection abort",
    errno.ETIMEDOUT: "timed out",
    errno.ECONNREFUSED: "refused",
    errno.ECONNRESET: "reset by peer",
}


def _check(facts: Facts) -> Iterator[Finding]:
    failed = [one for one in facts.of(CallFailed) if _number(one) and _is_tcp(one)]
    if job.worked_after(facts, failed):  # it was tried again until the other was there
        failed = []
    shut = job.said(facts, _SHUT_OUT)
    if shut and not failed and job.said(facts, _TAKEN):
        return  # the peer was taken away
    if shut and not failed:
        yield _shut_out(shut)
        return
    filters = _filters(facts)
    at_home = _at_home(facts, failed)
    if at_home:
        yield _shut_in(at_home, filters)
        return
    yield from _over_fabric(facts, filters)
    blocked = [one for one in failed if _number(one) in _FIREWALL]
    blocked = blocked or _silent_though_up(facts, failed)
    if filters and not blocked:
        blocked = [one for one in failed if _dropped(one)]
    if filters and not blocked:
        yield from _cut_off(facts, filters)
    if blocked:
        answers = [one for one in facts.of(HostReached) if one.received > 0]
        tried = {_end(one) for one in blocked if one.peer}
        same = [
            one for one in answers
            if not tried or one.address in {"", *tried} or one.target in tried
        ]  # fmt: skip
        yield _blocked([*blocked], [*same], filters, elsewhere=bool(answers) and not same)
        return
    nowhere = [one for one in failed if _number(one) == errno.ENETUNREACH]
    if any(_DOTTED.search(one.peer) for one in nowhere):
        yield _without_way(nowhere)
        return
    lost = [one for one in failed if _number(one) in {errno.ECONNREFUSED, errno.ETIMEDOUT}]
    if lost and not _met_later(facts, lost) and not _merely_tried(facts, lost):
        yield _lost(lost)


def _shut_out(seen: list[Fact]) -> Finding:
    return finding(
        "host-firewall",
        seen,
        0.6,
        message="a peer is unreachable over the cloud's fabric, as behind a security group",
        advice="let the security group of the hosts pass all its own traffic, in and out",
        next_command="aws ec2 describe-security-groups; ping -c1 <other host>",
        missing=("the rules of the security group",),
        symptom=Symptom.CONNECT,
        explains=(Symptom.WATCHDOG,),
    )


_TAKEN = r"spot (?:instance )?interruption|interruption notice|instance .{0,30}terminat"
"""What a cloud says when it takes a machine back."""


def _blocked(
    failed: list[Fact], answers: list[Fact], filters: list[Fact], *, elsewhere: bool = False
) -> Finding:
    if elsewhere and not filters:
        return _at_another_address(failed)
    if not answers and not filters and _by_hand(failed):
        return _perhaps_off(failed)
    return finding(
        "host-firewall",
        [*failed, *answers, *filters],
        0.85 if answers and filters else 0.75 if answers or filters else 0.6,
        message="a host refuses TCP from its peers, which reads like a missing route",
        advice="open all TCP and UDP ports between the hosts of the job",
        next_command=_NC,
        missing=()
        if answers
        else ("whether ping reaches the host: then it is a firewall, not a route",),
        symptom=Symptom.CONNECT,
        explains=(Symptom.WATCHDOG,),
        suspects=_others("host-firewall"),
    )


def _by_hand(failed: list[Fact]) -> bool:
    """Return whether somebody only tried to connect, and no program of a job did."""
    return all(isinstance(one, CallFailed) and one.library == "nc" for one in failed)


def _perhaps_off(failed: list[Fact]) -> Finding:
    """Say of a host that was tried by hand that it may as well be switched off."""
    return finding(
        "host-firewall",
        failed,
        0.5,
        severity=Severity.WARNING,
        message="a host was not reached: its filter rejects TCP, or it is off or elsewhere",
        advice="ask whether it answers a ping: then it is a filter, else look at the host",
        next_command=_NC,
        missing=("whether ping reaches the host",),
        symptom=Symptom.CONNECT,
        suspects=_others("host-firewall"),
    )


def _shut_in(failed: list[CallFailed], filters: list[Fact]) -> Finding:
    """State that a host does not reach itself: no cable, route or switch lies between."""
    return finding(
        "host-firewall",
        [*failed, *filters],
        0.8 if filters else 0.7,
        message="a host gets no answer at an address of its own: its filter drops packets",
        advice="let the host's filter pass TCP from its own addresses and from its peers",
        next_command="iptables -nvL INPUT; nft list ruleset; nc -zv <own address> <port>",
        missing=() if filters else ("the rules of the host's filter",),
        symptom=Symptom.CONNECT,
        explains=(Symptom.WATCHDOG, "peer-process-died"),
    )


def _at_home(facts: Facts, failed: list[CallFailed]) -> list[CallFailed]:
    """Return connections that nobody answered, of a host to an address of its own alone.

    Within a host a port that nobody listens to refuses at once, so silence is a filter's.
    """
    owners: dict[str, set[str]] = {}
    for one in facts.of(BootstrapInterface):
        if not OF_EACH_HOST.match(one.address):
            owners.setdefault(one.address, set()).add(one.process.host)
    hosts = {one.process.host for one in failed} | set().union(*owners.values())
    if len(hosts) == 1:  # the interfaces that are listed beside are of the one that speaks
        for listed in facts.of(Interface):
            for address in listed.addresses if listed.host in {"", *hosts} else ():
                owners.setdefault(address.partition("/")[0], set()).update(hosts)
    return [
        one for one in failed
        if owners.get(_end(one)) == {one.process.host} and _number(one) == errno.ETIMEDOUT
        and not OF_EACH_HOST.match(_end(one))
    ]  # fmt: skip


def _end(failed: CallFailed) -> str:
    """Return the address or name of the peer, without its port."""
    peer = failed.peer.partition("<")[0]
    return peer.partition(":")[0] if peer.count(":") == 1 else peer


def _at_another_address(failed: list[Fact]) -> Finding:
    return finding(
        "bootstrap-wrong-interface",
        failed,
        0.65,
        message="a peer is tried at an address without a way to it, and answers at another",
        advice="name the interface of the network that connects the hosts "
        "(NCCL_SOCKET_IFNAME, GLOO_SOCKET_IFNAME, btl_tcp_if_include)",
        next_command="ip -br addr; ip route get <address>   # on both hosts",
        symptom=Symptom.CONNECT,
        explains=(Symptom.WATCHDOG,),
        suspects=_others("bootstrap-wrong-interface"),
    )


def _without_way(failed: list[CallFailed]) -> Finding:
    return finding(
        "bootstrap-wrong-interface",
        failed,
        0.6,
        subject=", ".join(dict.fromkeys(one.peer for one in failed if one.peer)),
        message="a peer offers an address of a network to which this host has no way",
        advice="name the interface of the network that connects the hosts "
        "(NCCL_SOCKET_IFNAME, GLOO_SOCKET_IFNAME, btl_tcp_if_include)",
        next_command="ip -br addr; ip route get <address>   # on both hosts",
        symptom=Symptom.CONNECT,
        explains=(Symptom.WATCHDOG,),
        suspects=(suspect("host-routing-ambiguous", 0.2),),
    )


def _lost(failed: list[CallFailed]) -> Finding:
    """Say who may be at fault where a connection was refused, or never answered."""
    silent = all(_number(one) == errno.ETIMEDOUT for one in failed) and any(
        one.library in _WAIT_ALONE
        or _BY_KERNEL in one.evidence.text.lower()
        or "daemon has unexpectedly failed" in one.error
        for one in failed
    )
    by_hand = _by_hand([*failed])
    refused = by_hand and all(_number(one) == errno.ECONNREFUSED for one in failed)
    given_up = Severity.WARNING if refused else Severity.ERROR  # nobody may need that port
    return suspected(
        _unanswered() if silent else _others(""),
        failed,
        symptom=Symptom.CONNECT,
        severity=given_up if _given_up(failed) else Severity.INFO,
        message="a connection tried by hand was not made"
        if by_hand
        else "a rank could not connect to another",
        advice="look whether the other rank was alive, then at firewall and interface",
    )


def _silent_though_up(facts: Facts, failed: list[CallFailed]) -> list[CallFailed]:
    """Return connections that nobody answered, to hosts that answer otherwise.

    A host that is up refuses what nobody listens to; silence is a filter's.
    """
    answers = [one for one in facts.of(HostReached) if one.received]
    up = {name for one in answers for name in (one.target, one.address) if name}
    return [
        one for one in failed
        if _end(one) in up
        and (one.library == "nc" or _BY_KERNEL in one.evidence.text.lower())
        and _number(one) == errno.ETIMEDOUT
    ]  # fmt: skip


def _dropped(failed: CallFailed) -> bool:
    """Return whether a connection failed as it does where its packets are dropped.

    A verbs benchmark does not say how it failed; whom it could not reach is all it prints.
    """
    return _number(failed) == errno.ETIMEDOUT or failed.library == "perftest"


def _cut_off(facts: Facts, filters: list[Fact]) -> Iterator[Finding]:
    """Find what else is lost where packets are filtered: daemons, actors, connections."""
    lost: list[Fact] = [
        one for one in facts.of(ProcessEnded)
        if not one.by_kernel and _LOST.search(one.evidence.text)
    ]  # fmt: skip
    lost += job.said(facts, _HUNG_UP)
    lost += [
        one
        for one in facts.of(CompletionError)
        if one.status == _NO_ANSWER and any(_ROCE_PORT in f.evidence.text for f in filters)
    ]
    if lost:
        yield replace(
            _blocked(lost, [], filters),
            confidence_ratio=0.65,
            explains=frozenset(
                {Symptom.WATCHDOG, Symptom.TRANSPORT_RETRY, "peer-process-died"}
            ),
        )


def _over_fabric(facts: Facts, filters: list[Fact]) -> Iterator[Finding]:
    """Find requests that a cloud's fabric ended in error: a peer is gone, or shut out."""
    ended = [
        one for one in job.said(
            facts,
            r"net/ofi request .{0,80}completed with error|"
            r"unresponsive re(ceiver|mote)|efa:cq:.{0,160}\berr: \d",
        )
        if "unrecoverable state" not in one.evidence.text  # of the local device
    ]  # fmt: skip
    grouped = [one for one in filters if getattr(one, "chain", "") == "security group"]
    if ended and grouped:
        yield _shut_out([*ended, *grouped])
    elif ended:
        yield suspected(
            (
                Suspect(
                    cause="peer-process-died",
                    confidence_ratio=0.4,
                    question="did the process or host of the peer end before this line?",
                    next_command="the peer's log; aws ec2 describe-instance-status",
                ),
                Suspect(
                    cause="host-firewall",
                    confidence_ratio=0.35,
                    question="does the security group pass all its own traffic, in and out?",
                    next_command="aws ec2 describe-security-groups",
                ),
            ),
            ended,
            symptom=Symptom.TRANSPORT_RETRY,
            message="a request over the cloud's fabric ended in error",
            advice="look for the rank that ended first; at the first request it is the "
            "security group",
        )


def _given_up(lost: list[CallFailed]) -> bool:
    """Return whether a connection failed for good: others are still tried again."""
    return any("retrying" not in one.evidence.text for one in lost)


def _met_later(facts: Facts, lost: list[CallFailed]) -> bool:
    """Return whether all that failed was tried again, and the ranks then met."""
    retried = all("retrying" in one.evidence.text for one in lost)
    return retried and any(one.complete for one in facts.of(CommunicatorRank))


def _merely_tried(facts: Facts, lost: list[CallFailed]) -> bool:
    """Return whether somebody only tried a port, which was refused while the job works."""
    tried = all(one.library == "nc" and _number(one) == errno.ECONNREFUSED for one in lost)
    return tried and any(one.kind == "step" for one in facts.of(WorkSeen))


def _filters(facts: Facts) -> list[Fact]:
    """Return what shows that a host filters the packets that come in."""
    policies: list[Fact] = [
        one for one in facts.of(PacketFilter)
        if one.policy in {"DROP", "REJECT"} and one.chain != "FORWARD"
    ]  # fmt: skip
    policies += job.said(facts, _FILTERED)
    services = [one for one in facts.of(ServiceState)
                if one.state == "active" and one.service in {"firewalld", "ufw"}]  # fmt: skip
    return [*policies, *services]


def _number(failed: CallFailed) -> int | None:
    if failed.errno:
        return failed.errno
    text = f"{failed.error} {failed.evidence.text}".lower()
    return next((number for number, words in _WORDS.items() if words in text), None)


def _is_tcp(failed: CallFailed) -> bool:
    words = f"{failed.call} {failed.error} {failed.evidence.text}".lower()
    return "ibv_" not in words and ("connect" in words or "socket" in words or "route" in words)


def _others(known: str) -> tuple[Suspect, ...]:
    suspects = (
        suspect("peer-process-died", 0.35),
        suspect("host-firewall", 0.3),
        suspect("bootstrap-wrong-interface", 0.25),
        suspect("host-routing-ambiguous", 0.15),
    )
    return tuple(one for one in suspects if one.cause != known)


def _unanswered() -> tuple[Suspect, ...]:
    """Return who may be to blame where nobody answers: a host that lives would refuse."""
    shares = {
        "host-firewall": 0.35,
        "bootstrap-wrong-interface": 0.3,
        "peer-process-died": 0.2,
        "host-routing-ambiguous": 0.15,
    }
    known = {one.cause: one for one in _others("")}
    return tuple(
        replace(known[cause], confidence_ratio=share) for cause, share in shares.items()
    )


connection_refused = Rule(causes=("host-firewall", "bootstrap-wrong-interface"), check=_check)
