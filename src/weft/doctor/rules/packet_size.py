"""The MTU differs between ends, or is smaller than it could be.

What it checks: the active MTU of the ports of the job; length errors (status 1) and access
violations on queue pairs, which a difference causes; 1024 on all Ethernet ports, which is slow
by a few per cent only.
Why it matters: where the ends differ small messages pass and large ones fail or hang.
What to do: one MTU on all hosts and switches: 4200 or 9000 on Ethernet for RDMA.
References: ibv_devinfo(1), active_mtu; NCCL release notes; RoCE deployment guides.
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
    Symptom,
    finding,
    suspect,
    suspected,
)
from weft.observe.facts.adapters import AdapterPort
from weft.observe.facts.base import Fact, LinkLayer, PortState
from weft.observe.facts.benchmarks import (
    MeasuredCollective,
    MeasuredTransfer,
    TransferSetup,
)
from weft.observe.facts.interfaces import HostReached, Interface
from weft.observe.facts.pods import ClusterEvent
from weft.observe.facts.reading import Opening
from weft.observe.facts.verbs import AdapterEvent, CallFailed, CompletionError

_APART = (
    r"vport mtu \d+ is different than netdev mtu|failed to set mtu \d+ to port|"
    r"setportmtu: (?:error|fail)"
)
"""Drivers of adapters and switches on a port that does not have the size it was to have."""
_BEYOND_MASTER = re.compile(r"invalid MTU \d+, must be")
_LENGTH_ERROR = 1
_TO_READY = re.compile(r"modify_qp|\bRTR\b", re.IGNORECASE)
_OWN_QUEUE_PAIR = r"\bQP\b.{0,40}\bRTR\b.{0,80}(?:EINVAL|errno[= ]22|invalid argument)"
_OF_GPU = re.compile(r"\bGIN\b|GDAKI|\bgin_|_gin\b")
_HANGS = re.compile(
    r"\b(?:hangs?|hung|hanging|stuck|killed after|nothing (?:more|further|after|else)|"
    r"no (?:more|further) (?:output|lines?|progress)|never (?:ends|returns|finishes|completes)|"
    r"does(?: not|n't) (?:end|return|finish|complete))\b|\^Cmpirun",
    re.IGNORECASE,
)
_REMOTE = frozenset({9, 10, 11})
_SMALL_BYTES = 1024
_JUMBO_BYTES = 4000
_IN_USE = frozenset({PortState.ACTIVE, PortState.UNKNOWN})
_RATHER_ETHERNET = frozenset({LinkLayer.ETHERNET, LinkLayer.UNKNOWN})
"""What a line that was picked out (``grep active_mtu``) does not say is not held against it."""
_NO_RAIL = re.compile(r"lo\b|eth0|docker|veth|cni|cali|flannel|br-|virbr|eno|mgmt|tun|vxlan")
_LOOK = "ibv_devinfo | grep -e hca_id -e active_mtu; ip link | grep mtu   # on both hosts"
_ADVICE = "set one MTU on all hosts and switch ports (4200 or 9000 on Ethernet)"


def _check(facts: Facts) -> Iterator[Finding]:
    broken: list[Fact] = [
        one for one in facts.of(CompletionError) if one.status == _LENGTH_ERROR
    ]
    remote = any(one.status in _REMOTE for one in facts.of(CompletionError))
    if not remote:  # then the other end's status says more than this end's event
        broken += [one for one in facts.of(AdapterEvent) if "access violation" in one.event]
    yield from _of_interfaces(facts, broken)
    yield from _told(facts)
    lost = _too_large(facts)
    if lost:
        yield _differs([*lost, *broken], 0.85 if broken else 0.75)
        return
    ports = _ports(facts)
    sizes = {one.active_mtu_bytes for one in ports}
    if len(sizes) > 1 and (broken or len({one.host or one.evidence.file for one in ports}) > 1):
        yield _differs([*broken, *ports], 0.85 if broken else 0.65)
    elif broken:
        refused = not any(isinstance(one, CompletionError) for one in broken)
        yield suspected(
            (*_SUSPECTS, _NO_ACCESS) if refused else _SUSPECTS,
            broken,
            symptom=Symptom.LENGTH_ERROR,
            message="a queue pair was refused access to memory"
            if refused
            else "a message did not fit what the receiver had made ready",
            advice="compare active_mtu on both hosts, then the versions and programs "
            "of the ranks",
        )
    elif assumed := _assumes_more(facts, ports):
        yield _assumed(assumed)
    elif sizes == {_SMALL_BYTES} or _tests_are_small(facts, sizes):
        yield from _small(facts, ports)


def _assumes_more(facts: Facts, ports: list[AdapterPort]) -> list[Fact]:
    """Return what shows that a program asks for larger packets than small ports have.

    A plug-in's own queue pairs that are refused, or a transport that makes its queue pairs on
    the GPU, where the job came no further.
    """
    small = [one for one in ports if one.active_mtu_bytes == _SMALL_BYTES]
    small = small if len(small) == len(ports) else []
    refused = [
        one for one in facts.of(CallFailed)
        if one.errno == errno.EINVAL and _TO_READY.search(f"{one.call} {one.evidence.text}")
    ]  # fmt: skip
    on_gpu = [] if refused or facts.any_of(CompletionError) else _made_on_gpu(facts)
    told: list[Fact] = [*refused, *job.said(facts, _OWN_QUEUE_PAIR), *on_gpu]
    return [*told, *small] if told and small else []


def _made_on_gpu(facts: Facts) -> list[Fact]:
    """Return openings that tell of transfers started by GPUs, and of a job that hangs."""
    return [
        one for one in facts.of(Opening)
        if _OF_GPU.search(one.text) and _HANGS.search(one.text)
    ]  # fmt: skip


def _assumed(seen: list[Fact]) -> Finding:
    return suspected(
        (
            suspect("mtu-mismatch", 0.48, next_command=_LOOK),
            suspect("gid-index-wrong", 0.25),
            suspect("verbs-provider-incompatible", 0.15),
        ),
        seen,
        symptom=Symptom.VERBS_CALL,
        message="the ports have packets of 1024 bytes; a program that asks for 4096 cannot "
        "connect",
        advice="set jumbo frames (4200 or 9000), or a version that asks the port for its MTU",
    )


def _told(facts: Facts) -> Iterator[Finding]:
    """Find sizes that a driver, a switch or a fabric's manager says it could not reconcile."""
    apart = job.said(facts, _APART)
    if apart:
        yield replace(_differs(apart, 0.6), severity=Severity.WARNING)
    asked = [one for one in facts.of(ClusterEvent) if _BEYOND_MASTER.search(one.message)]
    if asked:
        found = _differs([*asked], 0.8)
        yield replace(
            found,
            message="a pod's network asks for packets larger than its parent interface takes",
            advice="raise the MTU of the parent interface on the nodes, or lower the network's",
            next_command="kubectl get net-attach-def -A -o yaml | grep -i mtu; ip link",
            explains=found.explains | {"k8s-secondary-network-failed"},
        )
    refused = job.said(facts, r"validate_port_caps.{0,60}failed for mgid")
    if refused:
        yield suspected(
            (
                suspect("mtu-mismatch", 0.45, next_command="smpquery portinfo <lid> 1"),
                suspect("ib-link-degraded-speed", 0.25),
                suspect("ib-pkey-membership", 0.15),
            ),
            refused,
            severity=Severity.WARNING,
            message="a port may not join a multicast group: its MTU or rate is below the "
            "group's, or the request is not whole",
            advice="compare active MTU and rate of the port with the group's (saquery -g)",
        )


