"""The settings of a scenario as the options of the kernel."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from weft import plugins
from weft.catalogue.devices import Nic
from weft.engines.packet import balancing, congestion
from weft.engines.packet.balance import Balancing
from weft.engines.packet.control import Control
from weft.engines.packet.hooks import BALANCINGS
from weft.engines.packet.inside import inside_of
from weft.engines.packet.simulation import FOREVER_PS, PS_PER_S, Options, Stall, TrafficClass
from weft.engines.packet.tables import FlowControl, Watchdog
from weft.errors import SpecError
from weft.network.detour import DETOURS
from weft.network.fabric import Fabric
from weft.network.network import layout, resolve
from weft.sources import Kind, Source, sourced
from weft.spec.base import Part
from weft.spec.cluster import Cluster
from weft.spec.scenario import Scenario
from weft.spec.settings import ClassSettings, NetworkSettings
from weft.units import parse_size, parse_time

CUT_THROUGH_BYTES: Final = 64
"""A switch forwards once it has the headers."""
REORDERED_PACKETS: Final = 64
"""Where packets take many paths a gap is no loss yet: the fewest, doubling from 8, at which a
permutation sprayed over two tiers of 400 Gb/s reports none; with none a quarter more time."""
_STAND_INS: Final = {"planned": "adaptive", "scheduled": "spray"}
"""Modes of fabrics that the engine has no file for, and the nearest that it has."""


def options_of(scenario: Scenario, seed: int) -> Options:
    """Return the kernel's options for one run of a scenario."""
    network = scenario.network
    classes = tuple(
        TrafficClass(
            name=settings.name,
            priority=settings.priority,
            weight=settings.weight,
            options=_options(scenario, _laid_over(network, settings), seed),
        )
        for settings in network.classes
    )
    return replace(_options(scenario, network, seed), classes=classes)


def class_numbers(scenario: Scenario) -> list[int]:
    """Return the number of the traffic class of every traffic."""
    asked = [item.content.traffic_class for item in scenario.traffic]
    return [0 if name is None else _class_number(scenario, name) for name in asked]


def _class_number(scenario: Scenario, name: str) -> int:
    return [settings.name for settings in scenario.network.classes].index(name)


def _laid_over(network: NetworkSettings, own: ClassSettings) -> NetworkSettings:
    """Lay what a class sets over the network's settings; another control has its own knobs."""
    changes: dict[str, Any] = {}
    for name, value in own:
        under = getattr(network, name, None)
        if isinstance(value, Part):
            set_here = {key: item for key, item in value if item is not None}
            changes[name] = under.model_copy(update=set_here) if under else value
        elif name == "knobs":
            same = own.congestion in {None, network.congestion}
            changes[name] = {**network.knobs, **value} if same else value
        elif name in NetworkSettings.model_fields and value is not None:
            changes[name] = value
    return network.model_copy(update=changes)


def _options(scenario: Scenario, network: NetworkSettings, seed: int) -> Options:
    cluster = scenario.cluster
    fabric = resolve(cluster).fabric
    mtu = network.mtu_bytes or cluster.fabric.mtu_bytes or fabric.default_mtu_bytes
    asked: dict[str, Any] = {
        "flow_control": _flow_control(network.flow_control),
        "congestion": network.congestion,
        "balancing": balancing_of(network, cluster, fabric),
        "cut_through_bytes": CUT_THROUGH_BYTES if network.cut_through else None,
        "cnp_gap_ps": _picoseconds(network.cnp_gap_s),
        "timeout_ps": _picoseconds(network.timeout_s),
        "link_retry": network.link_retry,
        "entropies": network.entropy_values,
        "acknowledge_bytes": network.acknowledge_together_bytes,
        "credit_unit_bytes": network.credit_unit_bytes,
        "credit_overhead_bytes": network.credit_overhead_bytes,
        "credit_spacing_bytes": network.credit_spacing_bytes,
        "flowlet_gap_ps": _picoseconds(network.flowlet_gap_s),
        **_repeats(network, cluster, fabric),
        "watchdog": Watchdog[network.watchdog.action.upper()],
        "watchdog_detection_ps": _picoseconds(network.watchdog.detection_s),
        "watchdog_restoration_ps": _picoseconds(network.watchdog.restoration_s),
        "alpha_ratio": network.buffer.alpha_ratio,
        "shared_buffer_bytes": network.buffer.shared_bytes,
        "stalls": _stalls(scenario),
        **limits_of(scenario),
        "pmax_ratio": network.ecn.pmax_ratio,
        **_thresholds(network, cluster),
    }
    return Options(
        mtu_bytes=mtu,
        header_bytes=round(fabric.header_bytes.value),
        acknowledge=network.acknowledge,
        knobs=_knobs(network),
        seed=seed,
        **{name: value for name, value in asked.items() if value is not None},
    )


