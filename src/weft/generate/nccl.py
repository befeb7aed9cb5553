"""The variables of NCCL that should be set, by fabric; and those that should not."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from weft.design.bom import server_of
from weft.generate import names
from weft.generate.cloud import Cloud, cloud_of
from weft.generate.lossless import Labels
from weft.generate.planned import Planned, Refused, Scalar, numbered
from weft.generate.subnet import Subnet
from weft.network.network import resolve
from weft.network.topology import Layout
from weft.spec.cluster import Cluster

GID_AUTOMATIC: Final = (2, 21)
"""From here on NCCL finds the GID of RoCE v2 by itself. [nccl_env]"""
Setting = tuple[str, Planned]
_Asked = tuple[str, Scalar | None, dict[str, str]]
"""A variable, its value where no row has it, and the fields of its reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variables:
    """The environment of the job: each variable with its reason, and what was refused."""

    settings: Mapping[str, Planned]
    refused: tuple[Refused, ...] = ()
    gid_index: Planned | None = None
    """Policy on RoCE, where it is a question."""
    beside: Planned | None = None
    """What a cloud wants besides variables."""

    @property
    def queue_pairs(self) -> int:
        """Queue pairs of a connection."""
        asked = self.settings.get("NCCL_IB_QPS_PER_CONNECTION")
        return int(asked.text()) if asked else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """What the variables follow from."""

    cluster: Cluster
    layout: Layout
    labels: Labels | None
    subnet: Subnet | None
    cloud: Cloud | None
    """Names its own devices, so weft does not."""

    @property
    def kind(self) -> str:
        return self.cluster.fabric.kind

    @property
    def knows_gid(self) -> bool:
        """Whether the provider publishes the GID index of RoCE v2."""
        return self.cloud is not None and self.cloud.gid_index is not None


def variables(
    cluster: Cluster, layout: Layout, labels: Labels | None, subnet: Subnet | None
) -> Variables:
    """Return the variables of a cluster; the user's own come last and are judged."""
    cloud = cloud_of(cluster)
    case = _Case(cluster=cluster, layout=layout, labels=labels, subnet=subnet, cloud=cloud)
    settings = dict(_planned(case))
    if case.kind == "tcp" and cloud is None:
        wishes = cluster.kubernetes
        settings["NCCL_SOCKET_IFNAME"] = host_interfaces(wishes.interfaces if wishes else ())
    if cloud is not None:
        settings |= cloud.variables(cluster.host.server)
    refused = []
    for name, value in cluster.nccl.env.items():
        names.checked("setting", value, names.checked("variable", name, "nccl.env"))
        reason = _folklore(case, name, value)
        if reason is not None:
            refused.append(reason)
        elif name != "NCCL_IB_TC":  # the labels were made from it
            settings[name] = numbered("nccl.by_user", value)
    return Variables(
        settings=dict(sorted(settings.items())), refused=tuple(refused),
        gid_index=_gid(case),
        beside=None if cloud is None else Planned(
            value=cloud.title, reason=cloud.beside, source=cloud.source
        ),
    )  # fmt: skip


def devices(cluster: Cluster, layout: Layout) -> Planned:
    """Return the RDMA devices of a host, rail by rail, with commas between.

    They are the user's (``NCCL_IB_HCA`` with ``=``), those of the server in the catalogue, or
    mlx5_0 and so on, which holds only where every NIC is a compute NIC.
    """
    asked, nics = cluster.nccl.env.get("NCCL_IB_HCA", ""), layout.site.nics_per_host
    if asked.startswith("=") and asked != "=":
        listed = asked.removeprefix("=").split(",")
        if len(listed) == cluster.host.nics:
            own = [
                names.checked("label", text.partition(":")[0], "NCCL_IB_HCA") for text in listed
            ]
            return numbered("devices.of_environment", ",".join(own))
    server = server_of(cluster)
    known = server.rdma_devices if server and server.nic == cluster.host.nic else ()
    if server is not None and len(known) == nics:
        return numbered("devices.of_server", ",".join(known), server=server.title)
    nic = resolve(cluster).nic
    driver = (nic.rdma_name if nic else "") or "mlx5_"
    counted = (f"{driver}{number}" for number in range(nics))
    return numbered("devices.assumed", ",".join(counted))


def _planned(case: _Case) -> Iterator[Setting]:
    for applies, settings in _RULES:
        if applies(case):
            for name, value, fields in settings(case):
                yield name, numbered(f"nccl.{name}", value, **fields)