def _of_interfaces(facts: Facts, broken: list[Fact]) -> Iterator[Finding]:
    """Find one interface whose packets are large on one host and small on another."""
    sizes: dict[str, dict[str, Interface]] = {}
    for one in facts.of(Interface):
        if one.mtu_bytes and one.up is not False and not _NO_RAIL.match(one.interface):
            sizes.setdefault(one.interface, {}).setdefault(one.host or one.evidence.file, one)
    for hosts in sizes.values():
        seen = sorted(hosts.values(), key=lambda one: one.mtu_bytes or 0)
        least, most = seen[0].mtu_bytes or 0, seen[-1].mtu_bytes or 0
        if len(hosts) > 1 and most >= _JUMBO_BYTES and 2 * least < most:
            yield replace(
                _differs([*broken, seen[0], seen[-1]], 0.75 if broken else 0.6),
                severity=Severity.ERROR if broken else Severity.WARNING,
            )
            return


def _too_large(facts: Facts) -> list[Fact]:
    """Return echo requests of jumbo size that do not arrive whole."""
    answered = {one.target for one in facts.of(HostReached) if one.received}
    return [
        one for one in facts.of(HostReached)
        if one.whole and not one.received and (one.size_bytes or 0) >= _JUMBO_BYTES
        and (one.mtu_bytes is not None or one.target in answered)
    ]  # fmt: skip


