"""Kubernetes: what nodes offer, what pods ask for, and how both stand."""

from dataclasses import dataclass

from weft.observe.facts.base import Evidence, Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionPlan:
    """How many virtual functions of each adapter are to be offered as a resource."""

    resource: str
    functions: int
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourcePlan:
    """A resource that nodes are to offer: a plug-in's configuration says so, or somebody.

    ``resource`` is its name, with or without what stands before the slash; empty where
    somebody speaks of "the resource" that a node counts.
    """

    resource: str
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeResource:
    """How much of a resource a node has, offers and has given away.

    ``sample`` where it is one of several readings.
    """

    resource: str
    node: str = ""
    capacity: int | None = None
    allocatable: int | None = None
    allocated: int | None = None
    sample: int | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePod:
    """A pod that a node's description lists; ``listed_count`` is how many it says there are."""

    pod: str
    namespace: str
    node: str = ""
    listed_count: int
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PodResource:
    """What a container of a pod asks for."""

    pod: str
    resource: str
    request: int | None = None
    limit: int | None = None
    container: str = ""
    node: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PodState:
    """How a pod or its container stands."""

    pod: str
    phase: str
    reason: str = ""
    exit_code: int | None = None
    restarts: int | None = None
    container: str = ""
    node: str = ""
    address: str = ""
    moment: Moment | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PodInterface:
    """A network interface of a pod, as its status states."""

    pod: str
    interface: str
    network: str = ""
    addresses: tuple[str, ...] = ()
    default: bool | None = None
    device: str = ""
    node: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PodNetworkAsked:
    """A second network that a pod's annotation asks for; ``interface`` where it names one."""

    pod: str
    network: str
    interface: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSecurity:
    """The rights of a container that RDMA needs."""

    pod: str
    container: str = ""
    capabilities: tuple[str, ...] = ()
    privileged: bool | None = None
    host_network: bool | None = None
    shared_memory_bytes: int | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterEvent:
    """An event of the orchestrator; ``shortage`` names resources that were insufficient."""

    reason: str
    message: str
    kind: str = ""
    subject: str = ""
    warning: bool | None = None
    shortage: tuple[str, ...] = ()
    count: int | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeCondition:
    """A condition of a node (Ready, MemoryPressure, ...)."""

    node: str
    condition: str
    status: str
    reason: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonSetState:
    """How many pods a daemon set wants and has."""

    name: str
    desired: int
    ready: int
    namespace: str = ""
    evidence: Evidence