def _roce(case: _Case) -> Iterator[_Asked]:
    assert case.labels is not None
    label, balancing = case.labels.traffic_class, case.cluster.fabric.load_balancing
    yield "NCCL_IB_TC", label.value, {"why": label.reason}
    if balancing == "adaptive":
        yield "NCCL_IB_ADAPTIVE_ROUTING", None, {}
    elif case.layout.tiers > 1 and balancing in {None, "ecmp", "flowlet"}:
        yield "NCCL_IB_QPS_PER_CONNECTION", None, {}


def _infiniband(case: _Case) -> Iterator[_Asked]:
    assert case.subnet is not None
    yield "NCCL_IB_SL", case.subnet.sl.value, {}


def host_interfaces(interfaces: Sequence[str]) -> Planned:
    """Return which interfaces of a host sockets take: those named, or what is no overlay."""
    if interfaces:
        return numbered("nccl_interfaces.named", "=" + ",".join(interfaces))
    return numbered("nccl_interfaces.excluded")


def _sockets(case: _Case) -> Iterator[_Asked]:
    if case.cloud is None:
        yield "NCCL_IB_DISABLE", None, {}
    fabric = case.cluster.fabric
    if fabric.socket_threads is not None:
        yield "NCCL_SOCKET_NTHREADS", fabric.socket_threads, {}
        if fabric.sockets is not None and fabric.sockets % fabric.socket_threads == 0:
            yield "NCCL_NSOCKS_PERTHREAD", fabric.sockets // fabric.socket_threads, {}


def _known_gid(case: _Case) -> Iterator[_Asked]:
    assert case.cloud is not None
    yield (
        "NCCL_IB_GID_INDEX",
        case.cloud.gid_index,
        {"cloud": case.cloud.title, "source": case.cloud.source},
    )


_RULES: Final[
    tuple[tuple[Callable[[_Case], bool], Callable[[_Case], Iterator[_Asked]]], ...]
] = (
    (
        lambda case: (
            case.cloud is None and (case.labels is not None or case.kind == "infiniband")
        ),
        lambda case: iter(
            [("NCCL_IB_HCA", f"={devices(case.cluster, case.layout).text()}", {})]
        ),
    ),
    (lambda case: case.labels is not None and case.cloud is None, _roce),
    (lambda case: case.subnet is not None, _infiniband),
    (
        lambda case: case.cluster.fabric.in_network_reduction,
        lambda _: iter([("NCCL_COLLNET_ENABLE", None, {})]),
    ),
    (
        lambda case: not case.layout.joins_rails,
        lambda _: iter([("NCCL_CROSS_NIC", None, {})]),
    ),
    (lambda case: case.kind == "tcp", _sockets),
    (lambda case: case.knows_gid and not _finds_gid(case), _known_gid),
)
"""When something holds, and what to set then."""


def _finds_gid(case: _Case) -> bool:
    """Return whether this NCCL finds the GID of RoCE v2 by itself."""
    return names.version(case.cluster.nccl.version) >= GID_AUTOMATIC


def _gid(case: _Case) -> Planned | None:
    """Return the policy for the GID; none where a variable sets it."""
    if case.labels is None:
        return None
    if _finds_gid(case):
        return numbered("nccl_gid.automatic")
    return None if case.knows_gid else numbered("nccl_gid.by_hand")


def _folklore(case: _Case, name: str, value: str) -> Refused | None:
    for wanted, applies, reason in _FOLKLORE:
        if name in wanted and applies(case, value):
            return Refused(name=name, value=value, reason=reason, source="nccl_env")
    return None


_FOLKLORE: Final[tuple[tuple[set[str], Callable[[_Case, str], bool], str], ...]] = (
    (
        {"NCCL_ALGO", "NCCL_PROTO"},
        lambda *_: True,
        "forces one choice for every size and operation; NCCL's tuning chooses by both",
    ),
    (
        {"NCCL_IB_GID_INDEX"},
        lambda case, _: case.kind == "infiniband",
        "InfiniBand routes by LID: a GID index is for RoCE and can only do harm",
    ),
    (
        {"NCCL_IB_GID_INDEX"},
        lambda case, _: case.labels is not None and _finds_gid(case),
        "found by NCCL itself since 2.21; an index moves when an address does",
    ),
    (
        {"NCCL_IB_TC"},
        lambda case, _: case.labels is None,
        "a traffic class is a label of IP; this fabric has none to read it",
    ),
    (
        {"NCCL_IB_DISABLE"},
        lambda case, value: value == "1" and case.kind != "tcp",
        "turns RDMA off and falls back to TCP: a way to debug, not to run",
    ),
)
"""Variables that should not be set, where that holds, and why."""
