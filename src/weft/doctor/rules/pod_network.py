"""A pod's second network did not come, has no RDMA address, or shares its address.

What it checks: failures of the second network (Multus), pods that have only their first
interface though RDMA was given, tables without a GID of the pod's address, and addresses that
two pods share.
Why it matters: the pod starts and its RDMA adapter has no address: sockets, or an error at the
first transfer.
What to do: a network attachment and the resource it needs; an interface that is a child of the
RDMA device (macvlan, host-device, SR-IOV); IPAM over the whole cluster.
References: Multus CNI; NVIDIA network operator; whereabouts IPAM.
"""

import errno
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from weft.doctor import job, links
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
from weft.observe.facts.adapters import AdapterPort, Gid, GidCount
from weft.observe.facts.base import Fact, LinkLayer, PortState
from weft.observe.facts.benchmarks import TransferSetup
from weft.observe.facts.hosts import DeviceNode
from weft.observe.facts.interfaces import Interface
from weft.observe.facts.pods import (
    ClusterEvent,
    DaemonSetState,
    PodInterface,
    PodNetworkAsked,
    PodResource,
    PodState,
)
from weft.observe.facts.programs import Command
from weft.observe.facts.transports import BootstrapInterface
from weft.observe.facts.verbs import CallFailed, CompletionError

_MULTUS = re.compile(r"multus|network-?attachment|error adding (pod|container)|"
                     r"failed to (setup|set up|create pod sandbox|add "
                     r"network)|allocate ip|assigning ip|storage engine|\bipam ?(?:conn|client|"
                     r"config)|nic networks, found|number of gpus detected",
                     re.IGNORECASE)  # fmt: skip
_SANDBOX = "FailedCreatePodSandBox"
_FIRST = re.compile(r'plugin type="(?:calico|cilium|flannel|aws-cni|azure-vnet|bridge)')
"""A plug-in that gives pods their first network."""
_NETWORK_POD = re.compile(
    r"multus|whereabouts|nv-ipam|spiderpool|cni-plugins|(?:rdma|sriov|ib-sriov)-cni"
)
_OF_EACH = re.compile(r"""["']?\$\{?\w+\}?["']?$""")
"""How a loop over pods names the pod that it asks."""
_TAKEN = re.compile(
    r"ip[ _]conflict|duplicate (?:ip|address|allocation)|conflicts with mac", re.IGNORECASE
)
_PAIR_OF_POD = re.compile(r"\b(?:eth0|net\d{1,2})@if")
_SHARED_BY_HOSTS = re.compile(r"docker|virbr|br-|cni|cali|lo\b|veth|tun|usb|lxc|podman")
"""Interfaces that have the same address on every host by design."""
_OF_KERNEL = re.compile(r"(?:tunl|ip6tnl|sit|gre|gretap|erspan|ip_vti|ip6_vti|dummy|teql)\d")
"""What modules of the kernel put into every namespace."""
_ASKED_INSIDE = re.compile(r"\b(?:kubectl|oc|k)\b(?: .{0,80}?)? exec ")
_INFINIBAND = re.compile(
    r"(?:^|[/_-])(?:ib|infiniband|ipoib|resib)(?:$|[/_\d-])", re.IGNORECASE
)
_RDMA = re.compile(r"rdma|hostdev|sriov|mlnx|mellanox|roce", re.IGNORECASE)
_NO_ANSWER = 12
_WITH_ADDRESS = frozenset({"Running", "CrashLoopBackOff", "Error", "Terminating"})
"""How pods stand that hold an address; those that ended gave theirs back."""
_DOTTED = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_ALL_ZERO = (
    r"\b(?:gid table|gids?)\b.{0,40}\b(?:all zeros?|is empty|are empty)\b|"
    r"no (?:valid|usable) gid\b.{0,60}no address"
)
_TWICE = (
    r"(?:address|\bip\b)\W{0,2}[\d.]{7,15} (?:is|was) [\w ]{2,30}(?:by|to) (?:\d|two|"
    r"several|both|another|other)|duplicate (?:ip|address)"
)
_CHILD = Suspect(
    cause="k8s-macvlan-rdma-conflict",
    confidence_ratio=0.48,
    question="do several children share the adapter, each with other entries of its GID table?",
    next_command="ip -d link show type macvlan; show_gids   # on the node and in each pod",
)
_INDEX = Suspect(
    cause="gid-index-wrong",
    confidence_ratio=0.3,
    question="is the GID at the index in use the pod's own, in every pod?",
    next_command="show_gids; echo $NCCL_IB_GID_INDEX   # in each pod",
)
_PATH = suspect(
    "fabric-path-unreachable", 0.2, next_command="ping -I net1 <address of the peer's net1>"
)
_LOOK = (
    "kubectl get pod -o yaml | grep -A20 network-status; kubectl exec -- ip -br addr; show_gids"
)


