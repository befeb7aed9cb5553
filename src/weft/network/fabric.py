"""What weft must know of a fabric: framing, what load balancing keeps, latency, copies.

A fabric file holds facts and names, never loops. Shares (``ratio``) are of the payload rate.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from weft import plugins
from weft.errors import UnknownName
from weft.network import fabrics, shares
from weft.sources import Source, Sourced, sourced

ASSUMED_UNTIL_SIMULATED: Final = (
    "{title}: {mode} load balancing keeps {value:.0%} ({low:.0%} to {high:.0%}) of the"
    " bandwidth beyond the leaf [{sources}]{both}"
)
ASSUMED_OF_TUNING: Final = (
    "{title} {state}: {value:.0%} ({low:.0%} to {high:.0%}) of its bandwidth remains"
    " [{sources}]{both}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fabric:
    """One way to join hosts, as its specification and measurements describe it."""

    name: str
    title: str
    rdma: bool
    """The NIC moves the payload; without, the kernel copies it."""
    gpudirect: bool
    """GPU memory can be reached without a copy in host memory."""
    lossless: str
    """What keeps packets from being dropped: credits, PFC, scheduling, nothing ..."""
    congestion_control: tuple[str, ...]
    """Names, the usual one first."""
    default_mtu_bytes: int
    mtus_bytes: tuple[int, ...]
    header_bytes: Sourced
    """On the wire beside each MTU of payload: headers, checksums, preamble, gap."""
    load_balancing: Mapping[str, Sourced]
    """Published share of bandwidth kept beyond the leaf, by mode; the first is the default."""
    tuning: Mapping[str, Sourced]
    """Published share of bandwidth kept when tuned, at default settings, misconfigured."""
    end_to_end_s: Sourced
    """Small message, one way, NIC to NIC, no switch in between."""
    switch_hop_s: Sourced
    step_overhead_s: Sourced = field(default_factory=lambda: sourced(0.0, "nccl"))
    """What a dependent network step costs beyond that of verbs (NCCL's plug-in)."""
    plugin_latency_s: float = 0.0
    """Latency that the network plug-in reports to NCCL's tuning model."""
    max_plugin_channels_per_nic: int | None = None
    socket_bytes_per_s: Sourced | None = None
    """Kernel TCP only: one connection, one core copying."""
    host_socket_bytes_per_s: Sourced | None = None
    """Kernel TCP only: all connections of a host, before the copies saturate it."""
    packet_cost_bytes: Sourced | None = None
    """Kernel TCP only: what a packet costs a core, as bytes that it could have copied."""
    in_network_reduction: bool = False
    sources: Mapping[str, Source]

    @property
    def default_load_balancing(self) -> str:
        """The mode that the fabric has when nothing is said."""
        return next(iter(self.load_balancing))

    def payload_ratio(self, mtu_bytes: int | None = None) -> float:
        """Return the share of the line rate that is payload at an MTU."""
        mtu = self.default_mtu_bytes if mtu_bytes is None else mtu_bytes
        return mtu / (mtu + self.header_bytes.value)

    def balanced(self, mode: str | None = None) -> Sourced:
        """Return the share that closed forms take a mode to keep beyond the leaf."""
        name = self.default_load_balancing if mode is None else mode
        if name not in self.load_balancing:
            known = ", ".join(self.load_balancing)
            raise UnknownName(
                f"{self.title} has no load balancing called {name!r}; there are: {known}"
            )
        published = self.load_balancing[name]
        found = shares.find(self.name, "load_balancing", name)
        return published if found is None else found.of(published)

    def tuned(self, state: str) -> Sourced:
        """Return the share that closed forms take a state of tuning to keep."""
        found = shares.find(self.name, "tuning", state)
        return self.tuning[state] if found is None else found.of(self.tuning[state])

    def source(self, key: str) -> Source:
        """Return what stands behind a key of a share: one of the fabric's, or packets."""
        return shares.PACKETS if key == shares.PACKETS.key else self.sources[key]

    def assumption(self, mode: str | None = None) -> str:
        """Say which factor stands in for what only a simulation can give."""
        share = self.balanced(mode)
        return ASSUMED_UNTIL_SIMULATED.format(
            title=self.title,
            mode=mode or self.default_load_balancing,
            value=share.value,
            low=share.low,
            high=share.high,
            sources=", ".join(share.sources),
            both=self._both("load_balancing", mode or self.default_load_balancing),
        )

    def tuning_assumption(self, state: str) -> str:
        """Say what a state of tuning is taken to keep."""
        share = self.tuned(state)
        return ASSUMED_OF_TUNING.format(
            title=self.title,
            state=state,
            value=share.value,
            low=share.low,
            high=share.high,
            sources=", ".join(share.sources),
            both=self._both("tuning", state),
        )

    def effects(self, state: str) -> tuple[str, ...]:
        """Say what packets show of a state of tuning that closed forms have no factor for."""
        found = shares.effects(self.name, state)
        return tuple(f"{self.title} {state}, simulated: {one.said}" for one in found)

    def _both(self, factor: shares.Factor, mode: str) -> str:
        found = shares.find(self.name, factor, mode)
        return "" if found is None else f"; {found.said}"


@cache
def find(name: str) -> Fabric:
    """Load a fabric by name.

    >>> find("infiniband").title
    'InfiniBand'
    """
    return plugins.load(fabrics, name, Fabric)


def names() -> list[str]:
    """List the fabrics."""
    return plugins.names(fabrics)
