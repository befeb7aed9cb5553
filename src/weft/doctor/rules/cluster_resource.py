"""A pod waits for an RDMA resource that its cluster does not have, or has given away.

What it checks: events that name insufficient resources, against what the nodes offer and have
allocated, what the pods ask for and which pods the nodes list. Zero of a resource that nobody
asks for, and no plug-in is configured to offer, means nothing.
Why it matters: the pod never starts, or starts without its adapter.
What to do: by case: correct the name, wait or add nodes, restart the device plug-in and
kubelet. References: Kubernetes device plug-ins; k8s-rdma-shared-dev-plugin; SR-IOV network
operator.
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from weft.doctor import job
from weft.doctor.rule import (
    LIKELY_RATIO,
    Facts,
    Finding,
    Rule,
    Severity,
    Suspect,
    finding,
    suspect,
    suspected,
)
from weft.observe.facts.aftermath import WorkSeen
from weft.observe.facts.base import Fact
from weft.observe.facts.hosts import DeviceNode
from weft.observe.facts.pods import (
    ClusterEvent,
    FunctionPlan,
    NodePod,
    NodeResource,
    PodResource,
    PodState,
    ResourcePlan,
)
from weft.observe.facts.programs import Command, Message
from weft.observe.facts.transports import NoRdmaDevice
from weft.observe.layouts import placed, series

_RDMA = re.compile(
    r"rdma|hostdev|mlnx|mellanox|sriov|efa|hca|roce|infiniband|\bib\b|openshift\.io|"
    r"/[\w.-]*rail|[_-]vfs?\b|[/_-]nics?\b|resib",
    re.IGNORECASE,
)
_SHORT = re.compile(r"[Ii]nsufficient (?!unused|quota)([\w./-]+)")
_DIGITS = re.compile(r"\d+")
_LOOK = (
    "kubectl describe node | grep -A12 -e Allocatable -e Allocated; kubectl -n "
    "<plugin> logs ds/<plugin>"
)
_PLUGIN_POD = re.compile(
    r"rdma-shared-d|rdma-device-plugin|rdma-dp|sriov-(?:network-)?device-plugin|"
    r"efa-k8s-device-plugin|hca-shared|(?:mofed|ofed|doca-driver)-"
)
_OF_DRIVERS = re.compile(r"OFED|device-plugin|device-plug-in|sriov", re.IGNORECASE)
_QUOTA = re.compile(r"insufficient (?:unused )?quota for (?P<name>[\w./-]+)")
_UNAVAILABLE = re.compile(
    r"(?:devices unavailable for|allocate (?:unhealthy|unregistered) devices?) "
    r"(?P<name>[\w./-]+)"
)
_NO_NODE = re.compile(
    r"(?:lstat |custom device \W{1,3})/dev/infiniband/[^\s:]+: (?:lstat .{0,60})?no such file"
)
"""A node of a device that the plug-in still counts and the host has no more."""
_WHOLE_FOLDER = re.compile(r"\bls (?:-\w+ ){0,3}/dev/infiniband/?(?:\s*$|\s*[;|&2])")
_NO_FOLDER = re.compile(r"hostPath type check failed: /dev/infiniband\b")
_SERVICES = re.compile(
    r"^kube-|^(?:nvidia-)?(?:gpu|network)-operator$|^(?:calico|tigera|cilium|openshift)-"
)
_GPU = re.compile(r"^(?:nvidia|amd)\.com/gpu$")
_GPUS_SHORT = re.compile(r"insufficient [\w.-]+/(?:gpu|mig)", re.IGNORECASE)
_OF_QUEUE = re.compile(
    r"queue resource quota insufficient|exceed\w* (?:the )?quota", re.IGNORECASE
)
"""What a queue says of a pod for which its share has no room."""
_ALL_GIVEN = Suspect(
    cause="k8s-rdma-resource-exhausted",
    confidence_ratio=0.25,
    question="does any pod of these nodes ask for it (kubectl get pods -A -o yaml)?",
    next_command=_LOOK,
)
_OF_ONE = re.compile(
    r"(?:spec for device|resources for) [0-9a-f]{4}:[0-9a-f]{2}:", re.IGNORECASE
)
"""What a plug-in says of one device."""
_NONE_FOUND = re.compile(r"no (?:rdma )?devices? (?:in current configuration|found for|"
                         r"in device pool|(?:were )?found for)|no eligible devices found|"
                         r"missing rdma device spec|no (?:valid )?efa devices|"
                         r"exiting\.\. (?:can not change|one or more invalid)|"
                         r"not rdma device|no rdma devices available for|"
                         r"rdma modules loaded\?|device plugin unable|fail to configure sriov|"
                         r"exposing devices: +\[\]|main\.go:\d+\] No devices found\.\s*$|"
                         r"send devices .{0,40}\*Device\{\}",
                         re.IGNORECASE)  # fmt: skip


def _check(facts: Facts) -> Iterator[Finding]:
    events = [one for one in facts.of(ClusterEvent) if _shortage(one)]
    for name in dict.fromkeys(name for one in events for name in _shortage(one)):
        seen = [one for one in events if name in _shortage(one)]
        yield _short(facts, name, seen)
    if not events:
        yield from _offered_none(facts)
        yield from _planned_none(facts)
        yield from _gone(facts)
        yield from _shrunk(facts)
        yield from _fewer(facts)
        yield from _beside_its_like(facts)
    yield from _refused(facts)
    yield from _no_quota(facts)
    yield from _plugin(facts)
    yield from _claimed_twice(facts)
    yield from _not_running(facts)


def _shortage(event: ClusterEvent) -> tuple[str, ...]:
    names = event.shortage or tuple(
        one.rstrip(".,") for one in _SHORT.findall(f"{event.message} {event.evidence.text}")
    )
    return tuple(one for one in names if _RDMA.search(one))


def _short(facts: Facts, name: str, events: list[ClusterEvent]) -> Finding:
    offers = [one for one in facts.of(NodeResource) if one.resource == name]
    asked = [one for one in facts.of(PodResource) if one.resource == name]
    seen: list[Fact] = [*events, *offers, *asked]
    if not offers and any(_OF_QUEUE.search(one.message) for one in events):
        return _resource("k8s-rdma-resource-exhausted", seen, 0.7, name)
    without = _without(facts, name, offers, events)
    if without:
        return _on_some(name, [*events, *without, *offers, *asked])
    return _offered(facts, name, offers, events, asked)


def _offered(
    facts: Facts, name: str, offers: list[NodeResource], events: list[ClusterEvent],
    asked: list[PodResource],
) -> Finding:  # fmt: skip
    """Say why a resource is short that nodes have all alike, or none."""
    others = [
        one for one in facts.of(NodeResource)
        if _RDMA.search(one.resource) and one.resource != name and one.allocatable
    ]  # fmt: skip
    seen: list[Fact] = [*events, *offers, *asked]
    if any(one.allocatable for one in offers):
        return _booked(facts, name, offers, seen)
    if any(one.allocated for one in offers):  # how much there is was not asked
        return _resource("k8s-rdma-resource-exhausted", seen, 0.6, name)
    if any(one.capacity for one in offers):  # it is there and counted unhealthy
        return _resource("k8s-rdma-resource-stale", seen, 0.7, name)
    if offers or others:
        return _resource(
            "k8s-rdma-resource-missing", [*events, *offers, *others, *asked], 0.85, name
        )
    return _undecided(facts, events, name)


def _without(
    facts: Facts, name: str, offers: list[NodeResource], events: list[ClusterEvent]
) -> list[Fact]:
    """Return what nodes offer that lack a resource which their like offer.

    Only nodes with GPUs are alike; and if more nodes refuse than lack it, it is used up.
    """
    has = {one.node for one in offers if one.allocatable}
    if not has:
        return []
    lacking: dict[str, Fact] = {
        one.node: one for one in facts.of(NodeResource)
        if one.allocatable and _GPU.search(one.resource) and one.node and one.node not in has
    }  # fmt: skip
    count = re.compile(rf"\b(\d+) Insufficient {re.escape(name)}(?![\w./-]*\w)")
    counts = [int(found[1]) for one in events for found in count.finditer(one.message)]
    if not counts or max(counts) > len(lacking):
        return []
    return [*lacking.values()]


def _on_some(name: str, seen: list[Fact]) -> Finding:
    found = _resource("k8s-rdma-resource-partial", seen, 0.8, name)
    return replace(
        found,
        message=f"a node with GPUs offers no {name}, which its like offer",
        advice="look at the plug-in and the adapters of that node",
        explains=found.explains | {"k8s-rdma-resource-exhausted"},
    )


def _booked(facts: Facts, name: str, offers: list[NodeResource], seen: list[Fact]) -> Finding:
    """Say why a resource that nodes offer is refused: it is given away, or seems to be."""
    stated = [one.allocated for one in offers if one.allocated is not None]
    total = sum(one.allocatable or 0 for one in offers)
    orphaned = _held_by_none(facts, name)
    if orphaned:
        return replace(
            _resource("k8s-rdma-resource-stale", [*orphaned, *seen], 0.7, name),
            message=f"{name} is booked, and the nodes list no pod that could hold it",
            suspects=(_ALL_GIVEN,),
        )
    if not stated or sum(stated) >= total:
        return _resource("k8s-rdma-resource-exhausted", seen, 0.75, name)
    return _resource("k8s-rdma-resource-stale", seen, 0.7, name)


def _held_by_none(facts: Facts, name: str) -> list[Fact]:
    """Return the whole lists of pods of nodes that booked a resource, if none could hold it.

    Pods of the cluster's own services ask for no adapter; a list cut short proves nothing.
    """
    booked = {
        one.node for one in facts.of(NodeResource) if one.resource == name and one.allocated
    }
    holders = {one.pod for one in facts.of(PodResource) if one.resource == name}
    found: list[Fact] = []
    for node in booked:
        pods = [one for one in facts.of(NodePod) if one.node == node]
        whole = bool(pods) and len(pods) == pods[0].listed_count
        if not whole or any(
            one.pod in holders or not _SERVICES.search(one.namespace) for one in pods
        ):
            return []
        found += pods
    return found


def _undecided(facts: Facts, events: list[ClusterEvent], name: str) -> Finding:
    """Weigh why a resource is short where nobody shows what nodes offer.

    GPUs that are short as well are in use; a port that is up was looked at because the node
    has what its plug-in does not offer.
    """
    gpus_short = any(_GPUS_SHORT.search(one.message) for one in events)
    ports = job.active_ports(facts)
    missing, exhausted, stale = (
        (0.35, 0.55, 0.15) if gpus_short else (0.35, 0.2, 0.45) if ports else (0.6, 0.3, 0.15)
    )
    suspects = (
        Suspect(
            cause="k8s-rdma-resource-missing",
            confidence_ratio=missing,
            question=f"does any node list {name} under Allocatable?",
            next_command=_LOOK,
        ),
        suspect("k8s-rdma-resource-exhausted", exhausted, next_command=_LOOK),
        suspect("k8s-rdma-resource-stale", stale, next_command=_LOOK),
    )
    return suspected(
        suspects,
        [*events, *ports],
        subject=name,
        message=f"no node has enough {name} for the pod",
        advice="compare the name in the pod with what the nodes offer",
    )


_WORDS = {
    "k8s-rdma-resource-missing": (
        "no node offers {}",
        "correct the name, or the plug-in's selector",
    ),
    "k8s-rdma-resource-exhausted": ("all of {} is given away", "wait, free or add nodes"),
    "k8s-rdma-resource-stale": (
        "nodes offer {} and nobody holds it, yet it is refused",
        "restart the device plug-in and kubelet; the allocation is orphaned",
    ),
    "k8s-rdma-resource-partial": (
        "only some device nodes of {} were passed in",
        "restart the device plug-in after the driver, then the pod",
    ),
}


def _resource(
    cause: str, seen: list[Fact], confidence_ratio: float, name: str,
    severity: Severity = Severity.ERROR,
) -> Finding:  # fmt: skip
    message, advice = _WORDS[cause]
    return finding(
        cause,
        seen,
        confidence_ratio,
        severity=severity,
        subject=name,
        message=message.format(name),
        advice=advice,
        next_command=_LOOK,
        explains=("container-no-rdma-device",),
    )


def _offered_none(facts: Facts) -> Iterator[Finding]:
    """Find a resource that pods ask for and no node offers."""
    asked = {one.resource for one in facts.of(PodResource) if one.request or one.limit}
    for name in sorted(asked):
        offers = [one for one in facts.of(NodeResource) if one.resource == name]
        if _RDMA.search(name) and offers and not any(one.allocatable for one in offers):
            wants = [one for one in facts.of(PodResource) if one.resource == name]
            cause = "stale" if any(one.capacity for one in offers) else "missing"
            yield _resource(f"k8s-rdma-resource-{cause}", [*offers, *wants], 0.75, name)


def _planned_none(facts: Facts) -> Iterator[Finding]:
    """Find a resource that a plug-in is to offer, and of which every node counts none."""
    asked = {one.resource for one in facts.of(PodResource) if one.request or one.limit}
    plans = facts.of(ResourcePlan)
    by_name: dict[str, list[NodeResource]] = {}
    for one in facts.of(NodeResource):
        if "/" in one.resource and not _GPU.search(one.resource):
            by_name.setdefault(one.resource, []).append(one)
    found = {
        name: [plan for plan in plans if _means(plan, name)] for name, offers in by_name.items()
        if name not in asked and _counts_none(offers)
    }  # fmt: skip
    others = any(
        one.allocatable and any(_means(plan, one.resource) for plan in plans if plan.resource)
        for one in facts.of(NodeResource)
    )
    for name, named in sorted(found.items()):
        if named:
            yield _resource(
                "k8s-rdma-resource-missing", [*by_name[name], *named], 0.55 if others else 0.7,
                name, Severity.WARNING if others else Severity.ERROR,
            )  # fmt: skip


def _counts_none(offers: list[NodeResource]) -> bool:
    """Return whether nodes list a resource, and never one of it."""
    listed = any(one.capacity == 0 or one.allocatable == 0 for one in offers)
    return listed and not any(one.capacity or one.allocatable for one in offers)


def _means(plan: ResourcePlan, name: str) -> bool:
    """Return whether a plan is of a resource, with what stands before its slash or without."""
    if not plan.resource:
        return _RDMA.search(name) is not None
    return plan.resource in {name, name.rpartition("/")[2]}


def _fewer(facts: Facts) -> Iterator[Finding]:
    """Find a node that offers some of an adapter's virtual functions, and not all planned."""
    for plan in facts.of(FunctionPlan):
        offers = [
            one for one in facts.of(NodeResource)
            if one.resource.rpartition("/")[2] == plan.resource
            and (one.allocatable or 0) % plan.functions
        ]  # fmt: skip
        if offers:
            yield _resource(
                "k8s-rdma-resource-partial", [*offers, plan], 0.65, plan.resource,
                Severity.WARNING,
            )  # fmt: skip