def _check(facts: Facts) -> Iterator[Finding]:
    failed: list[Fact] = [
        one for one in facts.of(ClusterEvent)
        if (_MULTUS.search(one.message) or one.reason == _SANDBOX)
        and not _FIRST.search(one.message) and not _added_later(facts, one)
        and ("fail" in one.reason.lower() or one.warning
                                            or "fail" in one.message.lower())
    ]  # fmt: skip
    failed += [
        one for one in facts.of(DaemonSetState) if "multus" in one.name.lower()
        and (one.desired == 0 or one.ready < one.desired)
    ]  # fmt: skip
    ill = [
        one for one in facts.of(PodState)
        if _NETWORK_POD.search(one.pod)
        and (job.POD_FAILED.search(one.phase) or one.phase == "OOMKilled")
    ]  # fmt: skip
    ill_states = [
        one for one in facts.of(ClusterEvent)
        if one.kind == "NicClusterPolicy" and _NETWORK_POD.search(one.message)
    ]  # fmt: skip
    taken = [one for one in failed if _TAKEN.search(one.evidence.text)]
    if taken:
        yield _network("k8s-ipam-duplicate-address", taken, 0.8)
    elif failed:
        yield _network("k8s-secondary-network-failed", failed, 0.8)
    elif ill_states:
        yield _network("k8s-secondary-network-failed", [*ill_states], 0.55, Severity.WARNING)
    elif ill:
        yield _network("k8s-secondary-network-failed", [*ill], 0.55, Severity.WARNING)
    yield from _shared_addresses(facts)
    yield from _one_range(facts)
    yield from _same_in_table(facts)
    yield from _same_inside(facts)
    yield from _answered_twice(facts)
    yield from _same_of_ranks(facts)
    yield from _children(facts)
    if not failed:
        yield from _vanished(facts)
        yield from _not_made(facts)
        yield from _without_address(facts)
        yield from _no_first_gid(facts)
        yield from _no_gid(facts)


def _added_later(facts: Facts, failed: ClusterEvent) -> bool:
    """Return whether the same pod was given a second interface after a failure."""
    return any(
        one.reason == "AddedInterface" and one.subject == failed.subject
        and "eth0" not in one.message and one.evidence.file == failed.evidence.file
        and one.evidence.place > failed.evidence.place
        for one in facts.of(ClusterEvent)
    )  # fmt: skip


_WORDS = {
    "k8s-secondary-network-failed": "the pod's second network could not be set up",
    "k8s-ipam-duplicate-address": "two pods have the same address on their second network",
    "k8s-no-roce-gid": "the pod has an RDMA device and no interface of it: no usable GID",
}


def _network(
    cause: str, seen: list[Fact], confidence_ratio: float, severity: Severity = Severity.ERROR
) -> Finding:
    return finding(
        cause,
        seen,
        confidence_ratio,
        severity=severity,
        message=_WORDS[cause],
        advice="attachment, resource and IPAM must fit one another over the whole cluster",
        next_command=_LOOK,
        explains=("gid-link-local", "gid-table-sparse", "gid-index-wrong", Symptom.VERBS_CALL),
    )


def _one_range(facts: Facts) -> Iterator[Finding]:
    """Find a network whose nodes give out the same addresses, each without the others."""
    seen = [one for one in facts.of(ClusterEvent) if one.reason == "OneRangeOnEveryNode"]
    if seen:
        yield replace(
            _network("k8s-ipam-duplicate-address", [*seen], 0.55, Severity.WARNING),
            message="every node gives out the same range by itself: pods of two nodes will "
            "share addresses",
            advice="use an IPAM over the whole cluster (whereabouts, nv-ipam)",
            missing=("whether pods of more than one node use this network",),
        )


