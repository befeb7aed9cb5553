"""``kubectl describe`` of nodes and pods, and tables of pods and events (``oc`` too)."""

import errno
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.gpus import GpuFault
from weft.observe.facts.pods import (
    ClusterEvent,
    DaemonSetState,
    NodeCondition,
    NodePod,
    NodeResource,
    PodInterface,
    PodNetworkAsked,
    PodResource,
    PodState,
)
from weft.observe.facts.programs import Message, SharedMemoryFailed
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers import _pod_networks
from weft.observe.parsers._values import integer, size
from weft.observe.parsers._watches import Alarm, stated

_NAME = re.compile(r"Name:\s+(?P<name>\S+)\s*$")
_NODE = re.compile(r"(?:oc|kubectl) describe node[s/ ]*(?P<name>[\w.-]+)")
_POD = re.compile(
    r"(?:oc|kubectl)\b.{0,80}? (?:describe|get) (?:pods?|po)[/ ](?P<name>[a-z0-9][\w.-]*)"
)
_SECTION = re.compile(
    r"(?P<indent>\s{0,8})(?P<name>Capacity|Allocatable|Allocated resources|Limits|"
    r"Requests|Conditions|Events|Containers|Init Containers|Addresses|System Info|"
    r"Non-terminated Pods|State|Last State|Labels|Annotations|Volumes|Mounts|"
    r"Environment|Tolerations|QoS Class|Node-Selectors|Status|Node|Namespace|Roles|"
    r"Taints|Unschedulable|Lease|PodCIDR|PodCIDRs|ProviderID|CreationTimestamp|IP|IPs|"
    r"Controlled By|Priority|Service Account|Start Time):(?P<value>.*)"
)
_RESOURCE = re.compile(r"\s+(?P<name>(?:[\w.-]+/)?[\w.-]+):\s+(?P<value>\d[\w.]*)\s*$")
_ALLOCATED = re.compile(
    r"\s+(?P<name>(?:[\w.-]+/)[\w.-]+)\s+(?P<request>\d+)(?: \(\d+%\))?\s+(?P<limit>"
    r"\d+)(?: \(\d+%\))?\s*$"
)
_STATED = re.compile(
    r"\s*(?P<what>capacity|allocatable|allocated)\W{1,3}(?P<name>[\w.-]+/[\w.-]+): "
    r"(?P<count>\d+)\s*$"
)
_PICKED = re.compile(r"describe (?:nodes?\b|\$).*\|\s*(?:e?grep|sed|awk)")
_IN_TOTAL = re.compile(r"\s*\((?P<count>\d{1,5}) in total\)")
_OF_NODE = re.compile(
    r"\s+(?P<namespace>[a-z0-9][a-z0-9-]*)\s+(?P<pod>[a-z0-9][a-z0-9.-]*)\s+\d+m? \(\d+%\)\s"
)
_CONDITION = re.compile(
    r"\s+(?P<name>Ready|\w+Pressure|NetworkUnavailable|PIDPressure)\s+(?P<status>True|"
    r"False|Unknown)\s++.*?\s(?P<reason>[A-Z]\w+)\s"
)
_SICK = re.compile(
    r"\s+(?P<name>\w{0,40}(?:GPU|Gpu|NVLink|NvLink|NVSwitch|IBLink|InfiniBand|Xid|XID|NIC)"
    r"\w{0,40})\s+"
    r"True\s+.{20,120}?\s{2,}(?P<reason>[A-Z]\w+)\s{2,}(?P<message>\S.*)"
)
_XID = re.compile(r"\b[Xx][Ii][Dd]:? ?(?:error:? ?)?(\d{1,3})\b")
_EVENT = re.compile(
    r"(?:\s+|(?=(?:Warning|Normal)\s+[A-Z]\w+\s+\d+[smhd]))"  # pasted without its indent
    r"(?P<type>Warning|Normal)\s+(?P<reason>[A-Z]\w+)\s+(?P<age>\S+(?: \([^)]*\))?"
    r"(?: ago)?)\s+(?P<source>[\w./-]+(?:, [\w.-]+)?)\s+(?P<message>\S.*)"
)
_EVENT_ROW = re.compile(
    r"(?:\S{1,100}\s+)?(?:\d{1,6}\w{1,12}|<unknown>)\s+(?P<type>Warning|Normal)\s+"
    r"(?P<reason>[A-Z]"
    r"\w+)\s+(?P<subject>[\w.-]+/\S+)\s+(?P<message>\S.*)"
)
_SHORT = re.compile(
    r"(?P<message>[^\d\n]{0,200}[\dN]{0,9}/?[\dN]{1,9} nodes are (?:un)?available"
    r".*Insufficient .*)"
)
_QUOTA = re.compile(r".{0,300}?(?P<message>insufficient (?:unused )?quota for \S+ in flavor.*)")
_FORBIDDEN = re.compile(
    r".{0,300}?(?P<message>pods? \"\S{1,120} is forbidden: .{0,600}"
    r"(?:IPC_LOCK|privileged|hostPath|hostNetwork|SYS_RAWIO).*)"
)
_SANDBOX = re.compile(
    r".{0,400}?(?P<reason>FailedCreatePodSandBox|FailedScheduling|FailedMount)?.{0,80}?"
    r"(?P<message>Failed to create pod sandbox.*|error adding (?:pod|container) \S+ to .*|"
    r"GetNetworkDelegates: failed.*)",
    re.IGNORECASE,
)
_INSUFFICIENT = re.compile(r"Insufficient ([\w.-]+(?:/[\w.-]+)?)")
_PODS_HEAD = re.compile(r"(?:NAMESPACE\s+)?NAME\s+(?:READY|DESIRED|STATUS|ALLOCATED)\s+.*")
_POD_ROW = re.compile(
    r"(?:(?P<namespace>[a-z][\w-]+)\s+)?(?:pod/)?(?P<pod>[a-z0-9][\w.-]+)\s+"
    r"(?P<ready>\d+/\d+)\s+(?P<phase>[A-Z][\w:]+)\s+(?P<restarts>\d+)(?: \([^)]{1,20}\))?"
    r"(?:\s+\d[\dydhms]*\s+(?P<address>\d[\d.]+|[\da-f]*:[\da-f:]+)\s+(?P<node>[\w.-]+))?"
)
_DAEMON_ROW = re.compile(
    r"(?:(?P<namespace>[a-z][\w-]+)\s+)?(?P<name>[a-z0-9][\w.-]+)\s+(?P<desired>\d+)"
    r"\s+\d+\s+(?P<ready>\d+)\s+\d+\s+\d+"
)
_STATE = re.compile(
    r"\s+(?:Reason|Exit Code|Restart Count|Image|Image ID|Container ID|Port|Host Port|"
    r"Command|Args|Started|Finished|Ready|Message):\s*(?P<value>.*)"
)
_OOM = re.compile(
    r"\s+Reason:\s+(?P<reason>OOMKilled|Error|CrashLoopBackOff|ContainerCannotRun|StartError)"
)
_NETWORK = re.compile(
    r"\s{2,40}\"(?P<key>interface|name)\": \"(?P<value>[\w./-]{1,80})\",?\s*$"
)
_NETWORK_STATUS = re.compile(r".{0,60}k8s\.v1\.cni\.cncf\.io/network-status:")
_SHARED = re.compile(
    r"[Uu]sage of EmptyDir volume \"(?P<name>\S*(?:shm|shared-?mem)\S*)\" exceeds",
)
_HELD, _WANTED = "held", "wanted"
"""Which annotation lists networks here: those that a pod has, or those that it asks for."""
_NEAR_LINES = 8
"""Two counts of one resource so near are what a node has, and what it offers of it."""
_PLAIN = {"cpu", "memory", "pods", "ephemeral-storage", "hugepages-1Gi", "hugepages-2Mi"}
_ROW_OF_TABLE = re.compile(r"\s+(?:Type|----|Resource|--------|Namespace|---------)\s+")