def _beside_its_like(facts: Facts) -> Iterator[Finding]:
    """Find a rail of which a node offers nothing, beside one named alike that it offers."""
    offers = [
        one for one in facts.of(NodeResource)
        if one.allocatable is not None and _RDMA.search(one.resource)
    ]  # fmt: skip
    alike: dict[tuple[str, str], dict[str, NodeResource]] = {}
    for one in offers:
        alike.setdefault((one.node, _DIGITS.sub("0", one.resource)), {})[one.resource] = one
    for same in alike.values():
        none = [one for one in same.values() if not one.allocatable and not one.allocated]
        if none and 2 * len(none) < len(same):  # half and half may be two kinds of rails
            found = _resource(
                "k8s-rdma-resource-partial", [*same.values()], LIKELY_RATIO, none[0].resource,
                Severity.WARNING,
            )  # fmt: skip
            yield replace(
                found,
                message=f"a node offers none of {none[0].resource}, and some of its like",
                missing=("whether this node has an adapter for it, and a pod asks for it",),
            )
            return


def _gone(facts: Facts) -> Iterator[Finding]:
    """Find a resource that a node offered at one reading, and at a later one no more."""
    offers = [one for one in facts.of(NodeResource) if one.allocatable is not None]
    for name in dict.fromkeys(one.resource for one in offers if _RDMA.search(one.resource)):
        seen = [one for one in offers if one.resource == name]
        last = {(one.node, one.evidence.file): one for one in seen}
        lost = [
            one for one in seen
            if one.allocatable and not last[one.node, one.evidence.file].allocatable
            and (one.node or one.sample != last["", one.evidence.file].sample)
        ]  # fmt: skip
        if lost:
            restarted = [one for one in facts.of(Command) if _RESTART.search(one.command)]
            now = last[lost[-1].node, lost[-1].evidence.file]
            yield replace(
                _resource(
                    "k8s-rdma-resource-stale", [lost[-1], *restarted, now],
                    0.75 if restarted else 0.6, name,
                ),
                message=f"a node offered {name} and offers none any more"
                + (", since its kubelet was restarted" if restarted else ""),
            )  # fmt: skip
            return


