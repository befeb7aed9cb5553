"""The lossless class of an Ethernet fabric: labels, marking, pause, watchdog, DCQCN.

Every label is chosen once, here; the switch, the NIC and NCCL print the same number.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from weft.errors import Infeasible, SpecError
from weft.generate.cloud import Cloud, cloud_of
from weft.generate.planned import Planned, constants, numbered
from weft.generate.platform import Kept, group_reserve, kept_back, lanes_of, platforms
from weft.generate.switch_system import SwitchSystem, system_of
from weft.network.fabric import Fabric
from weft.network.headroom import KIB, Headroom, cable_class_m, headroom
from weft.network.topology import Layout, Mesh, uplinks
from weft.spec.cluster import Cluster

ECT0: Final = 2
"""ECN bits that say: this packet can be marked. [RFC 3168]"""
DSCP_SHIFT: Final = 4
"""The traffic class is DSCP x 4 + ECN bits: two bits lie below the DSCP."""
SWITCH_MTU_BYTES: Final = 9216
LARGEST_MTU: Final = {"Arista": (9214, "arista_qos")}
"""By vendor, with the source, where it is not the 9216 of the others."""
HOST_MTU_BYTES: Final = 9000
LEAST_KMIN_BYTES: Final = 150_000
KMAX_OVER_KMIN_AT_LEAST: Final = 4
BDP_RATIO: Final = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels:
    """What marks a packet as RDMA, or as the answer to congestion: four things, four names."""

    dscp: Planned
    traffic_class: Planned
    """The byte in the IP header that hosts set: DSCP and ECN bits."""
    priority: Planned
    """PFC priority, priority group and queue of the switch alike."""
    cnp_dscp: Planned
    cnp_priority: Planned
    rdma_weight: Planned
    """Share of the bandwidth of a busy port, in per cent, that RDMA is sure of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRoom:
    """Cable and headroom of one kind of link."""

    cable_m: Planned
    headroom_bytes: Planned


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """PFC: room for what still arrives, when to pause and to go on, and the breaker."""

    cable_m: Planned
    """The longest of all."""
    headroom_bytes: Planned
    """For the longest cable."""
    links: Mapping[str, LinkRoom]
    """By kind of link (``host``, ``spine``, ``core``); empty where all are planned alike."""
    xon_bytes: Planned
    xon_offset_bytes: Planned
    """How far below the pause threshold the peer may send again."""
    buffer_alpha: Planned
    pool_bytes: Planned | None
    """Shared by all ports; none where the catalogue does not know the buffer."""
    xoff_bytes: Planned | None
    """Least fill at which a port pauses its peer: every port congested at once."""
    watchdog_poll_ms: Planned
    watchdog_detection_ms: Planned
    watchdog_restoration_ms: Planned
    watchdog_action: Planned
    watchdog_polls: Planned
    """Polls in a row that find a queue stuck."""
    watchdog_restore_polls: Planned

    def room(self, kind: str) -> LinkRoom:
        """Return cable and headroom of a kind of link; of the longest where none is listed."""
        whole = LinkRoom(cable_m=self.cable_m, headroom_bytes=self.headroom_bytes)
        return self.links.get(kind, whole)


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """How the buffer of one switch is divided; the parts add up to the whole."""

    whole_bytes: int
    kept: tuple[Kept, ...]
    """What is not shared."""
    shared_bytes: int
    unused_bytes: int
    """Less than a KiB, which pools are counted in."""
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Marking:
    """ECN of the lossless queue: where it begins, where it is certain, its slope."""

    kmin_bytes: Planned
    kmax_bytes: Planned
    pmax_ratio: Planned


@dataclass(frozen=True, slots=True, kw_only=True)
class Dcqcn:
    """Congestion control of the NIC."""

    enabled: Planned
    min_time_between_cnps_us: Planned
    ai_rate_mbit_per_s: Planned
    hai_rate_mbit_per_s: Planned
    time_reset_us: Planned
    byte_reset: Planned
    alpha_gain: Planned
    rate_reduce_monitor_period_us: Planned
    minimum_rate_mbit_per_s: Planned | None = None
    """None, as of the two below: the firmware's own is left."""
    fast_recovery_stages: Planned | None = None
    alpha_timer_us: Planned | None = None