def _ports(facts: Facts) -> list[AdapterPort]:
    used = {one.adapter for one in job.verbs_adapters(facts)}
    if not used and _has_infiniband(facts):
        return []  # there Ethernet ports carry what is not of the job
    return [
        one for one in facts.of(AdapterPort)
        if one.state in _IN_USE and one.link_layer in _RATHER_ETHERNET
        and one.active_mtu_bytes and (not used or not one.adapter or one.adapter in used)
    ]  # fmt: skip


def _has_infiniband(facts: Facts) -> bool:
    return any(
        one.link_layer is LinkLayer.INFINIBAND and one.state is PortState.ACTIVE
        for one in facts.of(AdapterPort)
    )


def _tests_are_small(facts: Facts, sizes: set[int | None]) -> bool:
    return not sizes and any(
        one.mtu_bytes == _SMALL_BYTES and _over_ethernet(one) for one in facts.of(TransferSetup)
    )


def _over_ethernet(setup: TransferSetup) -> bool:
    """Return whether a benchmark ran over RoCE; the kernel names such adapters after it."""
    unsaid = setup.link_layer is LinkLayer.UNKNOWN
    return setup.link_layer is LinkLayer.ETHERNET or (
        unsaid and setup.adapter.startswith("roce")
    )


def _differs(seen: list[Fact], confidence_ratio: float) -> Finding:
    return finding(
        "mtu-mismatch",
        seen,
        confidence_ratio,
        message="the MTU differs between ends, or on the way between them",
        advice=_ADVICE,
        next_command=_LOOK,
        explains=(
            Symptom.LENGTH_ERROR,
            Symptom.TRANSPORT_RETRY,
            Symptom.WATCHDOG,
            Symptom.FLUSHED,
            "roce-mtu-small",
        ),
    )


def _small(facts: Facts, ports: list[AdapterPort]) -> Iterator[Finding]:
    setups = [one for one in facts.of(TransferSetup) if one.mtu_bytes == _SMALL_BYTES]
    yield finding(
        "roce-mtu-small",
        [*ports, *setups],
        0.7 if setups else 0.55,
        severity=Severity.WARNING if setups or _in_use(facts) else Severity.INFO,
        message="RoCE runs with packets of 1024 bytes: Ethernet MTU 1500",
        advice="jumbo frames on hosts and switches bring a few per cent; no fault by itself",
        next_command=_LOOK,
    )


def _in_use(facts: Facts) -> bool:
    """Return whether a job or a benchmark uses the ports, or interfaces were looked at too.

    Of a port that is listed alone it says little.
    """
    used = job.verbs_adapters(facts) or facts.any_of(MeasuredTransfer, MeasuredCollective)
    return bool(used) or facts.any_of(Interface)


_SUSPECTS = (
    suspect("mtu-mismatch", 0.45, next_command=_LOOK),
    suspect("nccl-version-or-env-mismatch", 0.25),
    suspect("app-collective-mismatch", 0.2),
)

_NO_ACCESS = suspect("gdr-access-blocked", 0.3)
"""Where an event tells of an access that was refused, and no status of a length."""

packet_size = Rule(causes=("mtu-mismatch", "roce-mtu-small"), check=_check)
