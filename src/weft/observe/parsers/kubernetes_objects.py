"""``kubectl get -o json`` or ``-o yaml`` of nodes, pods, events, daemon sets and networks."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.pods import (
    ClusterEvent,
    DaemonSetState,
    FunctionPlan,
    NodeCondition,
    NodeResource,
    PodInterface,
    PodResource,
    PodSecurity,
    PodState,
    ResourcePlan,
)
from weft.observe.moments import moment
from weft.observe.parser import Parser, Source
from weft.observe.parsers import _pod_networks
from weft.observe.parsers._values import integer, size
from weft.observe.parsers.kubectl import shortage
from weft.observe.parsers.resource_plans import NAMED

_OWN_RANGE = re.compile(r'"type"\s{0,4}:\s{0,4}"host-local"')
_OVER_NODES = re.compile(
    r'"type"\s{0,4}:\s{0,4}"(?:macvlan|ipvlan|sriov|ib-sriov|host-device|ipoib)"'
)
"""Networks that reach other nodes; a bridge may stay within its own."""
_NETWORKS = "k8s.v1.cni.cncf.io/network-status"
_SIZED = {"memory", "ephemeral-storage"}


def _document(value: object, source: Source, number: int) -> Iterable[Fact] | None:
    if not isinstance(value, dict) or "kind" not in value or "apiVersion" not in value:
        return None
    items = value.get("items")
    objects = items if isinstance(items, list) else [value]
    # Items of a typed list (PodList) do not repeat their kind.
    kind = str(value["kind"]).removesuffix("List") or "Pod"
    return [fact for one in objects for fact in _object(one, kind, source, number)]


def _object(value: object, usual: str, source: Source, number: int) -> Iterator[Fact]:
    if not isinstance(value, dict):
        return
    kind = str(value.get("kind", usual))
    read = _KINDS.get(kind)
    if read is not None:
        name = _dict(value, "metadata").get("name", "")
        evidence = Evidence(source.file, number, f"{kind} {name}")
        yield from read(value, str(name), evidence)


def _dict(value: object, key: str) -> dict[str, Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _list(value: object, key: str) -> list[Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def _said(evidence: Evidence, text: str) -> Evidence:
    return Evidence(evidence.file, evidence.line, f"{evidence.text}: {text}"[:300])


def _amount(name: str, value: object) -> int | None:
    text = str(value)
    return size(text) if name in _SIZED or name.startswith("hugepages") else integer(text)


def _node(value: dict[str, Any], name: str, evidence: Evidence) -> Iterator[Fact]:
    status = _dict(value, "status")
    capacity, offered = _dict(status, "capacity"), _dict(status, "allocatable")
    for resource in sorted({*capacity, *offered}):
        yield NodeResource(
            resource=resource,
            node=name,
            capacity=_amount(resource, capacity.get(resource)),
            allocatable=_amount(resource, offered.get(resource)),
            evidence=_said(evidence, f"{resource}: {offered.get(resource)}"),
        )
    for condition in _list(status, "conditions"):
        kind = str(_plain(condition, "type"))
        yield NodeCondition(
            node=name,
            condition=kind,
            status=_plain(condition, "status"),
            reason=_plain(condition, "reason"),
            evidence=_said(evidence, f"{kind}: {_plain(condition, 'status')}"),
        )


def _plain(value: object, key: str) -> str:
    return str(value.get(key) or "") if isinstance(value, dict) else ""


def _pod(value: dict[str, Any], name: str, evidence: Evidence) -> Iterator[Fact]:
    spec, status = _dict(value, "spec"), _dict(value, "status")
    node = _plain(spec, "nodeName")
    yield PodState(
        pod=name,
        phase=_plain(status, "phase"),
        reason=_plain(status, "reason"),
        node=node,
        evidence=_said(evidence, _plain(status, "phase")),
    )
    shared = _shared_memory(spec)
    for container in _list(spec, "containers"):
        yield from _container(container, name, node, evidence)
        yield _security(container, spec, name, shared, evidence)
    for one in _list(status, "containerStatuses"):
        yield from _ended(one, name, node, evidence)
    yield from _interfaces(value, name, node, evidence)
    yield from _unschedulable(status, name, evidence)


def _unschedulable(status: dict[str, Any], pod: str, evidence: Evidence) -> Iterator[Fact]:
    """State why no node takes a pod, as its own conditions say."""
    for condition in _list(status, "conditions"):
        if _plain(condition, "reason") == "Unschedulable":
            message = _plain(condition, "message")
            yield ClusterEvent(
                reason="FailedScheduling",
                message=message[:300],
                kind="Pod",
                subject=pod,
                warning=True,
                shortage=shortage(message),
                evidence=_said(evidence, message),
            )


def _container(value: object, pod: str, node: str, evidence: Evidence) -> Iterator[Fact]:
    resources = _dict(value, "resources")
    requests, limits = _dict(resources, "requests"), _dict(resources, "limits")
    for resource in sorted({*requests, *limits}):
        yield PodResource(
            pod=pod,
            resource=resource,
            request=_amount(resource, requests.get(resource)),
            limit=_amount(resource, limits.get(resource)),
            container=_plain(value, "name"),
            node=node,
            evidence=_said(evidence, f"{resource}: {limits.get(resource)}"),
        )


def _shared_memory(spec: dict[str, Any]) -> int | None:
    for volume in _list(spec, "volumes"):
        empty = _dict(volume, "emptyDir")
        if empty.get("medium") == "Memory" and empty.get("sizeLimit"):
            return size(str(empty["sizeLimit"]))
    return None


def _security(
    value: object, spec: dict[str, Any], pod: str, shared: int | None, evidence: Evidence
) -> PodSecurity:
    context = _dict(value, "securityContext")
    added = _list(_dict(context, "capabilities"), "add")
    host_network = spec.get("hostNetwork")
    return PodSecurity(
        pod=pod,
        container=_plain(value, "name"),
        capabilities=tuple(str(one) for one in added),
        privileged=bool(context.get("privileged", False)),
        host_network=bool(host_network) if host_network is not None else None,
        shared_memory_bytes=shared,
        evidence=_said(evidence, f"securityContext {context}"),
    )


def _ended(value: object, pod: str, node: str, evidence: Evidence) -> Iterator[Fact]:
    for key in ("state", "lastState"):
        for phase in ("terminated", "waiting"):
            state = _dict(_dict(value, key), phase)
            if state:
                yield PodState(
                    pod=pod,
                    phase=phase,
                    reason=_plain(state, "reason"),
                    exit_code=integer(state.get("exitCode")),
                    restarts=integer(_plain(value, "restartCount")),
                    container=_plain(value, "name"),
                    node=node,
                    moment=moment(_plain(state, "finishedAt")),
                    evidence=_said(evidence, f"{phase} {state.get('reason')}"),
                )


def _interfaces(
    value: dict[str, Any], pod: str, node: str, evidence: Evidence
) -> Iterator[Fact]:
    annotations = _dict(_dict(value, "metadata"), "annotations")
    wanted = annotations.get(_pod_networks.KEY)
    if isinstance(wanted, str):
        yield from _pod_networks.asked(wanted, pod, _said(evidence, f"networks {wanted}"))
    told = annotations.get(_NETWORKS)
    try:
        networks = json.loads(told) if isinstance(told, str) else []
    except (ValueError, RecursionError):
        return
    for one in networks if isinstance(networks, list) else []:
        addresses = tuple(str(ip) for ip in _list(one, "ips"))
        yield PodInterface(
            pod=pod,
            interface=_plain(one, "interface"),
            network=_plain(one, "name"),
            addresses=addresses,
            default=bool(one.get("default", False)) if isinstance(one, dict) else None,
            device=_plain(_dict(_dict(one, "device-info"), "pci"), "pci-address"),
            node=node,
            evidence=_said(evidence, f"{_plain(one, 'interface')} {' '.join(addresses)}"),
        )


def _event(value: dict[str, Any], name: str, evidence: Evidence) -> Iterator[Fact]:
    del name
    message = _plain(value, "message")
    regarding = _dict(value, "involvedObject") or _dict(value, "regarding")
    yield ClusterEvent(
        reason=_plain(value, "reason"),
        message=message[:300],
        kind=_plain(regarding, "kind"),
        subject=_plain(regarding, "name"),
        warning=_plain(value, "type") == "Warning",
        shortage=shortage(message),
        count=integer(_plain(value, "count")),
        evidence=_said(evidence, message),
    )


def _daemon(value: dict[str, Any], name: str, evidence: Evidence) -> Iterator[Fact]:
    status = _dict(value, "status")
    desired = integer(status.get("desiredNumberScheduled"))
    if desired is not None:
        yield DaemonSetState(
            name=name,
            desired=desired,
            ready=integer(status.get("numberReady")) or 0,
            namespace=_plain(_dict(value, "metadata"), "namespace"),
            evidence=evidence,
        )


def _virtual_functions(value: dict[str, Any], name: str, evidence: Evidence) -> Iterator[Fact]:
    """State that the operator could not make a node's virtual functions."""
    status = _dict(value, "status")
    if _plain(status, "syncStatus") == "Failed":
        why = _plain(status, "lastSyncError") or "no reason given"
        yield _state("SriovNetworkNodeState", name, f"syncStatus Failed: {why}", evidence)


