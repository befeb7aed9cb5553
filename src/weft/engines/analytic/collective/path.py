"""What a group of ranks has of the cluster: rates, NICs, distances, sharing."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from weft import units
from weft.engines.analytic.collective import tuning
from weft.engines.analytic.collective.constants import Fitted
from weft.engines.analytic.collective.tuning import Tuning
from weft.errors import Mismatch, WeftError
from weft.network import fabric
from weft.network import network as resolver
from weft.network.fabric import Fabric
from weft.network.topology import Layout, Mesh, trays_of
from weft.spec.cluster import Cluster
from weft.traffic import pxn
from weft.traffic.collective import Group

PCIE_BYTES_PER_S: Final = {"volta": 12e9, "ampere": 24e9, "hopper": 48e9, "blackwell": 48e9}
"""Usable rate of a GPU's x16 slot by generation (NCCL topo.h: width x speed / 80)."""
_EDGE: Final = 2
_FALLBACK_LEAF_HOSTS: Final = 32
_CABLE_S_PER_M: Final = 5e-9
"""Propagation in fibre and copper [catalogue: 4.5 to 5.0 ns/m]."""
_FITTED_CABLE_M: Final = 30.0
"""Mean cable that published systems, which do not state it, are taken to have."""
_MESH_LINKS: Final = 7
"""xGMI joins each of eight GPUs to every other by one link."""
_MERGES_PORTS: Final = (2, 20)
"""NCCL joins the ports of one NIC into one device from this version on."""


@dataclass(frozen=True, eq=False)
class Same:
    """A cluster compared by identity: hashing a whole spec costs more than the prediction."""

    cluster: Cluster

    def __hash__(self) -> int:
        """Hash the identity."""
        return id(self.cluster)

    def __eq__(self, other: object) -> bool:
        """Compare the identity."""
        return isinstance(other, Same) and other.cluster is self.cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How far a group spreads over the switches, and what that costs."""

    far_ratio: float
    """Share of its traffic that leaves the leaf when ranks are placed without regard to it."""
    hops: int
    oversubscription: float
    cable_s: float
    """What its cables add to a message over those of the systems that constants are from."""
    joined: bool = True
    """Whether the fabric joins all NICs that its sends go between."""
    guessed: str = ""
    """Why the layout of the cluster is not known, where it is not."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Path:
    """One group on one cluster, as plain numbers; compared by identity, for cheap caches."""

    group: Group
    local: int
    """Ranks in one scale-up domain."""
    domains: int
    gpu_class: str
    table_class: str
    """Row of NCCL's tables (AMD GPUs have none of their own)."""
    cpu: str
    scale_up_kind: str
    scale_up_bytes_per_s: float
    scale_up_reduces: bool
    scale_up_full: bool
    """Behind switches: any GPU reaches any other at full rate."""
    nics: int
    """Devices as NCCL sees them (ports of one NIC joined) that this group has in a domain."""
    nic_line_bytes_per_s: float
    net_bytes_per_s: float
    """Payload that one domain can send for this group, before the fabric takes its part."""
    net_limit: str
    fabric_ratio: float
    """What load balancing, tuning and oversubscription leave of it."""
    fabric_limit: str
    published_ratio: float
    """The same with the published factors, where simulated ones are used."""
    reach: Reach
    crossing: Reach
    """The same of sends between any two GPUs: further where PXN keeps them to no rail."""
    crossing_ratio: float
    """What they keep of ``fabric_ratio``."""
    fabric: Fabric
    gpudirect: bool
    network_reduces: bool
    tuning: Tuning
    version: tuple[int, ...]
    env: dict[str, str]
    fitted: Fitted
    factors: tuple[str, ...]
    """What load balancing and tuning are taken to leave, simulated and published."""
    assumptions: tuple[str, ...]
    release_stated: bool = False
    """Whether the specification states the release of the library."""

    @property
    def ranks(self) -> int:
        """All ranks of the group."""
        return self.group.ranks

    @property
    def few_domains(self) -> bool:
        """At most two: a tree then has one edge, and the library counts differently."""
        return self.domains <= _EDGE

    @property
    def scale_index(self) -> str:
        """Column of NCCL's tables: one, two or more hosts."""
        return tuning.NODE_SCALES[min(self.domains, 3) - 1]

    @property
    def link(self) -> str:
        """Row of NCCL's step times inside a domain."""
        return "pci" if self.scale_up_kind == "pcie" else "nvlink"

    def const(self, family: str, default: float = 1.0) -> float:
        """Return a fitted constant of this GPU class."""
        return self.fitted(f"{family}.{self.gpu_class}", default)

    def scale_up_const(self, family: str, default: float = 0.8) -> float:
        """Return a fitted share of the scale-up rate: of PCIe, or of the GPU class's links."""
        name = "pcie" if self.link == "pci" else self.gpu_class
        return self.fitted(f"scale_up.{family}.{name}", default)

    @property
    def channel_bytes_per_s(self) -> float:
        """What one channel moves; less where one GPU both receives and sends on its NIC."""
        alone = self.fitted("channel_alone", 0.8) if self.local == 1 else 1.0
        return self.const("channel", 21e9) * alone

    def net_const(self, family: str, default: float = 1.0) -> float:
        """Return a fitted constant of this fabric, of its first generation where it has one.

        RDMA fabrics without published runs have what RoCE has, so that a comparison rests on
        sourced differences alone.
        """
        relative = self.fitted(f"{family}.roce", default) if self.fabric.rdma else default
        shared = self.fitted(f"{family}.{self.fabric.name}", relative)
        if self.fabric.name == "efa" and self.table_class in {"volta", "ampere"}:
            return self.fitted(f"{family}.efa_v1", shared)
        return shared


