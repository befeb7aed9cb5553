"""What lies between a port and the memory of its host: PCIe, or threads that copy (TCP).

Each is a link of its own rate, one each way, between the host and its NIC, which becomes a
switch of one port. So a receiver that is slower than its port fills its NIC, and pauses,
credits or windows hold the senders back as they would at a switch. A NIC's own queues hold
whatever comes: what bounds them is flow control or the window of the sender.
"""

from dataclasses import dataclass, replace

import numpy as np

from weft.engines.packet.wiring import Ints, Wiring
from weft.network.fabric import find
from weft.network.network import resolve
from weft.spec.cluster import Cluster
from weft.spec.scenario import Scenario
from weft.spec.settings import Sockets
from weft.units import show_rate


@dataclass(frozen=True, slots=True, kw_only=True)
class Inside:
    """Between one port and its host."""

    title: str
    lanes: int
    """Links side by side: threads of sockets; 1 for PCIe."""
    bytes_per_s: float
    """Of one lane, on the wire: headers counted."""
    latency_s: float
    """Of one way."""


def inside_of(scenario: Scenario) -> Inside | None:
    """Return what lies behind every port of a scenario, where it is slower than the port."""
    sockets = scenario.network.sockets
    if sockets is not None:
        return _sockets(scenario, sockets)
    return _pcie(scenario)


def said_of(scenario: Scenario) -> tuple[str, ...]:
    """Say what is assumed of the hosts, where they are slower than their ports."""
    inside, sockets = inside_of(scenario), scenario.network.sockets
    if inside is None:
        return ()
    if sockets is None:
        mtu, header = packet_bytes(scenario)
        rate = show_rate(inside.bytes_per_s * mtu / (mtu + header))
        return (f"PCIe takes {rate} of payload each way; NICs mark as switches do",)
    copied = find("tcp").socket_bytes_per_s
    assert copied is not None
    rate = show_rate(thread_bytes_per_s(scenario, sockets))
    low, high = show_rate(copied.low), show_rate(copied.high)
    cited = ", ".join(copied.sources)
    copies = (
        f"a thread copies {rate} of payload (published, packets aside: {low} to {high} "
        f"[{cited}]); {inside.lanes} a NIC each way, connections dealt out in turn"
    )
    return (copies, "hosts hold what their threads have not copied, up to the window")


def packet_bytes(scenario: Scenario) -> tuple[int, float]:
    """Return payload and headers of a full packet."""
    fabric = resolve(scenario.cluster).fabric
    mtu = scenario.network.mtu_bytes or scenario.cluster.fabric.mtu_bytes
    return mtu or fabric.default_mtu_bytes, round(fabric.header_bytes.value)


def threads_of(cluster: Cluster, sockets: Sockets) -> int:
    """Return threads that serve the sockets of one NIC: as set, or as NCCL is told."""
    asked = int(cluster.nccl.env.get("NCCL_SOCKET_NTHREADS", 1))
    return sockets.threads or cluster.fabric.socket_threads or max(1, asked)


def sockets_of(cluster: Cluster, sockets: Sockets) -> int:
    """Return connections of one pair of NICs: threads x sockets of a thread."""
    each = max(1, int(cluster.nccl.env.get("NCCL_NSOCKS_PERTHREAD", 1)))
    return sockets.sockets or cluster.fabric.sockets or threads_of(cluster, sockets) * each


def thread_bytes_per_s(scenario: Scenario, sockets: Sockets) -> float:
    """Return the payload that a thread copies: b / (1 + p / s), with p bytes' worth a segment.

    A host's memory bounds all of its threads together; each has an even share of it.
    """
    cluster = scenario.cluster
    stated = find("tcp")
    copied, top = stated.socket_bytes_per_s, stated.host_socket_bytes_per_s
    packet = stated.packet_cost_bytes
    assert copied is not None
    assert top is not None
    assert packet is not None
    mtu, _ = packet_bytes(scenario)
    segment = max(mtu, sockets.segment_bytes or mtu)
    cost = packet.value if sockets.packet_cost_bytes is None else sockets.packet_cost_bytes
    alone = (sockets.thread_bytes_per_s or copied.value) / (1 + cost / segment)
    lanes = threads_of(cluster, sockets) * cluster.host.nics
    return min(alone, (sockets.host_bytes_per_s or top.value) / lanes)


def _sockets(scenario: Scenario, sockets: Sockets) -> Inside:
    cluster = scenario.cluster
    planes = cluster.topology.planes
    mtu, header = packet_bytes(scenario)
    rate = thread_bytes_per_s(scenario, sockets) / planes
    latency = sockets.latency_s
    if latency is None:
        latency = find("tcp").end_to_end_s.value / 2
    return Inside(
        title="thread", lanes=threads_of(cluster, sockets),
        bytes_per_s=rate * (mtu + header) / mtu, latency_s=latency,
    )  # fmt: skip


def _pcie(scenario: Scenario) -> Inside | None:
    """Return PCIe where it is slower than the port; a packet is whole before it is sent on."""
    host, choice = scenario.cluster.host, scenario.cluster.fabric
    port = min(host.nic_bytes_per_s, choice.link_bytes_per_s or host.nic_bytes_per_s)
    pcie = scenario.network.nic.pcie_bytes_per_s or host.pcie_bytes_per_s
    mtu, header = packet_bytes(scenario)
    if pcie is None or pcie * (mtu + header) / mtu >= port:
        return None
    rate = pcie / scenario.cluster.topology.planes * (mtu + header) / mtu
    whole_s = (mtu + header) / rate if scenario.network.cut_through else 0.0
    return Inside(title="PCIe", lanes=1, bytes_per_s=rate, latency_s=whole_s)


def with_inside(wiring: Wiring, inside: Inside) -> Wiring:
    """Put a NIC and its lanes between every endpoint and its port.

    Lane t of port e is endpoint e x lanes + t; the NICs are the last switches, and the lanes
    the last links, first those into the NICs.
    """
    lanes = wiring.hosts * inside.lanes
    ends = np.arange(lanes)
    first_nic = lanes + wiring.switches
    nic = first_nic + ends // inside.lanes
    source, target = (
        np.where(side < wiring.hosts, first_nic + side, side - wiring.hosts + lanes)
        for side in (wiring.source, wiring.target)
    )
    errors = wiring.bit_error_ratio
    source = np.concatenate([source, ends, nic])
    return replace(
        wiring,
        hosts=lanes,
        switches=wiring.switches + wiring.hosts,
        source=source,
        target=np.concatenate([target, nic, ends]),
        bytes_per_s=np.append(wiring.bytes_per_s, np.full(2 * lanes, inside.bytes_per_s)),
        propagation_s=np.append(wiring.propagation_s, np.full(2 * lanes, inside.latency_s)),
        bit_error_ratio=None if errors is None else np.append(errors, np.zeros(2 * lanes)),
        endless=source >= first_nic,
    )


def lane_of(ports: Ints, connections: Ints, lanes: int) -> Ints:
    """Deal the connections of every port out to its lanes, one after the other.

    >>> lane_of(np.array([4, 4, 4, 7]), np.array([9, 8, 9, 3]), 2)
    array([1, 0, 1, 0])
    """
    many = int(connections.max(initial=0)) + 1
    keys, which = np.unique(ports * many + connections, return_inverse=True)
    first = np.searchsorted(keys // many, keys // many)
    return np.asarray((np.arange(len(keys)) - first)[which] % lanes, np.int64)
