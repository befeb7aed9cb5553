"""The variables of NCCL that should be set, by fabric; and those that should not."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from weft.generate import names
from weft.generate.cloud import Cloud, cloud_of
from weft.generate.host import server_of
from weft.generate.lossless import Labels
from weft.generate.planned import Planned, Refused
from weft.generate.subnet import Subnet
from weft.network.network import resolve
from weft.network.topology import Layout
from weft.spec.cluster import Cluster

GID_AUTOMATIC: Final = (2, 21)
"""From here on NCCL finds the GID of RoCE v2 by itself. [nccl_env]"""
OVERLAYS: Final = ("lo", "docker", "cni", "cali", "cilium", "lxc", "flannel", "veth", "kube")
"""How interfaces begin that container networks make on a host."""
Setting = tuple[str, Planned]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variables:
    """The environment of the job: each variable with its reason, and what was refused."""

    settings: Mapping[str, Planned]
    refused: tuple[Refused, ...] = ()
    gid_index: Planned | None = None
    """Policy on RoCE, where it is a question."""
    beside: Planned | None = None
    """What a cloud wants besides variables."""


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


def variables(
    cluster: Cluster, layout: Layout, labels: Labels | None, subnet: Subnet | None
) -> Variables:
    """Return the variables of a cluster; the user's own come last and are judged."""
    cloud = cloud_of(cluster)
    case = _Case(cluster=cluster, layout=layout, labels=labels, subnet=subnet, cloud=cloud)
    settings = dict(_planned(case))
    if cloud is not None:
        settings |= cloud.variables(cluster.host.server)
    refused = []
    for name, value in cluster.nccl.env.items():
        names.setting(value, names.variable(name))
        reason = _folklore(case, name, value)
        if reason is not None:
            refused.append(reason)
        elif name != "NCCL_IB_TC":  # the labels were made from it
            settings[name] = Planned(value=value, reason="nccl.env says so", source="cluster")
    return Variables(
        settings=dict(sorted(settings.items())), refused=tuple(refused),
        gid_index=_gid(case), beside=_beside(cloud),
    )  # fmt: skip


def _beside(cloud: Cloud | None) -> Planned | None:
    if cloud is None:
        return None
    return Planned(value=cloud.title, reason=cloud.beside, source=cloud.source)


def devices(cluster: Cluster, layout: Layout) -> Planned:
    """Return the RDMA devices of a host, rail by rail, with commas between.

    They are the user's (``NCCL_IB_HCA`` with ``=``), those of the server in the catalogue, or
    mlx5_0 and so on, which holds only where every NIC is a compute NIC.
    """
    asked, nics = cluster.nccl.env.get("NCCL_IB_HCA", ""), layout.site.nics_per_host
    if asked.startswith("=") and asked != "=":
        listed = asked.removeprefix("=").split(",")
        if len(listed) == cluster.host.nics:
            own = [names.label(one.partition(":")[0], "NCCL_IB_HCA") for one in listed]
            return Planned(
                value=",".join(own), source="cluster", reason="nccl.env NCCL_IB_HCA names them"
            )
    server = server_of(cluster)
    known = server.rdma_devices if server and server.nic == cluster.host.nic else ()
    if server is not None and len(known) == nics:
        return Planned(
            value=",".join(known), source="catalogue",
            reason=f"the compute NICs of a {server.title}, in the order of its GPUs",
        )  # fmt: skip
    return Planned(
        value=",".join(f"{_driver(cluster)}{number}" for number in range(nics)),
        source="estimate",
        reason="assumed: as the driver counts where every NIC is a compute NIC; compare with "
        "ibdev2netdev, and give your own in nccl.env NCCL_IB_HCA as =a,b,...",
    )  # fmt: skip


def _driver(cluster: Cluster) -> str:
    nic = resolve(cluster).nic
    return (nic.rdma_name if nic else "") or "mlx5_"


def _planned(case: _Case) -> Iterator[Setting]:
    if case.cloud is None and (case.labels is not None or case.kind == "infiniband"):
        yield "NCCL_IB_HCA", _hcas(case)
    for applies, settings in _RULES:
        if applies(case):
            yield from settings(case)


def _hcas(case: _Case) -> Planned:
    return Planned(
        value=f"={devices(case.cluster, case.layout).text()}", source="nccl_env",
        reason="exact names (=), in the order of the rails, so that storage NICs stay out; "
        "compare them with the output of ibdev2netdev",
    )  # fmt: skip


def _roce(case: _Case) -> Iterator[Setting]:
    assert case.labels is not None
    label = case.labels.traffic_class
    yield "NCCL_IB_TC", Planned(
        value=label.value, source="nccl_env",
        reason=f"the fabric's class: {label.reason}; the default 0 is best effort",
    )  # fmt: skip
    if case.cluster.fabric.load_balancing == "adaptive":
        yield "NCCL_IB_ADAPTIVE_ROUTING", Planned(
            value=1, source="nccl_env",
            reason="fabric.load_balancing is adaptive, and NCCL's default on RoCE is off",
        )  # fmt: skip
    elif case.layout.tiers > 1 and case.cluster.fabric.load_balancing in {None, "ecmp"}:
        yield "NCCL_IB_QPS_PER_CONNECTION", Planned(
            value=4, source="meta_roce",
            reason="ECMP hashes flows: four queue pairs a connection spread over four paths; "
            "NVIDIA counts it among debugging variables, so measure 1 beside it",
        )  # fmt: skip