def _reach(cluster: Cluster, group: Group, domains: int, *, crossing: bool = False) -> Reach:
    """Return how far a group spreads; ``crossing`` sends go from every rail to all of them.

    Of *n* leaves that the NICs of a host are on, 1 / n of them stays on its own.
    """
    try:
        found = resolver.layout(cluster)
    except Mismatch:
        raise
    except WeftError as error:
        far = max(0.0, 1 - _FALLBACK_LEAF_HOSTS / domains)
        return Reach(
            far_ratio=far, hops=3 if far else 1,
            oversubscription=cluster.topology.oversubscription if far else 1.0,
            cable_s=_cable_s(cluster, 3 if far else 1), guessed=str(error),
        )  # fmt: skip
    span = (domains - 1) * group.stride + 1
    far = max(0.0, 1 - found.hosts_per_unit / span)
    if group.stride > 1 and found.hosts_per_unit < cluster.hosts:
        # Its domains never are neighbours: so many of them leave the leaf.
        far = max(far, min(1.0, group.stride / found.hosts_per_unit))
    if crossing:
        far = 1 - (1 - far) / _leaves_of(found, group)
    scope = found.scope(max(span, found.hosts_per_unit + 1) if far else span)
    return Reach(
        far_ratio=far, hops=found.switch_hops(scope),
        oversubscription=found.oversubscription(scope),
        cable_s=_cable_s(cluster, found.switch_hops(scope)),
        joined=found.joins_rails or not crossing,
    )  # fmt: skip


def _leaves_of(layout: Layout, group: Group) -> int:
    """Return on how many leaves the NICs of a group's ranks in one host are."""
    wiring = layout.wiring.group if isinstance(layout.wiring, Mesh) else layout.wiring
    return max(1, min(wiring.leaves_per_unit, group.ranks_per_domain))


def _crossing(cluster: Cluster, group: Group, domains: int, reach: Reach) -> Reach:
    """Return how far sends between any two GPUs go: with PXN as far as all others."""
    if domains == 1 or group.ranks_per_domain == 1 or pxn.is_used(cluster):
        return reach
    return _reach(cluster, group, domains, crossing=True)


def _cable_s(cluster: Cluster, hops: int) -> float:
    """Return the extra time in cables: one more than switches, 5 ns a metre [MMS4X50]."""
    longer_m = cluster.topology.cable_m - _FITTED_CABLE_M
    return (hops + 1) * longer_m * _CABLE_S_PER_M


def _fabric_share(
    cluster: Cluster, kind: Fabric, reach: Reach, domains: int
) -> dict[str, float]:
    """Return what is left by cause: balancing, tuning, oversubscription."""
    choice = cluster.fabric
    balanced = kind.balanced(choice.load_balancing).value
    tuned = kind.tuned(choice.tuning).value
    crowd = 1.0 if choice.tuning == "misconfigured" else 1 - 2 / max(2, domains)
    return {
        "load balancing": 1 - (1 - balanced) * reach.far_ratio,
        "tuning": 1 - (1 - tuned) * crowd,
        "oversubscribed uplinks": uplink_share(reach.far_ratio, reach.oversubscription),
    }


def uplink_share(far_ratio: float, oversubscription: float) -> float:
    """Return what oversubscribed leaves let hosts send, of their rate.

    Of a leaf of D hosts, each sending at rate c, the uplinks take D c / o, and the share f of
    what hosts send must pass them: D f c / (D c / o) = f o. What stays under the leaf goes on
    beside it and is done when the uplinks are, so 1 / max(1, f o) is left.

    >>> uplink_share(0.875, 2.0), uplink_share(0.4, 2.0)
    (0.5714285714285714, 1.0)
    """
    return 1 / max(1.0, far_ratio * oversubscription)