def labels(cluster: Cluster) -> Labels:
    """Return the labels; NCCL_IB_TC in the cluster's environment chooses the DSCP."""
    asked = cluster.nccl.env.get("NCCL_IB_TC")
    cloud = cloud_of(cluster)
    if asked is None and cloud is not None and cloud.traffic_class is not None:
        return Labels(**_provided(cloud, cloud.traffic_class), **constants("labels_for_all"))
    dscp = (
        numbered("labels.dscp")
        if asked is None
        else numbered("labels.dscp_of_environment", _dscp_of(asked), traffic_class=asked)
    )
    traffic_class = dscp.whole() * DSCP_SHIFT + ECT0
    return Labels(
        dscp=dscp,
        traffic_class=numbered("labels.traffic_class", traffic_class, dscp=dscp.whole()),
        **constants("labels_for_all"),
    )


def _provided(cloud: Cloud, traffic_class: int) -> dict[str, Planned]:
    """Return the labels of a provider's network; the rest is as usual."""
    values = {"dscp": traffic_class // DSCP_SHIFT, "traffic_class": traffic_class}
    return {
        name: numbered("labels.of_provider", value, source=cloud.source, cloud=cloud.title)
        for name, value in values.items()
    }


def _dscp_of(traffic_class: str) -> int:
    if not (traffic_class.isdecimal() and int(traffic_class) < 256):  # noqa: PLR2004 - a byte
        raise SpecError(f"nccl.env: NCCL_IB_TC={traffic_class[:20]!r}: give 0 to 255")
    dscp = int(traffic_class) // DSCP_SHIFT
    if dscp in {0, numbered("labels_for_all.cnp_dscp").whole()}:
        usual = numbered("labels.dscp").whole() * DSCP_SHIFT + ECT0
        raise SpecError(
            f"nccl.env: NCCL_IB_TC={traffic_class} is DSCP {dscp}, which other traffic "
            f"carries; give a class of its own, as {usual}"
        )
    return dscp


def lengths_m(layout: Layout) -> dict[str, float]:
    """Return the longest cable by kind of link; empty where the document has one for all."""
    given = layout.site.choice.longest_cable_m
    if given is None:
        return {}
    said = {kind: length for kind, length in given if length is not None}
    longest = max(said.values(), default=layout.site.choice.cable_m)
    return {kind: said.get(kind, longest) for kind in type(given).model_fields}


def room(layout: Layout, cable_m: float | None = None) -> Headroom:
    """Return the headroom of a port of this network, for the longest cable unless given."""
    longest = max(lengths_m(layout).values(), default=layout.site.choice.cable_m)
    switch = layout.site.switch
    length = cable_class_m(longest if cable_m is None else cable_m)
    return headroom(switch, layout.link_bytes_per_s, length, SWITCH_MTU_BYTES)


def _link_room(layout: Layout, length_m: float) -> LinkRoom:
    needed = room(layout, length_m)
    return LinkRoom(
        cable_m=numbered("pause.link_cable_m", cable_class_m(length_m), length=length_m),
        headroom_bytes=numbered(
            "pause.headroom_bytes", needed.headroom_bytes, shown=needed.shown
        ),
    )


def system(layout: Layout) -> SwitchSystem:
    """Return the operating system that the vendor of the switches ships them with."""
    return system_of(layout.site.switch.vendor)


def pause(layout: Layout, on: SwitchSystem) -> Pause:
    """Return all of PFC for the switches of a layout that run a system."""
    needed = room(layout)
    links = {kind: _link_room(layout, far) for kind, far in lengths_m(layout).items()}
    xon, _ = group_reserve(lanes_of(layout.switch, layout.radix))
    pool = pool_of(layout, needed.headroom_bytes, links)
    cable = "pause.longest_cable_m" if links else "pause.cable_m"
    alpha = "pause.buffer_alpha" if on.has_claim else "pause.buffer_alpha_left"
    return Pause(
        links=links,
        cable_m=numbered(cable, int(needed.cable_m), mean=layout.site.choice.cable_m),
        headroom_bytes=numbered(
            "pause.headroom_bytes", needed.headroom_bytes, shown=needed.shown
        ),
        xon_bytes=numbered("pause.xon_bytes", xon, kib=xon // KIB),
        xon_offset_bytes=numbered("pause.xon_offset_bytes"),
        buffer_alpha=numbered(alpha, leaves=on.leaves),
        pool_bytes=pool,
        xoff_bytes=xoff_of(layout, pool, 1.0),
        **_watchdog(on, layout.radix),
    )


def _lossless_groups(
    layout: Layout, headroom_bytes: int, links: Mapping[str, LinkRoom]
) -> tuple[Kept, ...]:
    """Return XON and headroom of all ports, of the tier that keeps the most."""
    beside = sum(group_reserve(lanes_of(layout.switch, layout.radix)))
    if not links:
        each = headroom_bytes + beside
        return (Kept(what="lossless groups", count=layout.radix, each_bytes=each),)
    up, out = uplinks(layout)
    tiers = [{"host": layout.radix - up, "spine": up}]
    if layout.spine:
        tiers.append({"spine": layout.radix - out, "core": out})
    if layout.spine_core_cables and not isinstance(layout.wiring, Mesh):
        tiers.append({"core": layout.radix})
    kept = [
        tuple(
            Kept(what=f"lossless groups, {kind} links", count=count,
                 each_bytes=links[kind].headroom_bytes.whole() + beside)
            for kind, count in tier.items() if count
        )
        for tier in tiers
    ]  # fmt: skip
    return max(kept, key=lambda parts: sum(part.bytes for part in parts))


def buffer_of(
    layout: Layout, headroom_bytes: int, links: Mapping[str, LinkRoom] = MappingProxyType({})
) -> Buffer | None:
    """Return how the buffer of a switch is divided, beside so much headroom of each port.

    None where nobody knows the buffer. Raises Infeasible where nothing is left to share.
    """
    groups = _lossless_groups(layout, headroom_bytes, links)
    switch = layout.site.switch
    held = platforms().get(layout.switch)
    kept: tuple[Kept, ...]
    if held is not None:
        whole, source = held.mmu_bytes, "sonic_pool"
        kept = (*groups, *kept_back(layout.radix, lanes_of(layout.switch, layout.radix)))
    elif switch.buffer_bytes is not None:
        whole, source = int(switch.buffer_bytes.value), "catalogue"
        kept = groups
    else:
        return None
    left = whole - sum(item.bytes for item in kept)
    if left <= 0:
        raise Infeasible(
            f"{layout.radix} ports x {groups[-1].each_bytes} B of headroom and XON, "
            f"and what the chip keeps, are more than the {whole} B of {switch.name}; shorten "
            f"topology.{'longest_cable_m' if links else 'cable_m'}"
        )
    return Buffer(
        whole_bytes=whole, kept=kept, shared_bytes=left // KIB * KIB,
        unused_bytes=left % KIB, source=source,
    )  # fmt: skip


def pool_of(
    layout: Layout, headroom_bytes: int, links: Mapping[str, LinkRoom] = MappingProxyType({})
) -> Planned | None:
    """Return what ports share beside so much headroom each; none where nobody knows."""
    buffer = buffer_of(layout, headroom_bytes, links)
    if buffer is None:
        return None
    parts = "".join(
        f" - {kept.what} {kept.count} x {kept.each_bytes} B" for kept in buffer.kept
    )
    return numbered(
        "pause.pool_bytes", buffer.shared_bytes, source=buffer.source,
        whole=buffer.whole_bytes, parts=parts,
    )  # fmt: skip


def xoff_of(layout: Layout, pool: Planned | None, alpha: float) -> Planned | None:
    """Return the fill at which ports pause when all are congested; none without a pool."""
    if pool is None:
        return None
    xoff = threshold_bytes(pool.number(), alpha, layout.radix)
    return numbered("pause.xoff_bytes", xoff // KIB * KIB, ports=layout.radix, alpha=alpha)


def threshold_bytes(pool_bytes: float, alpha: float, ports: int) -> int:
    """Return what each of so many congested ports may hold of a pool.

    Each takes alpha times what is free, so x = alpha (B - n x) and x = alpha B / (1 + n alpha)
    [Choudhury & Hahne 1998].

    >>> threshold_bytes(65e6, 1.0, 64)
    1000000
    """
    return int(alpha * pool_bytes / (1 + alpha * ports))


def _watchdog(on: SwitchSystem, ports: int) -> dict[str, Planned]:
    dog = on.watchdog
    step = dog.step(ports)
    poll_ms = dog.poll_ms * step
    why = f"{dog.why}; {dog.poll_ms} ms a poll" + (
        f" x {step}, as {ports} ports are (1 + {ports - 1} // {dog.ports}) times the work"
        if step > 1 else ""
    )  # fmt: skip

    values: dict[str, int | str] = {
        "watchdog_poll_ms": min(poll_ms, dog.most_poll_ms or poll_ms),
        "watchdog_detection_ms": poll_ms * dog.polls,
        "watchdog_restoration_ms": poll_ms * dog.restore_polls,
        "watchdog_action": "drop",
        "watchdog_polls": dog.polls,
        "watchdog_restore_polls": dog.restore_polls,
    }
    return {
        name: numbered(
            f"watchdog.{name}", value, source=dog.source, system=on.title, why=why,
            default=dog.why, polls=dog.polls, restore_polls=dog.restore_polls,
        )
        for name, value in values.items()
    }  # fmt: skip


def marking(fabric: Fabric, layout: Layout, xoff: Planned | None, on: SwitchSystem) -> Marking:
    """Return the ECN thresholds of a system.

    Below the pause even when every port is congested, where weft sets all that decides where
    a port pauses; else as the system's vendor has them, and nothing is claimed.
    """
    if not on.has_claim:
        xoff = None
    far_s = fabric.end_to_end_s.value + layout.switch_hops("far") * fabric.switch_hop_s.value
    bdp = 2 * far_s * layout.link_bytes_per_s
    kmin = int(max(LEAST_KMIN_BYTES, BDP_RATIO * bdp))
    kmax = on.marking.kmax_ratio * kmin
    most = kmax if xoff is None else xoff.whole() - SWITCH_MTU_BYTES
    cap = kmin_cap = ""
    if most < kmax:
        cap = f", but under the {most} B that a frame less than XOFF leaves"
        kmax = most
    if kmax < KMAX_OVER_KMIN_AT_LEAST * SWITCH_MTU_BYTES:
        raise Infeasible(
            f"ports of {layout.site.switch.name} pause at {most + SWITCH_MTU_BYTES} B, which "
            "leaves no room to mark before; shorten topology.cable_m or take a switch with "
            "more buffer"
        )
    if kmin > kmax // KMAX_OVER_KMIN_AT_LEAST:
        kmin = kmax // KMAX_OVER_KMIN_AT_LEAST
        kmin_cap = ", but at most a quarter of Kmax"
    source = on.marking.source
    claim = (
        "marking is certain before anybody is paused"
        if on.has_claim and xoff is not None
        else f"not claimed to be below the pause: {on.leaves}"
        if on.leaves
        else "not claimed to be below the pause: the size of the buffer is unknown"
    )
    return Marking(
        kmin_bytes=numbered("marking.kmin_bytes", kmin // KIB * KIB, bdp=bdp, cap=kmin_cap),
        kmax_bytes=numbered(
            "marking.kmax_bytes", kmax // KIB * KIB, source=source,
            ratio=on.marking.kmax_ratio, cap=cap, claim=claim,
        ),
        pmax_ratio=numbered(
            "marking.pmax_ratio", on.marking.pmax_ratio, source=source, why=on.marking.why
        ),
    )  # fmt: skip


def dcqcn() -> Dcqcn:
    """Return DCQCN as the NIC's firmware has it: nobody published better for all."""
    return Dcqcn(**constants("dcqcn"))
