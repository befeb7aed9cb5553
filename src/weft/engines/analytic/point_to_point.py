"""One RDMA message between two hosts: latency and bandwidth as perftest shows them.

Latency of a write or send, one way (perftest halves the round trip)::

    t(S) = ends + fetch [S > inline] + hops h + (S + copies min(S, MTU)) / rate

A read is answered, so its request travels first: t_read(S) = ends + hops h + t(S).
Bandwidth at a queue depth d over q queue pairs is what the slowest of three allows: the line
after headers, the messages that a queue pair posts, and d messages in one round trip::

    time per message = ((S / line)^p + (1 / (q m))^p + (t_ack(S) / (q d))^p)^(1/p),   p = 4

Sources: perftest_cx6, ib_write_lat and ib_write_bw on ConnectX-6 HDR, all sizes (measured);
perftest_cx7, ib_send_lat on ConnectX-7 NDR, two hosts joined by one cable (measured);
perftest_man, defaults of tx-depth 128, 16 outstanding reads, inline 220 bytes
<https://github.com/linux-rdma/perftest>; deepep, README of DeepEP, low-latency kernels on H800
and 400 Gb/s InfiniBand (measured) <https://github.com/deepseek-ai/DeepEP>.
"""

from dataclasses import dataclass
from typing import Final, Literal

from weft.network import fabric
from weft.results import Estimate
from weft.sources import sourced

Verb = Literal["write", "send", "read"]