def _published(cluster: Cluster, kind: Fabric, reach: Reach) -> float:
    """Return what load balancing leaves by the published factor, where there is one."""
    mode = cluster.fabric.load_balancing
    share = kind.published(mode) or kind.balanced(mode)
    return 1 - (1 - share.value) * reach.far_ratio


def _merged_nics(cluster: Cluster, kind: Fabric, version: tuple[int, ...]) -> tuple[int, int]:
    """Return NICs as NCCL sees them, and the ports in each."""
    nics, gpus = cluster.host.nics, cluster.host.gpus
    joins = kind.name == "efa" or version >= _MERGES_PORTS
    ports = nics // gpus if joins and nics > gpus and nics % gpus == 0 else 1
    return nics // ports, ports


def _payload(cluster: Cluster, kind: Fabric) -> tuple[float, str]:
    """Return the payload rate of one NIC and what sets it."""
    host, choice = cluster.host, cluster.fabric
    line = min(host.nic_bytes_per_s, choice.link_bytes_per_s or host.nic_bytes_per_s)
    rate = line * kind.payload_ratio(choice.mtu_bytes) * (1 - choice.load_ratio)
    if host.pcie_bytes_per_s is not None and host.pcie_bytes_per_s < rate:
        return host.pcie_bytes_per_s, "PCIe"
    return rate, "NIC"


def _used_nics(cluster: Cluster, devices: int, group: Group, local: int) -> float:
    """Return the devices one group drives in a domain: its GPUs' own, less what others take."""
    own = max(1.0, local * devices / cluster.host.gpus)
    return min(devices / group.neighbours, own)


def _net(
    cluster: Cluster, kind: Fabric, fitted: Fitted, group: Group, local: int
) -> tuple[float, str]:
    """Return what one domain can send for the group, and what bounds it."""
    host = cluster.host
    rate, limit = _payload(cluster, kind)
    nics = _used_nics(cluster, host.nics, group, local)
    total = nics * rate
    if kind.socket_bytes_per_s is not None:
        copied = _socket_cap(cluster, kind, fitted) / group.neighbours
        both = copied * total / math.hypot(copied, total)
        return both, ("CPU copying for TCP" if copied < total else limit)
    if not (host.gpudirect and kind.gpudirect):
        slot = PCIE_BYTES_PER_S.get(tuning.gpu_class(host.gpu), 48e9)
        copied = nics * min(rate, fitted("staging", 0.33) * slot)
        staged = min(copied, local * slot)  # where NICs are more than GPUs
        return (staged, "copies in host memory (no GPUDirect)")
    return total, limit


def _socket_cap(cluster: Cluster, kind: Fabric, fitted: Fitted) -> float:
    """Return what the cores of a host copy: sockets x threads until memory saturates.

    Each tray of a rack copies with cores and memory of its own.
    """
    choice = cluster.fabric
    assert kind.socket_bytes_per_s is not None
    assert kind.host_socket_bytes_per_s is not None
    assert kind.packet_cost_bytes is not None
    env = cluster.nccl.env
    threads = choice.socket_threads or int(env.get("NCCL_SOCKET_NTHREADS", 1))
    sockets = choice.sockets or threads * int(env.get("NCCL_NSOCKS_PERTHREAD", 1))
    workers = 2.0 * math.sqrt(min(sockets, 4 * threads)) * math.sqrt(math.sqrt(threads))
    mtu = choice.mtu_bytes or kind.default_mtu_bytes
    packet = mtu + kind.packet_cost_bytes.value
    one = fitted("socket", kind.socket_bytes_per_s.value) * mtu / packet
    top = fitted("host_socket", kind.host_socket_bytes_per_s.value)
    linear = workers * one * kind.tuned(choice.tuning).value
    one_tray = linear * top / math.hypot(linear, top)
    return one_tray * trays_of(cluster.host.gpus, cluster.host.nics)


def _gpudirect(cluster: Cluster, kind: Fabric) -> bool:
    env = cluster.nccl.env
    off = env.get("NCCL_NET_GDR_LEVEL", "").upper() in {"0", "LOC"}
    return cluster.host.gpudirect and kind.gpudirect and not off


def _effective(cluster: Cluster) -> Cluster:
    """Apply the variables that change which network NCCL uses."""
    env = cluster.nccl.env
    kind = fabric.find(cluster.fabric.kind)
    if env.get("NCCL_IB_DISABLE", "0") == "1" and kind.rdma and kind.name != "efa":
        plain = cluster.fabric.with_(kind="tcp", load_balancing=None, mtu_bytes=None)
        cluster = cluster.with_(fabric=plain)
        kind = fabric.find("tcp")
    if cluster.host.gpudirect != _gpudirect(cluster, kind):
        cluster = cluster.with_(host=cluster.host.with_(gpudirect=False))
    return cluster