def _shrunk(facts: Facts) -> Iterator[Finding]:
    """Find a node that offers less of a resource than in an earlier file of a series."""
    first: dict[tuple[str, str, str], NodeResource] = {}
    offers = [
        one for one in facts.of(NodeResource) if one.allocatable and _RDMA.search(one.resource)
    ]  # fmt: skip
    for one in sorted(offers, key=lambda offer: placed(offer.evidence.file).sample or 0):
        before = first.setdefault((one.resource, one.node, series(one.evidence.file)), one)
        less = (before.allocatable or 0) > (one.allocatable or 0)
        if less and before.evidence.file != one.evidence.file:
            found = _resource("k8s-rdma-resource-stale", [before, one], 0.6, one.resource)
            yield replace(
                found,
                message=f"a node offered {before.allocatable} of {one.resource} and offers "
                f"{one.allocatable} now",
                advice="see in the device plug-in's log what it passes over now; restart it",
            )
            return


_RESTART = re.compile(r"restart\b.{0,20}\b(?:kubelet|k3s|rke2|containerd)\b")


def _no_quota(facts: Facts) -> Iterator[Finding]:
    """Find a queue whose share of the resource is used up, whatever the nodes still have."""
    for one in facts.of(ClusterEvent):
        found = _QUOTA.search(one.message)
        if found and _RDMA.search(found["name"]):
            yield _resource("k8s-rdma-resource-exhausted", [one], 0.7, found["name"])
            return


