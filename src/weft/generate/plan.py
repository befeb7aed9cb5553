"""All numbers of a cluster's configuration, each computed once, with its reason."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from weft.generate import names
from weft.generate.host import HostSettings, host_settings, rented_from
from weft.generate.kubernetes import Kubernetes, kubernetes
from weft.generate.lossless import (
    HOST_MTU_BYTES,
    LARGEST_MTU,
    SWITCH_MTU_BYTES,
    Buffer,
    Dcqcn,
    Labels,
    Marking,
    Pause,
    buffer_of,
    dcqcn,
    labels,
    marking,
    pause,
    system,
)
from weft.generate.mode import NODE_GPUS
from weft.generate.nccl import Variables, devices, variables
from weft.generate.planned import SOURCES, Planned, Refused, numbered
from weft.generate.subnet import Subnet, subnet
from weft.generate.switch_system import SwitchSystem
from weft.generate.tuned import left_out, tuned_dcqcn, tuned_marking, tuned_pause
from weft.generate.underlay import Underlay, underlay
from weft.network import naming
from weft.network.network import resolve
from weft.network.topology import Layout, Mesh
from weft.predict.provenance import provenance
from weft.results import Provenance
from weft.sources import Source
from weft.spec.cluster import Cluster
from weft.units import gbit_from_rate

PAUSED: Final = frozenset({"roce", "scheduled_ethernet"})
"""Fabrics whose edge is lossless by PFC, with RoCE's labels."""
OWN_ETHERNET: Final = frozenset({"roce", "scheduled_ethernet", "ultra_ethernet", "tcp"})
"""Fabrics whose switches are the user's and speak IP."""


class Feature(StrEnum):
    """What a configuration has to be able to express."""

    PFC = "lossless Ethernet (PFC, ECN)"
    IP = "an Ethernet underlay"
    SUBNET = "an InfiniBand subnet"
    PROVIDER = "a network that the provider runs"
    PLANES = "several planes a NIC"
    MESH = "groups joined directly (dragonfly+)"
    RACK = "hosts that are racks of several machines"


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """What holds on every link."""

    rate_gbit_per_s: Planned
    switch_mtu_bytes: Planned | None
    host_mtu_bytes: Planned | None
    path_mtu_bytes: Planned | None
    """Payload of one RDMA packet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What things are called."""

    cluster: Planned
    label: Planned
    """The cluster's name as Kubernetes takes it."""
    first_host: Planned
    last_host: Planned
    first_leaf: Planned
    rails: Planned
    devices: Planned
    """RDMA devices of a host in the order of the rails."""
    hosts_per_unit: Planned
    """Hosts on the same leaves."""

    def device_list(self) -> tuple[str, ...]:
        """Return the devices one by one."""
        return tuple(self.devices.text().split(","))


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The numbers of one cluster's configuration."""

    cluster: Cluster
    names: Names
    link: Link
    labels: Labels | None
    pause: Pause | None
    buffer: Buffer | None
    """None without PFC, and where nobody knows the buffer."""
    marking: Marking | None
    dcqcn: Dcqcn | None
    subnet: Subnet | None
    underlay: Underlay | None
    host: HostSettings
    nccl: Variables
    left_out: tuple[Refused, ...]
    """What the settings of the cluster (weft tune) have and no number here stands for."""
    kubernetes: Kubernetes | None
    """None where no way to attach pods fits."""
    guids: Mapping[str, str]
    """GUIDs by name, where the user gave a map: nodes of switches, ports of NICs."""
    features: frozenset[Feature]
    sources: tuple[Source, ...]
    provenance: Provenance

    def device(self, nic: int, plane: int) -> str:
        """Return what a host calls a NIC, with its plane where it has several."""
        name = self.names.device_list()[nic]
        return f"{name}-plane{plane}" if Feature.PLANES in self.features else name

    def numbers(self) -> Iterator[tuple[str, Planned]]:
        """Yield every value with the path to it."""
        for field in fields(self):
            if field.name not in {"cluster", "guids", "left_out", "sources", "provenance"}:
                yield from _numbers(getattr(self, field.name), field.name)


def plan(cluster: Cluster, guids: Mapping[str, str] | None = None) -> Plan:
    """Plan the configuration of a cluster; ``guids`` names switches and NICs of a subnet."""
    return _plan(cluster, tuple(sorted((guids or {}).items())))