def _scale_up(cluster: Cluster, local: int, gpu_class: str) -> tuple[str, float]:
    """Return kind and rate of what joins the ranks inside a domain."""
    up = cluster.host.scale_up
    if up.kind == "pcie" or local > up.gpus:
        return "pcie", min(up.bytes_per_s, PCIE_BYTES_PER_S.get(gpu_class, 48e9))
    if up.kind == "xgmi":
        return up.kind, up.bytes_per_s * min(1.0, max(1, local - 1) / _MESH_LINKS)
    return up.kind, up.bytes_per_s


@lru_cache(maxsize=8192)
def path_of(same: Same, group: Group, fitted: Fitted) -> Path:
    """Work out what a group has of a cluster."""
    cluster = _effective(same.cluster)
    host, kind = cluster.host, fabric.find(cluster.fabric.kind)
    gpu_class = tuning.gpu_class(host.gpu)
    amd = gpu_class.startswith("cdna")
    tables = tuning.find("rccl" if amd else cluster.nccl.version)
    version = cluster.nccl.release
    local = min(group.ranks_per_domain, group.ranks, host.gpus)
    domains = -(-group.ranks // local)
    # The variables change what NCCL uses, not the network that there is.
    reach = _reach(same.cluster, group, domains) if domains > 1 else Reach(
        far_ratio=0.0, hops=0, oversubscription=1.0, cable_s=0.0
    )  # fmt: skip
    crossing = _crossing(same.cluster, group, domains, reach)
    shares = _fabric_share(cluster, kind, reach, domains)
    devices, ports = _merged_nics(cluster, kind, version)
    net, net_limit = _net(cluster, kind, fitted, group, local) if domains > 1 else (0.0, "")
    up_kind, up_rate = _scale_up(cluster, local, gpu_class)
    ratio = math.prod(shares.values())
    crossed = math.prod(_fabric_share(cluster, kind, crossing, domains).values())
    worst = min(shares, key=lambda cause: shares[cause])
    return Path(
        group=group, local=local, domains=domains, gpu_class=gpu_class,
        table_class="hopper" if amd else gpu_class, cpu=host.cpu, scale_up_kind=up_kind,
        scale_up_bytes_per_s=up_rate,
        scale_up_reduces=host.scale_up.in_network_reduction and up_kind == "nvlink",
        scale_up_full=up_kind == "nvlink",
        nics=max(1, round(_used_nics(cluster, devices, group, local))),
        nic_line_bytes_per_s=host.nic_bytes_per_s * ports,
        net_bytes_per_s=net, net_limit=net_limit, fabric_ratio=ratio,
        fabric_limit=worst if shares[worst] < 1 else "",
        published_ratio=ratio * _published(cluster, kind, reach) / shares["load balancing"],
        reach=reach, crossing=crossing, crossing_ratio=crossed / ratio, fabric=kind,
        gpudirect=cluster.host.gpudirect,
        network_reduces=kind.in_network_reduction and cluster.fabric.in_network_reduction,
        tuning=tables, version=version, env=cluster.nccl.env, fitted=fitted,
        factors=_factors(cluster, kind, reach, domains),
        assumptions=_assumptions(cluster, kind, (reach, crossing), domains),
        release_stated="version" in cluster.nccl.model_fields_set,
    )  # fmt: skip


def _factors(cluster: Cluster, kind: Fabric, reach: Reach, domains: int) -> tuple[str, ...]:
    if domains == 1:
        return ()
    said = []
    if reach.far_ratio > 0:
        said.append(kind.assumption(cluster.fabric.load_balancing))
    if cluster.fabric.tuning != "tuned":
        said.append(kind.tuning_assumption(cluster.fabric.tuning))
        said.extend(kind.effects(cluster.fabric.tuning))
    return tuple(said)


def _assumptions(
    cluster: Cluster, kind: Fabric, reaches: tuple[Reach, Reach], domains: int
) -> tuple[str, ...]:
    if domains == 1:
        return ()
    reach, crossing = reaches
    said = [
        "no other job loads the network"
        if cluster.fabric.load_ratio == 0
        else f"other traffic takes {cluster.fabric.load_ratio:.0%} of the links"
    ]
    if reach.guessed:
        said.append(f"leaves of {_FALLBACK_LEAF_HOSTS} hosts are taken, for {reach.guessed}")
    if reach.far_ratio > 0:
        said.append("ranks are placed without regard to leaves")
    if crossing.far_ratio > reach.far_ratio:
        said.append(
            f"without PXN {crossing.far_ratio:.0%} of an all-to-all leaves the leaf, with it "
            f"{reach.far_ratio:.0%}"
        )
    said.extend(_factors(cluster, kind, reach, domains))
    rate = units.show_rate(cluster.host.nic_bytes_per_s)
    said.append(f"every NIC runs at {rate} and no host is slower than the others")
    return tuple(said)