def _refused(facts: Facts) -> Iterator[Finding]:
    """Find devices that a node offered and its kubelet could not give."""
    nodeless: list[Fact] = [
        one for one in facts.of(ClusterEvent)
        if _NO_NODE.search(one.message) or _NO_NODE.search(one.evidence.text)
    ]  # fmt: skip
    if nodeless:
        yield _resource("k8s-rdma-resource-stale", nodeless, 0.5, "the adapter's device")
    for one in facts.of(ClusterEvent):
        found = _UNAVAILABLE.search(one.message)
        if found and _RDMA.search(found["name"]):
            name = found["name"].rstrip(".,")
            yield _resource("k8s-rdma-resource-stale", [one], 0.75, name)
            return


def _not_running(facts: Facts) -> Iterator[Finding]:
    """Find drivers and plug-ins of adapters whose pods cannot run."""
    ill: list[Fact] = [
        one for one in facts.of(PodState)
        if _PLUGIN_POD.search(one.pod) and job.POD_FAILED.search(one.phase)
    ]  # fmt: skip
    ill += [
        one for one in facts.of(ClusterEvent)
        if one.kind == "SriovNetworkNodeState"
        or _NO_FOLDER.search(one.evidence.text)
        or (one.kind == "NicClusterPolicy" and _OF_DRIVERS.search(one.message))
    ]  # fmt: skip
    ill += job.said(
        facts,
        r"not enough MMIO resources for SR-IOV|can't enable \d+ VFs|"
        r"openibd (?:re)?start\W{1,3}failed",
    )
    if ill:
        found = _resource("k8s-rdma-resource-missing", ill, 0.55, "the plug-in's resource")
        yield replace(
            found, severity=Severity.WARNING,
            message="what brings the adapters' driver, functions or resource failed",
            advice="read its log; until it works its node offers no adapter",
            next_command="kubectl describe pod <pod>; kubectl logs <pod> --all-containers; "
            "dmesg -T | grep -i -e sriov -e SR-IOV",
        )  # fmt: skip