def _shared_addresses(facts: Facts) -> Iterator[Finding]:
    owners: dict[str, list[PodInterface]] = {}
    for one in facts.of(PodInterface):
        for address in one.addresses:
            if not address.startswith("fe80"):
                owners.setdefault(address.partition("/")[0], []).append(one)
    for same in owners.values():
        if len({one.pod for one in same}) > 1:
            yield _network("k8s-ipam-duplicate-address", [*same], 0.85)


def _same_in_table(facts: Facts) -> Iterator[Finding]:
    """Find an address that pods on two nodes have: of one node, they may share its own."""
    owners: dict[str, list[PodState]] = {}
    for one in facts.of(PodState):
        if one.address and one.node and one.phase in _WITH_ADDRESS:
            owners.setdefault(one.address, []).append(one)
    for address, same in owners.items():
        nodes = {one.node for one in same}
        called_by_address = all(_DOTTED.fullmatch(node) for node in nodes)
        own = called_by_address and address not in nodes and len({one.pod for one in same}) > 1
        if len(nodes) > 1 or own:
            yield replace(
                _network("k8s-ipam-duplicate-address", [*same], 0.85),
                message=f"two pods have the same address, {address}",
            )
            return


def _same_inside(facts: Facts) -> Iterator[Finding]:
    """Find an address that interfaces of two pods have, where each was asked itself."""
    pods = {one.host or _pod(one) for one in facts.of(Command) if "exec" in one.command}
    if any(map(_OF_EACH.match, pods)):  # in a loop over pods, each named before its answer
        pods |= {one.host for one in facts.of(Interface) if one.host}
    owners: dict[str, list[Interface]] = {}
    for one in facts.of(Interface):
        if one.host in pods and one.interface not in {"lo", "eth0"}:
            for address in one.addresses:
                if not address.startswith(("fe80", "127.")):
                    owners.setdefault(address, []).append(one)
    for same in owners.values():
        if len({one.host for one in same}) > 1:
            yield _network("k8s-ipam-duplicate-address", [*same], 0.85)


def _answered_twice(facts: Facts) -> Iterator[Finding]:
    """Find an address for which two adapters answer a pod."""
    several = job.answered_by_several(facts)
    if several and _in_a_pod(facts):
        yield _network("k8s-ipam-duplicate-address", [*several[0]], 0.8)


def _same_of_ranks(facts: Facts) -> Iterator[Finding]:
    """Find an address that two hosts or pods of a job have as their own."""
    owners: dict[str, list[BootstrapInterface | Gid]] = {}
    for one in facts.of(BootstrapInterface):
        if one.process.host and one.address and not _SHARED_BY_HOSTS.match(one.interface):
            owners.setdefault(one.address, []).append(one)
    for gid in facts.of(Gid):
        if gid.ipv4 and gid.interface.startswith("net"):
            owners.setdefault(gid.ipv4, []).append(gid)
    for address, same in owners.items():
        if OF_EACH_HOST.match(address) or address.startswith(("::1", "fe80")):
            continue
        if max(Counter(sort for sort, _ in {_owner(one) for one in same}).values()) > 1:
            yield _network("k8s-ipam-duplicate-address", [*same], 0.8)
    said = job.said(facts, _TWICE)
    if said:
        yield _network("k8s-ipam-duplicate-address", said, 0.8)


def _owner(one: BootstrapInterface | Gid) -> tuple[str, str]:
    """Return who says that an address is its own, and of which sort that name is."""
    if isinstance(one, BootstrapInterface):
        return "rank's host", one.process.host
    return ("table's host", one.host) if one.host else ("adapter", one.adapter)


def _children(facts: Facts) -> Iterator[Finding]:
    """Ask of children of the RDMA interface, where transfers between pods fail."""
    failed: list[Fact] = [
        *[one for one in facts.of(CompletionError) if one.status == _NO_ANSWER],
        *[one for one in facts.of(CallFailed) if "ibv_" in one.call],
    ]
    children = job.macvlan(facts)
    if children and failed:
        yield suspected(
            (_CHILD, _INDEX, _PATH),
            [*children, *failed],
            symptom=Symptom.TRANSPORT_RETRY,
            message="transfers of pods fail whose interfaces are children (macvlan) of the "
            "adapter's",
            advice="give each pod a function of its own (SR-IOV), or one child a parent",
        )


def _pod(command: Command) -> str:
    words = command.command.partition(" exec ")[2].split()
    return next((word for word in words if not word.startswith("-")), "")