def _functions(value: dict[str, Any], name: str, evidence: Evidence) -> Iterator[Fact]:
    """State how many functions of an adapter a policy makes into a resource, if whole."""
    spec = _dict(value, "spec")
    count, resource = integer(spec.get("numVfs")), _plain(spec, "resourceName") or name
    ports = _list(_dict(spec, "nicSelector"), "pfNames")
    if count and not any("#" in str(one) for one in ports):
        yield FunctionPlan(
            resource=resource, functions=count, evidence=_said(evidence, f"numVfs: {count}")
        )


def _policy(value: dict[str, Any], name: str, evidence: Evidence) -> Iterator[Fact]:
    """State what a network operator's policy plans, and which of its parts are not ready."""
    for part in ("rdmaSharedDevicePlugin", "sriovDevicePlugin"):
        yield from _plans(_plain(_dict(_dict(value, "spec"), part), "config"), evidence)
    for one in _list(_dict(value, "status"), "appliedStates"):
        if _plain(one, "state") in {"notReady", "error"}:
            text = f"{_plain(one, 'name')} is {_plain(one, 'state')}"
            yield _state("NicClusterPolicy", name, text, evidence)


def _configured(value: dict[str, Any], name: str, evidence: Evidence) -> Iterator[Fact]:
    """State the resources that a plug-in's configuration names."""
    del name
    for text in _dict(value, "data").values():
        yield from _plans(str(text), evidence)