def _infiniband(case: _Case) -> Iterator[Setting]:
    assert case.subnet is not None
    yield "NCCL_IB_SL", Planned(
        value=case.subnet.sl.value, source="nccl_env",
        reason="the service level that the subnet manager gives collectives",
    )  # fmt: skip


def _in_network(_: _Case) -> Iterator[Setting]:
    yield "NCCL_COLLNET_ENABLE", Planned(
        value=1, source="nccl_env",
        reason="fabric.in_network_reduction: NCCL reaches SHARP through CollNet",
    )  # fmt: skip


def _rails_apart(_: _Case) -> Iterator[Setting]:
    yield "NCCL_CROSS_NIC", Planned(
        value=0, source="nccl_env",
        reason="the fabric does not join different rails, so a ring must stay on its own",
    )  # fmt: skip


def host_interfaces(interfaces: Sequence[str]) -> Planned:
    """Return which interfaces of a host sockets take: those named, or what is no overlay."""
    if interfaces:
        return Planned(
            value="=" + ",".join(interfaces), source="nccl_env",
            reason="kubernetes.interfaces by their exact names (=)",
        )  # fmt: skip
    return Planned(
        value="^" + ",".join(OVERLAYS), source="nccl_env",
        reason="not what container networks make on a host (^); give "
        "kubernetes.interfaces to name the right ones",
    )  # fmt: skip


def _sockets(case: _Case) -> Iterator[Setting]:
    if case.cloud is None:
        yield "NCCL_IB_DISABLE", Planned(
            value=1, source="nccl_env",
            reason="the fabric is planned for TCP: without it NCCL takes any RDMA device that "
            "a host has, over switches without PFC",
        )  # fmt: skip
        wishes = case.cluster.kubernetes
        yield "NCCL_SOCKET_IFNAME", host_interfaces(wishes.interfaces if wishes else ())
    fabric = case.cluster.fabric
    if fabric.socket_threads is not None:
        yield (
            "NCCL_SOCKET_NTHREADS",
            Planned(
                value=fabric.socket_threads, reason="fabric.socket_threads", source="cluster"
            ),
        )
        if fabric.sockets is not None and fabric.sockets % fabric.socket_threads == 0:
            yield "NCCL_NSOCKS_PERTHREAD", Planned(
                value=fabric.sockets // fabric.socket_threads, source="cluster",
                reason="fabric.sockets / fabric.socket_threads",
            )  # fmt: skip


_RULES: Final[
    tuple[tuple[Callable[[_Case], bool], Callable[[_Case], Iterator[Setting]]], ...]
] = (
    (lambda case: case.labels is not None and case.cloud is None, _roce),
    (lambda case: case.subnet is not None, _infiniband),
    (lambda case: case.cluster.fabric.in_network_reduction, _in_network),
    (lambda case: not case.layout.joins_rails, _rails_apart),
    (lambda case: case.kind == "tcp", _sockets),
)
"""When something holds, and what to set then."""


def _gid(case: _Case) -> Planned | None:
    if case.labels is None:
        return None
    if names.version(case.cluster.nccl.version) >= GID_AUTOMATIC:
        return Planned(
            value="unset", source="nccl_env",
            reason="NCCL 2.21 and newer find the GID of RoCE v2 with an IPv4 address; an "
            "index moves when an address does",
        )  # fmt: skip
    return Planned(
        value="by show_gids", source="nccl_env",
        reason="before 2.21 NCCL takes index 0, which is RoCE v1: read the index of RoCE v2 "
        "on every host and set NCCL_IB_GID_INDEX, or use a newer NCCL",
    )  # fmt: skip


def _folklore(case: _Case, name: str, value: str) -> Refused | None:
    for rule in _FOLKLORE:
        reason = rule(case, name, value)
        if reason is not None:
            return Refused(name=name, value=value, reason=reason, source="nccl_env")
    return None


def _forced(_: _Case, name: str, __: str) -> str | None:
    if name not in {"NCCL_ALGO", "NCCL_PROTO"}:
        return None
    return "forces one choice for every size and operation; NCCL's tuning chooses by both"


def _gid_on_infiniband(case: _Case, name: str, _: str) -> str | None:
    if name != "NCCL_IB_GID_INDEX" or case.kind != "infiniband":
        return None
    return "InfiniBand routes by LID: a GID index is for RoCE and can only do harm"


def _gid_by_hand(case: _Case, name: str, _: str) -> str | None:
    if name != "NCCL_IB_GID_INDEX" or case.labels is None:
        return None
    if names.version(case.cluster.nccl.version) < GID_AUTOMATIC:
        return None
    return "found by NCCL itself since 2.21; an index moves when an address does"


def _tc_on_infiniband(case: _Case, name: str, _: str) -> str | None:
    if name != "NCCL_IB_TC" or case.labels is not None:
        return None
    return "a traffic class is a label of IP; this fabric has none to read it"


def _no_rdma(case: _Case, name: str, value: str) -> str | None:
    if name != "NCCL_IB_DISABLE" or value != "1" or case.kind == "tcp":
        return None
    return "turns RDMA off and falls back to TCP: a way to debug, not to run"


_FOLKLORE: Final = (_forced, _gid_on_infiniband, _gid_by_hand, _tc_on_infiniband, _no_rdma)