@lru_cache(maxsize=256)
def _plan(cluster: Cluster, guids: tuple[tuple[str, str], ...]) -> Plan:
    whole = resolve(cluster)
    network, fabric = whole.layout, whole.fabric
    ours = rented_from(cluster) is None
    paused = fabric.name in PAUSED and ours
    label = labels(cluster) if fabric.name in PAUSED else None
    stop, marks = lossless(cluster, system(network)) if paused else (None, None)
    path_mtu = cluster.fabric.mtu_bytes or fabric.default_mtu_bytes
    lanes = subnet(cluster, network, path_mtu) if fabric.name == "infiniband" and ours else None
    nccl = variables(cluster, network, label, lanes)
    parts: dict[str, object] = {
        "names": _names(cluster, network),
        "link": _link(fabric.name, network, path_mtu, ours=ours),
        "labels": label,
        "pause": stop,
        "buffer": buffer_of(network, stop.headroom_bytes.whole(), stop.links) if stop else None,
        "marking": marks,
        "dcqcn": (
            tuned_dcqcn(cluster, network, dcqcn()) if fabric.name == "roce" and ours else None
        ),
        "subnet": lanes,
        "underlay": (
            underlay(network, [tenant.name for tenant in cluster.tenants])
            if fabric.name in OWN_ETHERNET and ours
            else None
        ),
        "host": host_settings(cluster),
        "nccl": nccl,
        "kubernetes": kubernetes(cluster, network),
    }
    used = _used(parts, nccl)
    return Plan(
        cluster=cluster, guids=dict(guids), sources=used,
        left_out=left_out(
            cluster, pause=stop, dcqcn=parts["dcqcn"] is not None,
            queue_pairs=nccl.queue_pairs),
        features=_features(cluster, network, ours=ours),
        provenance=provenance(cluster, sources=tuple(s.key for s in used), assumptions=()),
        **parts,  # type: ignore[arg-type] # each is what its function returns
    )  # fmt: skip


def lossless(cluster: Cluster, on: SwitchSystem) -> tuple[Pause, Marking]:
    """Return PFC and ECN as switches with a system take them, and with the cluster's tuning."""
    whole = resolve(cluster)
    stop = tuned_pause(cluster, whole.layout, pause(whole.layout, on))
    rules = marking(whole.fabric, whole.layout, stop.xoff_bytes, on)
    return stop, tuned_marking(cluster, stop, rules)


def _used(parts: Mapping[str, object], nccl: Variables) -> tuple[Source, ...]:
    keys = {number.source for name, part in parts.items() for _, number in _numbers(part, name)}
    keys |= {refused.source for refused in nccl.refused}
    return tuple(SOURCES[key] for key in sorted(keys))


def _numbers(part: object, path: str) -> Iterator[tuple[str, Planned]]:
    if isinstance(part, Planned):
        yield path, part
    elif isinstance(part, Mapping):
        for key, item in part.items():
            yield from _numbers(item, f"{path}.{key}")
    elif is_dataclass(part) and not isinstance(part, Refused):
        for field in fields(part):
            yield from _numbers(getattr(part, field.name), f"{path}.{field.name}")


def _features(cluster: Cluster, network: Layout, *, ours: bool) -> frozenset[Feature]:
    fabric = cluster.fabric.kind
    held = {
        Feature.PFC: fabric in PAUSED and ours,
        Feature.IP: fabric in OWN_ETHERNET and ours,
        Feature.SUBNET: fabric == "infiniband" and ours,
        Feature.PROVIDER: not ours or fabric not in {*OWN_ETHERNET, "infiniband"},
        Feature.PLANES: network.planes > 1,
        Feature.MESH: isinstance(network.wiring, Mesh),
        Feature.RACK: cluster.host.gpus > NODE_GPUS,
    }
    return frozenset(feature for feature, holds in held.items() if holds)


def _names(cluster: Cluster, network: Layout) -> Names:
    hosts = cluster.hosts
    values: dict[str, str | int] = {
        "cluster": names.checked("label", cluster.name, "cluster name"),
        "label": names.dns_label(cluster.name),
        "first_host": naming.host(0, hosts),
        "last_host": naming.host(hosts - 1, hosts),
        "first_leaf": naming.switch(0, 0),
        "rails": network.rails,
        "hosts_per_unit": network.hosts_per_unit,
    }
    named = {name: numbered(f"names.{name}", value) for name, value in values.items()}
    return Names(devices=devices(cluster, network), **named)


def _link(fabric: str, network: Layout, path_mtu: int, *, ours: bool) -> Link:
    ethernet = fabric in OWN_ETHERNET and ours
    rdma = fabric in {*OWN_ETHERNET, "infiniband"} and fabric != "tcp"
    vendor = network.site.switch.vendor
    largest, source = LARGEST_MTU.get(vendor, (SWITCH_MTU_BYTES, ""))
    switch = numbered(
        "link.switch_mtu_bytes", largest, source=source, vendor=vendor or "the kind"
    )
    return Link(
        rate_gbit_per_s=numbered(
            "link.rate_gbit_per_s", gbit_from_rate(network.link_bytes_per_s)
        ),
        switch_mtu_bytes=switch if ethernet else None,
        host_mtu_bytes=numbered("link.host_mtu_bytes", HOST_MTU_BYTES) if ethernet else None,
        path_mtu_bytes=numbered("link.path_mtu_bytes", path_mtu) if rdma else None,
    )