def _repeats(network: NetworkSettings, cluster: Cluster, fabric: Fabric) -> dict[str, Any]:
    """Return how what is lost is sent again: as set, or as NICs do where anything can be lost.

    Without numbers (trim) a packet that vanishes is never sent again, so it is not for damaged
    frames and watchdogs that drop.
    """
    recovery, trimming = network.recovery, network.trimming
    mode = balancing_of(network, cluster, fabric)
    in_order = mode in BALANCINGS and plugins.load(balancing, mode, Balancing).in_order
    damaged = bool(network.bit_error_ratio) and not network.link_retry
    if recovery is None and (damaged or network.watchdog.action == "drop"):
        recovery = "go_back_n" if in_order else "selective_repeat"
        if trimming is None and network.flow_control == "none":
            trimming = True
    late = network.reordering_packets
    if late is None and recovery == "selective_repeat" and not in_order:
        late = REORDERED_PACKETS
    return {"recovery": recovery, "trimming": trimming, "reordering_packets": late}


def balancing_of(network: NetworkSettings, cluster: Cluster, fabric: Fabric) -> str:
    """Return the load balancing: as set, or the fabric's, or the nearest there is to it."""
    mode = cluster.fabric.load_balancing or fabric.default_load_balancing
    if network.balancing is None and mode in DETOURS:  # packets take the shortest paths
        raise SpecError(
            f"fabric.load_balancing: {mode} takes detours, and packets have the shortest "
            "paths alone; set network.balancing to adaptive, or use --fidelity flow"
        )
    known = mode if mode in BALANCINGS else "ecmp"
    return network.balancing or _STAND_INS.get(mode, known)


def _stalls(scenario: Scenario) -> tuple[Stall, ...]:
    """Return the endpoints that stop taking packets: all planes of the NIC of a GPU."""
    host, planes = scenario.cluster.host, layout(scenario.cluster).planes
    inside = inside_of(scenario)
    ends = planes * (1 if inside is None else inside.lanes)
    found = []
    for receiver in scenario.stuck:
        server, place = divmod(receiver.gpu, host.gpus)
        port = server * host.nics + place * host.nics // host.gpus
        times = (
            min(FOREVER_PS, round(t * PS_PER_S)) for t in (receiver.begin_s, receiver.end_s)
        )
        begin_ps, end_ps = times
        name = receiver.traffic_class
        number = None if name is None else _class_number(scenario, name)
        found += [
            Stall(
                host=port * ends + end,
                begin_ps=begin_ps,
                end_ps=end_ps,
                traffic_class=number,
            )
            for end in range(ends)
        ]
    return tuple(found)


def _picoseconds(time_s: float | None) -> int | None:
    """Count picoseconds; what takes longer than any simulation takes forever."""
    return None if time_s is None else min(FOREVER_PS, round(time_s * PS_PER_S))


def _flow_control(name: str | None) -> FlowControl | None:
    return None if name is None else FlowControl[name.upper()]


def link_rate_of(cluster: Cluster) -> float:
    """Return the rate of one link of a cluster, in bytes per second."""
    rate = cluster.fabric.link_bytes_per_s or cluster.host.nic_bytes_per_s
    return rate / cluster.topology.planes