def shortage(message: str) -> tuple[str, ...]:
    """Return the resources that an event says were insufficient.

    >>> shortage("0/4 nodes are available: 4 Insufficient rdma/hca.")
    ('rdma/hca',)
    """
    return tuple(name.rstrip(".") for name in _INSUFFICIENT.findall(message))


@dataclass(slots=True)
class _Reader:
    """Reads sections of a description."""

    source: Source
    name: str = ""
    section: str = ""
    container: str = ""
    table: str = ""
    listed_count: int = 0
    limits: dict[str, int] = field(default_factory=dict)
    network: str = ""
    networks: str = ""
    seen: dict[str, int] = field(default_factory=dict)
    asked: str = ""

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        evidence = self.source.evidence(text, number)
        if self.source.command != self.asked:  # another command's output is in no section yet
            self.asked, self.section = self.source.command, ""
        if _NETWORK_STATUS.match(text):
            self.networks = _HELD
        asked = _pod_networks.NAMED.match(text)
        if asked:
            return self._asked_for(text, asked["value"], evidence)
        for expression, read in _LINES:
            found = expression.match(text)
            if found:
                return read(self, found, evidence)
        network = _NETWORK.match(text) if self.networks else None
        if network:
            return self._network(network["key"], network["value"], evidence)
        bare = self.section == "Name" and _PICKED.search(self.source.command)
        if self.section and not bare:
            return self._within(text, evidence)
        return self._picked_out(text, evidence)

    def _picked_out(self, text: str, evidence: Evidence) -> Sequence[Fact] | None:
        """Read what was picked out of a node's description: it has, it offers, it gave away."""
        stated = _STATED.match(text)
        if stated:
            what = {stated["what"]: int(stated["count"])}
            return (
                NodeResource(
                    resource=stated["name"], node=self._node(), evidence=evidence,
                    capacity=what.get("capacity"), allocatable=what.get("allocatable"),
                    allocated=what.get("allocated"),
                ),
            )  # fmt: skip
        if not _PICKED.search(self.source.command):
            return None
        resource, given = _RESOURCE.match(text), _ALLOCATED.match(text)
        if given:
            self.seen.clear()
            used = int(given["request"])
            return (
                NodeResource(
                    resource=given["name"], node=self.name, allocated=used, evidence=evidence
                ),
            )
        if not resource or "/" not in resource["name"]:
            return None
        name, count = resource["name"], integer(resource["value"])
        again = evidence.line - self.seen.pop(name, -_NEAR_LINES) < _NEAR_LINES
        if not again:
            self.seen[name] = evidence.line
        return (
            NodeResource(
                resource=name, node=self.name, capacity=None if again else count,
                allocatable=count if again else None, sample=self.source.sample,
                evidence=evidence,
            ),
        )  # fmt: skip

    def _asked_for(self, text: str, value: str, evidence: Evidence) -> Sequence[Fact]:
        """State the networks that an annotation asks for, here or in the lines below."""
        self.networks = _WANTED
        if text.startswith("Annotations:"):
            self.section = "Annotations"
        pod = self.name
        if not pod:  # of a description no more was picked out than this line
            described = _POD.search(self.source.command)
            pod = described["name"] if described else ""
        return tuple(_pod_networks.asked(value, pod, evidence))

    def _network(self, key: str, value: str, evidence: Evidence) -> Sequence[Fact]:
        """State an interface of a pod, as the annotation of its networks lists it."""
        if self.networks == _WANTED:
            if key != "name":
                return READ
            network = value.rpartition("/")[2]
            return (PodNetworkAsked(pod=self.name, network=network, evidence=evidence),)
        if key == "name":
            self.network = value
            return READ
        return (
            PodInterface(
                pod=self.name, interface=value, network=self.network, evidence=evidence
            ),
        )

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ

    def _within(self, text: str, evidence: Evidence) -> Sequence[Fact] | None:
        resource = _RESOURCE.match(text)
        if resource and self.section in {"Capacity", "Allocatable", "Limits", "Requests"}:
            return self._resource(resource, evidence)
        allocated = _ALLOCATED.match(text) if self.section == "Allocated resources" else None
        if allocated:
            used = int(allocated["request"])
            fact = NodeResource(
                resource=allocated["name"], node=self._node(), allocated=used, evidence=evidence
            )
            return (fact,)
        pod = _OF_NODE.match(text) if self.listed_count else None
        if pod and self.section == "Non-terminated Pods":
            return (
                NodePod(
                    pod=pod["pod"], namespace=pod["namespace"], node=self._node(),
                    listed_count=self.listed_count, evidence=evidence,
                ),
            )  # fmt: skip
        condition = _CONDITION.match(text)
        if condition and self.section == "Conditions":
            return (
                NodeCondition(
                    node=self._node(),
                    condition=condition["name"],
                    status=condition["status"],
                    reason=condition["reason"],
                    evidence=evidence,
                ),
            )
        sick = _SICK.match(text) if self.section == "Conditions" else None
        if sick:
            return self._sick(sick, evidence)
        return (
            READ
            if _STATE.match(text) or _ROW_OF_TABLE.match(text) or text.startswith("  ")
            else None
        )

    def _sick(self, found: "re.Match[str]", evidence: Evidence) -> Sequence[Fact]:
        """State what a watch over GPUs and links made of a node: a condition that holds."""
        name, message = found["name"], found["message"].strip()
        facts: list[Fact] = [
            NodeCondition(
                node=self._node(), condition=name, status="True", reason=found["reason"],
                evidence=evidence,
            ),
            Message(
                software="node condition", level="error", text=f"{name}: {message}"[:300],
                evidence=evidence,
            ),
        ]  # fmt: skip
        known = stated(Alarm(text=message, host=self._node(), evidence=evidence))
        code = None if known else _XID.search(message)
        facts.extend(known)
        if code:
            facts.append(
                GpuFault(code=int(code[1]), text=message[:200], host=self._node(),
                         evidence=evidence)
            )  # fmt: skip
        return facts

    def _node(self) -> str:
        asked = _NODE.search(self.source.command)
        return self.name or (asked["name"] if asked else "")

    def _resource(self, found: "re.Match[str]", evidence: Evidence) -> Sequence[Fact]:
        name = found["name"]
        value = (
            size(found["value"])
            if name in _PLAIN and name != "cpu"
            else integer(found["value"])
        )
        if "k" in found["value"] and name not in _PLAIN:
            value = (integer(found["value"]) or 0) * 1000
        if self.section in {"Limits", "Requests"}:
            limit = self.section == "Limits"
            return (
                PodResource(
                    pod=self.name,
                    resource=name,
                    limit=value if limit else None,
                    request=None if limit else value,
                    evidence=evidence,
                ),
            )
        capacity = self.section == "Capacity"
        return (
            NodeResource(
                resource=name,
                node=self._node(),
                capacity=value if capacity else None,
                allocatable=None if capacity else value,
                evidence=evidence,
            ),
        )

    def opened(self, found: "re.Match[str]", evidence: Evidence) -> Sequence[Fact]:
        """Begin a section."""
        del evidence
        self.section = found["name"]
        total = _IN_TOTAL.match(found["value"])
        self.listed_count = int(total["count"]) if total else 0
        return READ

    def named(self, found: "re.Match[str]", evidence: Evidence) -> Sequence[Fact]:
        """Remember what is described."""
        del evidence
        self.name, self.section, self.networks = found["name"], "Name", ""
        self.seen.clear()
        return READ

    def event(self, found: "re.Match[str]", evidence: Evidence) -> Sequence[Fact]:
        """State an event."""
        groups = found.groupdict()
        message = found["message"].strip()
        shared = _SHARED.search(message)
        told = ClusterEvent(
            reason=groups.get("reason") or "FailedScheduling",
            message=message[:300],
            subject=groups.get("subject") or self.name,
            warning=groups["type"] == "Warning" if groups.get("type") else None,
            shortage=shortage(message),
            evidence=evidence,
        )
        if not shared:
            return (told,)
        return (
            told,
            SharedMemoryFailed(
                segment=shared["name"], errno=errno.ENOSPC, error="evicted over its limit",
                evidence=evidence,
            ),
        )  # fmt: skip

    def listed(self, found: "re.Match[str]", evidence: Evidence) -> Sequence[Fact]:
        """Begin a table of objects."""
        del evidence
        self.table = "daemon sets" if "DESIRED" in found[0] else "pods"
        return READ

    def pod(self, found: "re.Match[str]", evidence: Evidence) -> Sequence[Fact]:
        """State a row of a table of pods."""
        return (
            PodState(
                pod=found["pod"],
                phase=found["phase"],
                restarts=int(found["restarts"]),
                address=found["address"] or "",
                node=found["node"] or "",
                evidence=evidence,
            ),
        )

    def daemon(self, found: "re.Match[str]", evidence: Evidence) -> Sequence[Fact]:
        """State a row of a table of daemon sets."""
        return (
            DaemonSetState(
                name=found["name"],
                desired=int(found["desired"]),
                ready=int(found["ready"]),
                namespace=found["namespace"] or "",
                evidence=evidence,
            ),
        )

    def died(self, found: "re.Match[str]", evidence: Evidence) -> Sequence[Fact]:
        """State why a container ended."""
        reason = found["reason"]
        return (PodState(pod=self.name, phase="Terminated", reason=reason, evidence=evidence),)


_LINES = (
    (_EVENT, _Reader.event),
    (_EVENT_ROW, _Reader.event),
    (_SHORT, _Reader.event),
    (_QUOTA, _Reader.event),
    (_FORBIDDEN, _Reader.event),
    (_SANDBOX, _Reader.event),
    (_NAME, _Reader.named),
    (_SECTION, _Reader.opened),
    (_PODS_HEAD, _Reader.listed),
    (_POD_ROW, _Reader.pod),
    (_DAEMON_ROW, _Reader.daemon),
    (_OOM, _Reader.died),
)
kubectl = Parser(
    tool="kubectl",
    marks=(
        "Allocatable:",
        "Capacity:",
        "Insufficient ",
        "describe node",
        "describe $",
        "allocated",
        "quota for",
        "is forbidden:",
        "pod sandbox",
        "error adding",
        "GetNetworkDelegates",
        "Events:",
        "READY",
        " Running ",
        "BackOff ",
        "<none>",
        "DESIRED",
        "Requests:",
        "Limits:",
        "Warning ",
        "OOMKilled",
        "Allocated resources",
        "Conditions:",
        "network-status",
        "cncf.io/networks",
    ),
    reader=_Reader,
    rank=46,
)