def _plans(text: str, evidence: Evidence) -> Iterator[Fact]:
    for one in NAMED.finditer(text):
        yield ResourcePlan(resource=one["name"], evidence=_said(evidence, one[0]))


def _domain(value: dict[str, Any], name: str, evidence: Evidence) -> Iterator[Fact]:
    """State that a domain of GPU memory over hosts is not ready."""
    if _plain(_dict(value, "status"), "status") == "NotReady":
        yield _state("ComputeDomain", name, f"ComputeDomain {name} not ready", evidence)


def _state(kind: str, name: str, message: str, evidence: Evidence) -> ClusterEvent:
    return ClusterEvent(
        reason="NotReady", message=message[:300], kind=kind, subject=name, warning=True,
        evidence=_said(evidence, message),
    )  # fmt: skip


def _attachment(value: dict[str, Any], name: str, evidence: Evidence) -> Iterator[Fact]:
    """State a network whose plug-in gives out one range on every node by itself."""
    text = _plain(_dict(value, "spec"), "config")
    found = _OWN_RANGE.search(text)
    if found and _OVER_NODES.search(text):
        message = f"{name} gives out one range of addresses on every node (host-local)"
        yield ClusterEvent(
            reason="OneRangeOnEveryNode", message=message, kind="NetworkAttachmentDefinition",
            subject=name, evidence=_said(evidence, f"ipam {found[0]}"),
        )  # fmt: skip


_KINDS = {
    "Node": _node,
    "Pod": _pod,
    "Event": _event,
    "DaemonSet": _daemon,
    "SriovNetworkNodeState": _virtual_functions,
    "SriovNetworkNodePolicy": _functions,
    "NicClusterPolicy": _policy,
    "ComputeDomain": _domain,
    "ConfigMap": _configured,
    "NetworkAttachmentDefinition": _attachment,
}
kubernetes_objects = Parser(tool="kubectl get -o json or yaml", document=_document)