ENDS_S: Final = sourced(1.45e-6, "perftest_cx7", "perftest_cx6", low=0.9e-6, high=2.2e-6)
"""Posting, both NICs and both PCIe links, for a message that travels with its request."""
FETCH_S: Final = sourced(0.9e-6, "perftest_cx6", low=0.5e-6, high=1.5e-6)
"""What the NIC waits to fetch a message that is too large to be posted inline."""
INLINE_BYTES: Final = sourced(220, "perftest_man", confidence=3)
COPIES: Final = 3
"""Packets are stored at each PCIe link and in the first switch before they go on."""
MESSAGES_PER_S: Final = sourced(2.8e6, "perftest_cx6", low=2.4e6, high=8.5e6)
"""One queue pair, one posting at a time."""
TX_DEPTH: Final = 128
READS: Final = 16
SHARPNESS: Final = 4
DIRECT_RATIO: Final = sourced(0.85, "deepep", low=0.50, high=0.97)
"""Share of the line when a GPU kernel posts a message for every token to every peer."""
DIRECT_START_S: Final = sourced(10e-6, "deepep", low=5e-6, high=60e-6, confidence=1)
"""Start of the two kernels (send, receive) and the count that goes ahead of the tokens."""
LOWEST_SHARE: Final = 0.95
"""Lowest share of a healthy line seen at large sizes (16 published outputs)."""
_SAME_LEAF_HOPS: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Two NICs and what lies between them."""

    fabric: str
    bytes_per_s: float
    hops: int = _SAME_LEAF_HOPS
    """Switches on the way; 0 for a cable from NIC to NIC."""
    mtu_bytes: int | None = None
    ends_ratio: float = 1.0
    """How many times as long a host takes to post and to take a message, as on a slow core."""

    @property
    def line_bytes_per_s(self) -> float:
        """Payload that the line carries after headers."""
        return self.bytes_per_s * fabric.find(self.fabric).payload_ratio(self.mtu_bytes)


def latency(link: Link, size_bytes: float, verb: Verb = "write") -> Estimate:
    """Return the time of one message alone, as ib_write_lat and its like print it.

    >>> ndr = Link(fabric="infiniband", bytes_per_s=50e9, hops=0)
    >>> round(latency(ndr, 2).value * 1e6, 2)
    1.45
    """
    kind = fabric.find(link.fabric)
    hops = kind.switch_hop_s
    inline = size_bytes <= INLINE_BYTES.value
    moved_s = _moved_s(link, size_bytes)
    ways = 2 if verb == "read" else 1
    ends = []
    for end in ("value", "low", "high"):
        fixed = getattr(ENDS_S, end) * link.ends_ratio + link.hops * getattr(hops, end)
        fetch = 0.0 if inline or verb == "read" else getattr(FETCH_S, end)
        slowest = LOWEST_SHARE if end == "high" else 1.0
        ends.append(ways * fixed + fetch + moved_s / slowest)
    return Estimate(*ends)


def _moved_s(link: Link, size_bytes: float) -> float:
    mtu = link.mtu_bytes or fabric.find(link.fabric).default_mtu_bytes
    return (size_bytes + COPIES * min(size_bytes, mtu)) / link.line_bytes_per_s


def bandwidth(
    link: Link,
    size_bytes: float,
    verb: Verb = "write",
    *,
    queue_pairs: int = 1,
    depth: int | None = None,
) -> Estimate:
    """Return the payload rate of messages of one size, as ib_write_bw and its like print it.

    >>> hdr = Link(fabric="infiniband", bytes_per_s=25e9)
    >>> round(bandwidth(hdr, 8 << 20).value / 1e9, 1)
    24.8
    """
    most = READS if verb == "read" else TX_DEPTH
    at_once = queue_pairs * (most if depth is None else min(depth, most))
    answered = latency(link, size_bytes, "read")
    ends = [
        _rate(link, size_bytes, queue_pairs * per_s / link.ends_ratio, one_s / at_once)
        for per_s, one_s in (
            (MESSAGES_PER_S.value, answered.value),
            (MESSAGES_PER_S.low, answered.high),
            (MESSAGES_PER_S.high, answered.low),
        )
    ]
    return Estimate(ends[0], ends[1] * LOWEST_SHARE, ends[2])


def streams(link: Link, count: int = 1) -> Estimate:
    """Return what TCP carries over some connections, as iperf3 prints it.

    The line after headers, or what the cores copy that serve the connections: one core each at
    best; all of them one core at worst (iperf3 before 3.16 has one thread).

    >>> ten = Link(fabric="tcp", bytes_per_s=1.25e9)
    >>> round(streams(ten).value / 1e9, 2)
    1.24
    """
    kind = fabric.find("tcp")
    one, host = kind.socket_bytes_per_s, kind.host_socket_bytes_per_s
    assert one is not None
    assert host is not None
    line, least_mtu = link.line_bytes_per_s, min(kind.mtus_bytes)
    slow_line = link.bytes_per_s * kind.payload_ratio(link.mtu_bytes or least_mtu)
    return Estimate(
        min(line, count * one.value, host.value),
        min(slow_line * LOWEST_SHARE, one.low),
        min(line, count * one.high, host.high),
    )


def _rate(link: Link, size_bytes: float, messages_per_s: float, window_s: float) -> float:
    """Join three limits smoothly: near their crossing the slower two both cost."""
    shares = (size_bytes / link.line_bytes_per_s, 1 / messages_per_s, window_s)
    return float(size_bytes / sum(share**SHARPNESS for share in shares) ** (1 / SHARPNESS))


def direct_exchange(link: Link, size_bytes: float, leaving_ratio: float) -> Estimate:
    """Return the time of an all-to-all whose kernels post to the NIC themselves.

    No library's rounds are between::

        t = start + t(message) + leaving share x S / (share x line)
    """
    one = latency(link, INLINE_BYTES.value + 1)
    volume_s = size_bytes * leaving_ratio / link.line_bytes_per_s
    ends = [
        start + message + volume_s / share
        for start, message, share in (
            (DIRECT_START_S.value, one.value, DIRECT_RATIO.value),
            (DIRECT_START_S.low, one.low, DIRECT_RATIO.high),
            (DIRECT_START_S.high, one.high, DIRECT_RATIO.low),
        )
    ]
    return Estimate(*ends)