def _thresholds(network: NetworkSettings, cluster: Cluster) -> dict[str, int | None]:
    """Return thresholds, scaled from the link rate that they are for to that of the cluster."""
    rate = link_rate_of(cluster)
    factor = rate / network.at_bytes_per_s if network.at_bytes_per_s else 1.0
    found = {
        "xoff_bytes": network.pfc.xoff_bytes, "xon_bytes": network.pfc.xon_bytes,
        "kmin_bytes": network.ecn.kmin_bytes, "kmax_bytes": network.ecn.kmax_bytes,
        "queue_limit_bytes": network.queue_limit_bytes, "credit_bytes": network.credit_bytes,
        "headroom_bytes": network.buffer.headroom_bytes,
    }  # fmt: skip
    return {name: None if v is None else round(v * factor) for name, v in found.items()}


def _knobs(network: NetworkSettings) -> Mapping[str, float]:
    """Turn knobs as written (rate_timer_s: 55us) into those of the control (picoseconds)."""
    if not network.knobs or network.congestion is None:
        return {}
    known = plugins.load(congestion, network.congestion, Control).knobs
    written = {_outside(name): name for name in known}
    unknown = network.knobs.keys() - written.keys()
    if unknown:
        raise SpecError(
            f"network.knobs: {network.congestion} has no knob {', '.join(sorted(unknown))}; "
            f"it has: {', '.join(written) or 'none'}"
        )
    return {written[name]: _number(name, value) for name, value in network.knobs.items()}


def _outside(knob: str) -> str:
    """Name a knob as files do: times in seconds with a unit, not picoseconds.

    >>> _outside("rate_timer_ps"), _outside("gain_ratio")
    ('rate_timer_s', 'gain_ratio')
    """
    return knob.removesuffix("_ps") + "_s" if knob.endswith("_ps") else knob


def _number(name: str, value: str | float) -> float:
    if name.endswith("_s"):
        return parse_time(str(value)) * PS_PER_S
    if name.endswith("_bytes"):
        return float(parse_size(str(value)))
    if isinstance(value, str):
        raise SpecError(f"network.knobs.{name}: value {value!r}: must be a plain number")
    return float(value)


_SOURCES: Final = {
    "scalarnic": Source(
        key="scalarnic",
        kind=Kind.PAPER,
        title=(
            "A Scalable RDMA Network Interface Card with Efficient Cache Management, ISCAS"
            " 2023: a commercial NIC loses 47 % of its rate at a few thousand connections"
        ),
    ),
    "estimate": Source(
        key="estimate",
        kind=Kind.ESTIMATE,
        title="Judgement: no vendor states the cache of a NIC; 0.9 / 40 million reads a second",
    ),
}
CONNECTIONS: Final = sourced(2000, "scalarnic", "estimate", low=500, high=10_000, confidence=1)
"""Connections whose state a NIC holds: some thousands."""
CONNECTION_MISS_S: Final = sourced(
    25e-9, "scalarnic", "estimate", low=5e-9, high=100e-9, confidence=1
)
"""What a miss takes of the NIC's time. Losing 47 % of a rate R is 0.9 / R a message; R is that
of small reads on the NICs of that study's kind."""


def limits_of(scenario: Scenario) -> dict[str, Any]:
    """Return the options of the kernel that NICs set; TCP has no queue pairs or messages."""
    nic = scenario.network.nic
    network = resolve(scenario.cluster)
    if not network.fabric.rdma:
        return {"messages_per_s": nic.messages_per_s, "message_bytes": nic.message_bytes}
    rate = nic.messages_per_s or _messages_per_s(network.nic)
    miss_s = nic.connection_miss_s
    miss_s = CONNECTION_MISS_S.value if miss_s is None else miss_s
    return {
        "messages_per_s": None if rate is None else rate / scenario.cluster.topology.planes,
        "message_bytes": nic.message_bytes,
        "connections": nic.connections or round(CONNECTIONS.value),
        "connection_miss_ps": round(miss_s * PS_PER_S),
    }


def _messages_per_s(nic: Nic | None) -> float | None:
    if nic is None or nic.messages_per_s is None:
        return None
    return nic.messages_per_s.value