def _without_address(facts: Facts) -> Iterator[Finding]:
    given = [
        one for one in facts.of(PodResource)
        if _RDMA.search(one.resource) and (one.request or one.limit)
    ]  # fmt: skip
    interfaces = Counter(one.pod for one in facts.of(PodInterface))
    alone = [
        one for one in facts.of(PodInterface)
        if interfaces[one.pod] == 1 and any(g.pod == one.pod for g in given)
    ]  # fmt: skip
    gids = facts.of(Gid)
    if alone and not gids:
        yield _network("k8s-no-roce-gid", [*alone, *given], 0.55, Severity.WARNING)
    elif not gids:
        yield from _first_alone(facts, [*given])


def _first_alone(facts: Facts, given: list[Fact]) -> Iterator[Finding]:
    """Find a pod with an RDMA device, of which the whole list of interfaces has only the first.

    Over InfiniBand, or where the job does use RDMA, that is as it should be.
    """
    nodes = [one for one in facts.of(DeviceNode) if one.present and "uverbs" in one.path]
    listed = facts.of(Interface)
    there = {one.interface for one in listed if not _OF_KERNEL.match(one.interface)}
    infiniband = links.layer(facts) is LinkLayer.INFINIBAND or any(
        _INFINIBAND.search(getattr(one, "resource", "")) for one in given
    )
    works = job.uses_rdma(facts) or facts.any_of(TransferSetup, CallFailed, CompletionError)
    asked = {one.pod for one in facts.of(PodNetworkAsked)}
    if not given or there != {"lo", "eth0"} or not _in_a_pod(facts):
        return
    if not (infiniband or works or asked):
        yield replace(
            _network("k8s-no-roce-gid", [*given, *nodes, *listed], 0.55, Severity.WARNING),
            missing=("whether the adapter is InfiniBand, which needs no interface in the pod",),
        )


def _vanished(facts: Facts) -> Iterator[Finding]:
    """Find interfaces that a pod's status lists and that are not in the pod any more."""
    there = {one.interface for one in facts.of(Interface)}
    listed = [one for one in facts.of(PodInterface) if one.interface]
    gone = [one for one in listed if one.interface not in there]
    inside = [one for one in facts.of(Interface) if one.interface == "eth0"]
    if gone and inside and _in_a_pod(facts) and len({one.pod for one in listed}) == 1:
        yield _network("k8s-secondary-network-failed", [*gone, *inside], 0.7)


def _not_made(facts: Facts) -> Iterator[Finding]:
    """Find a pod whose annotation asks for networks, and that has too few interfaces.

    Only where the loopback is listed too is the list a whole one.
    """
    by_pod: dict[str, list[Interface]] = {}
    for one in facts.of(Interface) if _in_a_pod(facts) else ():
        by_pod.setdefault(one.host or one.evidence.file, []).append(one)
    for pod, inside in by_pod.items():
        there = {one.interface for one in inside if not _OF_KERNEL.match(one.interface)}
        asked = [
            one for one in facts.of(PodNetworkAsked)
            if pod == one.pod or not one.pod or not inside[0].host
        ]  # fmt: skip
        second = there - {"lo", "eth0"}
        if len({one.pod for one in asked}) > 1:  # whose interfaces these are is not said
            continue
        if {"lo", "eth0"} <= there and len({one.network for one in asked}) > len(second):
            yield replace(
                _network("k8s-secondary-network-failed", [*asked, *inside],
                         0.65 if second else 0.75),
                message="the pod asks for networks whose interfaces are not in it",
                advice="make the pod anew; the node's logs of kubelet and Multus tell why its "
                "sandbox was made without them",
            )  # fmt: skip
            return


def _no_first_gid(facts: Facts) -> Iterator[Finding]:
    """Find an adapter without the GID that any interface of its gives it."""
    first = [
        one for one in facts.of(TransferSetup)
        if one.link_layer is LinkLayer.ETHERNET and one.gid_index == 0
        and links.is_empty(one.local_gid)
    ]  # fmt: skip
    if first and not facts.of(Gid):
        yield replace(
            _network("k8s-no-roce-gid", [*first], 0.7),
            message="the adapter's GID 0, which any interface of its gives it, is empty: no "
            "interface of it is where the program runs",
        )