def _plugin(facts: Facts) -> Iterator[Finding]:
    lines: list[Fact] = [
        one for one in facts.of(Message) if _NONE_FOUND.search(one.evidence.text)
    ]
    passed_over = all("RDMA resources for" in one.evidence.text for one in lines)
    serves = any(one.kind == "serving" for one in facts.of(WorkSeen))
    held = any(_RDMA.search(one.resource) and one.capacity for one in facts.of(NodeResource))
    if lines and not held:  # of what a node still counts, the event and the node tell more
        unsure = passed_over and serves  # it may be a device that nobody selects
        served = _taken_in(facts)
        of_one = served and all(_OF_ONE.search(one.evidence.text) for one in lines)
        yield _resource(
            "k8s-rdma-resource-partial" if of_one else "k8s-rdma-resource-missing",
            [*lines, *served], 0.6 if unsure else 0.8, "the plug-in's resource",
            Severity.WARNING if unsure else Severity.ERROR,
        )  # fmt: skip
    nodes = [one for one in facts.of(DeviceNode) if "infiniband" in one.path]
    there = {one.path.rpartition("/")[2].rstrip("0123456789") for one in nodes if one.present}
    gone: list[Fact] = [
        one for one in nodes
        if not one.present and any(w in one.path for w in ("uverbs", "umad", "rdma_cm"))
    ]  # fmt: skip
    gone += [one for one in facts.of(NoRdmaDevice) if "/dev/infiniband/rdma_cm" in one.cause]
    bare = _without_uverbs(facts, nodes)
    granted = [one for one in facts.of(PodResource) if _RDMA.search(one.resource)]
    if bare and granted:
        yield _resource(
            "k8s-rdma-resource-partial", [*bare, *nodes, *granted], 0.92, "the adapter"
        )
    elif bare and gone and there & {"umad", "issm", "rdma_cm"}:
        yield _resource(
            "k8s-rdma-resource-partial", [*bare, *gone, *nodes], 0.85, "the adapter"
        )
    elif gone and there and "uverbs" in there:
        yield _resource("k8s-rdma-resource-partial", [*gone], 0.6, "the adapter")


def _claimed_twice(facts: Facts) -> Iterator[Finding]:
    """Find a device that two pools of a plug-in select: the second goes without it."""
    lines = job.said(facts, r"cannot add device \[[0-9a-f:.]+\]\. already allocated")
    if lines:
        found = _resource(
            "k8s-rdma-resource-partial", lines, 0.5, "the plug-in's resource", Severity.WARNING
        )
        yield replace(
            found, message="two pools of the plug-in select one device: the second lacks it",
            advice="let the selectors of the pools name different devices",
            next_command="kubectl get configmap -A -o yaml | grep -A20 resourceList",
        )  # fmt: skip


def _taken_in(facts: Facts) -> list[Fact]:
    """Return what a plug-in says of devices that it did take in."""
    return [
        one for one in facts.of(Message)
        if one.software == "device plug-in" and one.level == "info"
    ]  # fmt: skip


def _without_uverbs(facts: Facts, nodes: list[DeviceNode]) -> list[Fact]:
    """Return what shows that some nodes of an adapter are there and its uverbs node is not."""
    there = [one for one in nodes if one.present]
    has = {one.host for one in there if "uverbs" in one.path}
    there = [one for one in there if one.host not in has]  # the host of a pod may have it
    listed = [one for one in nodes if not one.present and one.path.endswith("uverbs*")]
    if not there:
        return []
    return [*listed] or _whole_listings(facts, there) or [*facts.of(NoRdmaDevice)]


def _whole_listings(facts: Facts, there: list[DeviceNode]) -> list[Fact]:
    """Return the commands that list the folder of the nodes itself, above some that are there.

    Those of the manager (umad, issm) are of one adapter, which has a uverbs node as well.
    """
    of_adapter = [one for one in there if re.search(r"/(?:umad|issm)\d+$", one.path)]
    return [
        one for one in facts.of(Command)
        if _WHOLE_FOLDER.search(one.command)
        and any(node.evidence.file == one.evidence.file and node.host == one.host
                and node.evidence.place > one.evidence.place for node in of_adapter)
    ]  # fmt: skip


cluster_resource = Rule(causes=tuple(_WORDS), check=_check)