def _no_gid(facts: Facts) -> Iterator[Finding]:
    """Find a pod whose RDMA device has no GID at all."""
    nodes = [one for one in facts.of(DeviceNode) if one.present and "uverbs" in one.path]
    bare = _nameless(facts)
    zeros = [one for one in facts.of(Gid) if links.is_empty(one.gid)]
    refused = [one for one in facts.of(CallFailed) if "modify_qp" in one.call]
    if zeros and len(zeros) == len(facts.of(Gid)) and (bare or refused) and _in_a_pod(facts):
        yield _network("k8s-no-roce-gid", [*zeros, *bare, *refused], 0.88 if bare else 0.75)
        return
    filled = {one.host for one in facts.of(Gid)}
    empty = [
        one for one in facts.of(GidCount) if one.entries == 0 and one.host not in filled
    ]  # fmt: skip
    if empty and (_in_a_pod(facts) or nodes):
        sure = 0.88 if bare else 0.7
        yield _network("k8s-no-roce-gid", [*empty, *nodes, *bare], sure)
        return
    inside = [one for one in facts.of(Interface) if one.interface != "lo"]
    first_only = bool(inside) and all(one.interface == "eth0" for one in inside)
    if bare and first_only and _in_a_pod(facts):
        yield _network("k8s-no-roce-gid", [*bare, *inside], 0.88)
    told = [
        one for one in job.said(facts, _ALL_ZERO)
        if _in_a_pod(facts) or re.search(r"\bpods?\b|container|namespace", one.evidence.text)
    ]  # fmt: skip
    if told and not bare:
        yield _network("k8s-no-roce-gid", told, 0.7)
    unnamed = _unnamed_ports(facts)
    if refused and unnamed and not bare and not zeros:
        yield _network("k8s-no-roce-gid", [*refused, *unnamed], 0.65)
        return
    ethernet = links.layer(facts) is not LinkLayer.INFINIBAND
    if refused and not bare and first_only and _in_a_pod(facts) and ethernet:
        yield _network("k8s-no-roce-gid", [*refused, *inside], 0.7)
    yield from _no_device_of_address(facts, inside if first_only and not bare else [])


def _no_device_of_address(facts: Facts, inside: list[Interface]) -> Iterator[Finding]:
    """Find a connection manager that knows no RDMA device for the pod's only interface."""
    unsaid = job.said(facts, r"unable to perform rdma_client|unexpected cm event")
    without = without_device(facts)
    if inside and (unsaid or without) and _in_a_pod(facts):
        yield _network("k8s-no-roce-gid", [*without, *unsaid, *inside], 0.7)


def without_device(facts: Facts) -> list[Fact]:
    """Return what shows that the connection manager found no RDMA device behind an address.

    It looks for one of the interface that the route leads over; a peer that does not answer
    ends the search otherwise (timed out, unreachable).
    """
    failed: list[Fact] = [
        one for one in facts.of(CallFailed) if one.call == "rdma_cm"
        and (one.errno == errno.ENODEV or (one.errno is None and one.error == "ADDR_ERROR"))
    ]  # fmt: skip
    told = job.said(facts, r"unable to resolve the addr with rdma_resolve_addr")
    return [*failed, *(one for one in told if one not in failed)]


def _unnamed_ports(facts: Facts) -> list[AdapterPort]:
    """Return RoCE ports that are up, if none has a GUID: their interface is elsewhere."""
    ports = [
        one for one in facts.of(AdapterPort)
        if one.state is PortState.ACTIVE and one.link_layer is LinkLayer.ETHERNET
    ]  # fmt: skip
    without = [one for one in ports if one.guid and not one.guid.strip("0x:")]
    return without if len(without) == len(ports) else []


def _nameless(facts: Facts) -> list[Fact]:
    """Return queue pairs that had an empty GID of their own, over Ethernet."""
    found: list[Fact] = [
        one for one in facts.of(CallFailed)
        if "modify_qp" in one.call and links.is_empty(one.local_gid)
    ]  # fmt: skip
    found += [
        one
        for one in facts.of(TransferSetup)
        if one.link_layer is LinkLayer.ETHERNET and links.is_empty(one.local_gid)
    ]
    return found


def _in_a_pod(facts: Facts) -> bool:
    """Return whether interfaces were listed inside a pod: its first is one end of a pair."""
    return any(
        _PAIR_OF_POD.search(one.evidence.text)
        or (one.driver == "veth" and one.interface == "eth0")
        for one in facts.of(Interface)
    ) or any(_ASKED_INSIDE.search(one.command) for one in facts.of(Command))


pod_network = Rule(causes=tuple(_WORDS), check=_check)
