"""The door from Python: wire a network, add flows, run, read what happened."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from weft import plugins
from weft.engines.packet import balancing, congestion, recovery
from weft.engines.packet.balance import Balancing
from weft.engines.packet.control import Control, ignore_arrival
from weft.engines.packet.deadlock import deadlock
from weft.engines.packet.events import NEVER
from weft.engines.packet.hooks import BALANCINGS, CONTROLS, RECOVERIES
from weft.engines.packet.loop import begin_flows, run
from weft.engines.packet.parts import Parts, one_part, parts_of, place_events
from weft.engines.packet.recover import Recovery
from weft.engines.packet.tables import (
    CHOICE,
    COUNTS,
    ENTROPIES,
    FLOW,
    FLOWLET,
    FLOWLETS,
    HOST,
    KNOBS,
    LINK,
    LOAD,
    PACKET,
    PAUSE,
    RELAY,
    RING,
    SETTINGS,
    SHARE,
    SWITCH,
    Feedback,
    FlowControl,
    State,
    StateOfClasses,
    Stop,
    Watchdog,
)
from weft.engines.packet.wiring import Floats, Routes, Wiring, shortest_routes
from weft.errors import SpecError
from weft.kernel import Table, table
from weft.units import bytes_from_bits

PS_PER_S = 1e12
FOREVER_PS = 1 << 41
FIRST_POOL = 1 << 20
"""Packets that there is room for: 64 MiB, but memory is used only for those ever needed."""
UPDATE_BYTES = 8
"""CBFC: an ordered set of control, which may come in the middle of a frame."""
MOST_CREDITS = (1 << 20) - 1
"""CBFC counts in 20 bits."""
PAUSE_MESSAGE, RESUME_MESSAGE = 1, 0
PLENTY_BYTES = 1 << 30
"""Credit of what is inside a switch or lets time pass: there it is no limit."""
MOST_PACKETS = (1 << 31) - 1
SEED_MASK = (1 << 62) - 1
MOST_CLASSES = 15
"""Data lanes of InfiniBand; Ethernet has eight priorities."""
COPIED = (
    "header_bytes", "control_bytes", "credit_unit_bytes", "credit_overhead_bytes", "xoff_bytes",
    "xon_bytes", "kmin_bytes", "kmax_bytes", "entropies", "window_packets", "link_retry",
    "reordering_packets",
)  # fmt: skip
"""Options that the kernel takes under the same name, as they are."""
SHARED_BY_CLASSES = (
    "mtu_bytes", "header_bytes", "control_bytes", "cut_through_bytes", "shared_buffer_bytes",
    "watchdog", "watchdog_detection_ps", "watchdog_restoration_ps", "stalls", "pause_records",
    "gap_between_operations_ps", "window_packets", "link_retry", "seed",
    "messages_per_s", "message_bytes", "connections", "connection_miss_ps",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """A host whose NIC takes nothing for a time, and says so by pausing its leaf."""

    host: int
    begin_ps: int
    end_ps: int
    traffic_class: int | None = None
    """Number of the class that it takes nothing of; none: of all that can be paused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrafficClass:
    """One of the classes that every port tells apart."""

    name: str = ""
    priority: int = 0
    """Classes of a higher priority always go first."""
    weight: float = 1.0
    """Share among the classes of its priority, in proportion."""
    options: "Options | None" = None
    """How it behaves; none: as the options that it is part of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How the network behaves. Sizes in bytes, times in picoseconds."""

    flow_control: FlowControl = FlowControl.PFC
    congestion: str = "none"
    balancing: str = "ecmp"
    recovery: str = "trim"
    knobs: Mapping[str, float] = field(default_factory=dict)
    """Knobs of the congestion control that differ from its defaults."""
    flowlet_gap_ps: int = 20_000_000
    """Flowlets: a longer pause between packets of a flow lets it change its path."""
    entropies: int = 64
    """Where hosts balance: values that they choose among, a power of two."""
    mtu_bytes: int = 4096
    header_bytes: int = 0
    control_bytes: int = 64
    trims_last_ratio: float = 0.0
    """Trimming where nothing pauses: chance that a full queue trims its last packet and takes
    the one that comes, as NDP's do [Handley et al., SIGCOMM 2017]."""
    cut_through_bytes: int | None = None
    """Forward after so many bytes; none: store and forward."""
    queue_limit_bytes: int = 1 << 40
    headroom_bytes: int | None = None
    """What a switch can take in above XOFF; none: as much as it needs."""
    shared_buffer_bytes: int | None = None
    """Buffer of a switch that all its queues share; none: every queue has its own."""
    alpha_ratio: float = 1.0
    """Share of the free part of a shared buffer that one queue may take."""
    watchdog: Watchdog = Watchdog.OFF
    watchdog_detection_ps: int = 200_000_000_000
    watchdog_restoration_ps: int = 200_000_000_000
    stalls: tuple["Stall", ...] = ()
    """Receivers that stop draining for a time."""
    pause_records: int = 1 << 16
    """Pauses that are recorded with their cause; later ones are only counted."""
    xoff_bytes: int = 200_000
    xon_bytes: int = 180_000
    credit_bytes: int = 131_072
    """Credit of a link, or of one of its lanes where there are several classes."""
    credit_unit_bytes: int = 128
    """CBFC: a packet takes whole units of this size. [default of SAI, as are the next two]"""
    credit_overhead_bytes: int = 0
    """CBFC: what a packet takes beside its size; may be negative."""
    credit_spacing_bytes: int = 6400
    """CBFC: what passes on the wire at least between two updates of one lane."""
    kmin_bytes: int = 400_000
    kmax_bytes: int = 1_600_000
    pmax_ratio: float = 0.2
    cnp_gap_ps: int = 50_000_000
    gap_between_operations_ps: int = 0
    acknowledge: bool = False
    """Acknowledge every packet even where the congestion control does not need it."""
    trimming: bool | None = None
    """Whether a full queue trims instead of drops; none: what the recovery is made for."""
    timeout_ps: int = 1_000_000_000
    """Retransmission timer."""
    acknowledge_every_packets: int = 16
    """Where not every packet is acknowledged but packets have numbers."""
    acknowledge_bytes: int = 0
    """Trimming: unmarked packets are acknowledged together once there is so much; 0: each."""
    reordering_packets: int = 0
    """Selective repeat: a packet is missing once one so much later has come."""
    window_packets: int = 1024
    """Selective repeat: how far apart the packets under way may be."""
    link_retry: bool = False
    """Whether links repeat damaged frames themselves (LLR)."""
    messages_per_s: float | None = None
    """Messages that a NIC can begin in a second; none: as many as the wire takes."""
    message_bytes: int | None = None
    """A flow is sent in messages of this size; none: it is one message."""
    connections: int | None = None
    """Connections whose state a NIC holds; none: all."""
    connection_miss_ps: int = 0
    """What it costs a NIC to go to a connection whose state it does not hold."""
    seed: int = 1
    classes: tuple[TrafficClass, ...] = ()
    """Traffic classes; none: a single one."""

    @property
    def payload_bytes(self) -> int:
        """Of a full packet: no packet holds more than one message."""
        return min(self.mtu_bytes, self.message_bytes or self.mtu_bytes)

    def by_class(self) -> tuple["Options", ...]:
        """Return the options of every class."""
        own = replace(self, classes=())
        return tuple(item.options or own for item in self.classes) or (own,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Relay:
    """Flows, all of one size, that send what others bring: those end where these begin."""

    feeders: tuple[int, ...]
    fed: tuple[int, ...]
    lead_bytes: int = 0
    """What the fed flows may send ahead of the slowest feeder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flows:
    """What is sent: arrays of one length; ``after[i]`` lists flows that i must wait for."""

    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]
    size_bytes: npt.NDArray[np.int64]
    begin_ps: npt.NDArray[np.int64] | None = None
    predecessor: npt.NDArray[np.int64] | None = None
    """Pairs (before, after), shape (pairs, 2)."""
    connection: npt.NDArray[np.int64] | None = None
    """Flows of one connection (queue pair) hash alike; none: each flow is one of its own."""
    relays: tuple[Relay, ...] = ()
    """A flow feeds one relay at most, and one relay at most feeds it."""
    traffic_class: npt.NDArray[np.int64] | None = None
    """By number, in the order of the classes; none: all are of the first."""
    lag_ps: npt.NDArray[np.int64] | None = None
    """From the end of the last that a flow waits for to its begin: where that is as long as
    the cables between switches, both ends can be in different parts of the network."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What happened. Arrays follow the order of flows and links; times in picoseconds."""

    stopped: Stop
    begin_ps: npt.NDArray[np.int64]
    end_ps: npt.NDArray[np.int64]
    """-1 where a flow did not end."""
    received_bytes: npt.NDArray[np.int64]
    counts: dict[str, int]
    links: Table
    """A row a lane: ``link + class * links``; with one class a row a link."""
    pauses: Table
    """Which lane paused which, and when."""
    now_ps: int
    deadlock: tuple[int, ...]
    """Lanes that wait for one another in a circle; empty unless nothing moves any more."""
    classes: int = 1

    @property
    def completion_ps(self) -> int:
        """When the last flow ended."""
        return int(self.end_ps.max(initial=-1))


def simulate(
    wiring: Wiring,
    flows: Flows,
    options: Options | None = None,
    *,
    until_ps: int = FOREVER_PS,
    routes: Routes | None = None,
) -> Outcome:
    """Run flows over a network until nothing is left to do, or until a time."""
    options = options or Options()
    state = make_state(wiring, routes or shortest_routes(wiring), flows, options)
    return finish(state, until_ps=until_ps)


def finish(state: State, *, until_ps: int = FOREVER_PS) -> Outcome:
    """Start the flows of a prepared state and run it until nothing is left to do."""
    begin_flows(state, first_flows(state.flows))
    return outcome_of(*run_to(state, until_ps))


def run_to(state: State, until_ps: int) -> tuple[State, Stop]:
    """Run to a time with as many packets as it takes; return the state and why it stopped."""
    while (stop := Stop(run(state, until_ps))) is Stop.POOL_LOW:
        state = with_larger_pool(state)
    return state, stop


def make_state(wiring: Wiring, routes: Routes, flows: Flows, options: Options) -> State:
    """Fill the tables of a simulation that has not begun."""
    rng = np.random.default_rng(options.seed)
    settings = _settings(wiring, routes, options)
    _allow_relays(settings, flows, options)
    flags = _flags(flows, settings)
    successor_start, successors = _successors(flows)
    relays, relay_of, relayed = _relays(flows)
    links = _lanes(wiring, options, rng)
    rings = np.zeros(2 * RING * len(links), np.int64)
    _write_stalls(links, rings, routes, options)
    hosts = _hosts(wiring, routes, flows, options)
    settings.limited[:] = hosts.message.any() or hosts.switch.any()
    parts = _parts(wiring, links, flows, settings)
    tree, part_rows, part_links = place_events(links, parts)
    made = State if len(settings) == 1 else StateOfClasses
    return made(
        links=links,
        packets=table(FIRST_POOL, PACKET),
        flows=_flows(flows, settings, rng),
        flags=flags,
        hosts=hosts,
        switches=table(max(1, wiring.switches), SWITCH),
        pauses=table(options.pause_records, PAUSE),
        loads=table(len(links) if settings.telemetry.any() else 1, LOAD),
        shares=table(len(links) if len(settings) > 1 else 1, SHARE),
        flowlets=_flowlets(wiring, options),
        choices=table(len(flows.source) if settings.chooses.any() else 1, CHOICE),
        settings=settings,
        counts=_counts(parts, options),
        tree=tree,
        parts=part_rows,
        part_links=part_links,
        rings=rings,
        leaf_of=routes.leaf_of,
        last_link=routes.last_link,
        groups=routes.groups,
        group_start=routes.group_start,
        group_links=routes.group_links,
        successor_start=successor_start,
        successors=successors,
        relays=relays,
        relay_of=relay_of,
        relayed=relayed,
    )


def _allow_relays(settings: Table, flows: Flows, options: Options) -> None:
    """Note in the settings whether switches relay, and refuse what that cannot go with."""
    settings.relays[:] = len(flows.relays) > 0
    if flows.relays and settings.numbered.any():
        raise SpecError(
            f"{options.recovery} numbers packets, and switches that reduce do not; "
            "use recovery trim on lossless links"
        )


def _counts(parts: Parts, options: Options) -> Table:
    """Return the counts of a simulation that has not begun: nothing sent, no packet free."""
    counts = table(1, COUNTS)
    counts.root[:], counts.lookahead[:], counts.free_packet[:] = 1, parts.lookahead_ps, -1
    counts.pool_packets[:], counts.pause_rows[:] = FIRST_POOL, options.pause_records
    return counts


def _parts(wiring: Wiring, links: Table, flows: Flows, settings: Table) -> Parts:
    """Cut the network, except where something is felt elsewhere at once.

    A flow begins when the last it waits for has ended, and a relay sends on what has come,
    wherever that was; senders of selective repeat know what has arrived.
    """
    nodes = wiring.hosts + wiring.switches
    if settings.selective.any():
        return one_part(nodes)
    pairs = [
        (feeder, fed) for relay in flows.relays for feeder in relay.feeders for fed in relay.fed
    ]
    at_once = np.array(pairs, np.int64).reshape(-1, 2)
    if flows.predecessor is not None:
        at_once = np.concatenate([at_once, _felt_at_once(wiring, flows)])
    places = np.stack([flows.target[at_once[:, 0]], flows.source[at_once[:, 1]]], 1)
    return parts_of(links, wiring.hosts, nodes, places)


def _felt_at_once(wiring: Wiring, flows: Flows) -> npt.NDArray[np.int64]:
    """Return the pairs of flows whose second begins sooner than a cable brings the news."""
    pairs = np.empty((0, 2), np.int64) if flows.predecessor is None else flows.predecessor
    if flows.lag_ps is None:
        return pairs
    cable_ps = round(wiring.longest_between_s * PS_PER_S)
    return pairs[flows.lag_ps[pairs[:, 1]] < max(1, cable_ps)]


def _lanes(wiring: Wiring, options: Options, rng: np.random.Generator) -> Table:
    """Fill the rows of all classes; those after the first draw from streams of their own."""
    first, *more = options.by_class()
    each = [_links(wiring, first, rng, np.random.default_rng([options.seed, 1]))]
    for number, item in enumerate(more, 1):
        streams = [np.random.default_rng([options.seed, end, number]) for end in (0, 1)]
        each.append(_links(wiring, item, *streams))
    if not more:
        return each[0]
    lanes = table(len(each) * len(each[0]), LINK)
    for number, rows in enumerate(each):
        lanes[number * len(rows) : (number + 1) * len(rows)] = rows
    return lanes


def _links(
    wiring: Wiring, options: Options, rng: np.random.Generator, rng_out: np.random.Generator
) -> Table:
    links = table(len(wiring.source), LINK)
    for name in ("data", "control", "wire"):
        links[f"{name}_head"] = links[f"{name}_tail"] = -1
    links.start_at[:] = NEVER
    links.propagation[:] = np.rint(wiring.propagation_s * PS_PER_S)
    links.ps_per_byte[:] = PS_PER_S / wiring.bytes_per_s
    links.source[:] = wiring.source
    links.target[:] = wiring.target
    in_units = options.flow_control is FlowControl.CBFC
    unit_bytes = options.credit_unit_bytes if in_units else 1
    links.credits[:] = options.credit_bytes // unit_bytes
    if wiring.nics is not None:
        beside = (wiring.source >= wiring.nics) & (wiring.source < wiring.hosts)
        links.credits[beside] = PLENTY_BYTES
    links.random[:] = rng.integers(1, SEED_MASK, len(links))
    links.random_out[:] = rng_out.integers(1, SEED_MASK, len(links))
    links.error_at[:] = NEVER
    links.watchdog_at[:] = NEVER
    lossy = options.flow_control is FlowControl.NONE
    links.limit_bytes[:] = options.queue_limit_bytes if lossy else NEVER
    if wiring.queue_ratio is not None and lossy:
        links.limit_bytes[:] = np.rint(options.queue_limit_bytes * wiring.queue_ratio)
    if wiring.endless is not None:
        links.limit_bytes[wiring.endless] = NEVER
    links.bounded[:] = links.limit_bytes < NEVER
    if wiring.bit_error_ratio is not None:
        _add_errors(links, wiring.bit_error_ratio, rng)
    return links


def _write_stalls(
    links: Table, rings: npt.NDArray[np.int64], routes: Routes, options: Options
) -> None:
    """Write the pauses of stalled receivers into the rings of their lanes, by time."""
    classes = options.by_class()
    stalls = sorted(options.stalls, key=lambda stall: stall.begin_ps)
    for stall, (number, item) in product(stalls, enumerate(classes)):
        if len(classes) > 1 and item.flow_control is FlowControl.NONE:
            continue  # nothing pauses a lossy class
        if stall.traffic_class not in {None, number}:
            continue
        link = int(routes.last_link[stall.host]) + number * (len(links) // len(classes))
        for time, value in ((stall.begin_ps, PAUSE_MESSAGE), (stall.end_ps, RESUME_MESSAGE)):
            slot = links.ring_tail[link]
            if slot >= RING:
                raise SpecError(
                    f"host {stall.host} stalls too often: at most {RING // 2} times"
                )
            rings[2 * (link * RING + slot) : 2 * (link * RING + slot) + 2] = time, value
            links.ring_tail[link] += 1


def _add_errors(links: Table, bit_error_ratio: Floats, rng: np.random.Generator) -> None:
    bad = bit_error_ratio > 0
    gaps = np.array([bytes_from_bits(1 / ratio) for ratio in bit_error_ratio[bad]])
    links.error_gap_bytes[bad] = gaps
    links.faulty[bad] = 1
    links.error_at[bad] = rng.exponential(gaps).astype(np.int64)


def _hosts(wiring: Wiring, routes: Routes, flows: Flows, options: Options) -> Table:
    """Fill a row a host; further rows hold the rings of senders of further classes."""
    classes = len(options.by_class())
    hosts = table(wiring.hosts * classes, HOST)
    hosts.turn[:] = -1
    hosts.granting[:] = -1
    hosts.waiting_head[:] = -1
    hosts.waiting_tail[:] = -1
    hosts.uplink[:] = np.tile(routes.uplink, classes)
    hosts.downlink[:] = np.tile(routes.last_link, classes)
    hosts.timer_at[:] = NEVER
    hosts.rate_ratio[:] = 1.0
    nics = slice(wiring.hosts if wiring.nics is None else wiring.nics)
    hosts.patient[nics.stop :] = 1
    if options.messages_per_s is not None:
        hosts.message[nics] = round(PS_PER_S / options.messages_per_s)
    if options.connections is not None:
        missed = np.maximum(0.0, 1 - options.connections / _connections(flows, wiring.hosts))
        hosts.switch[nics] = np.rint(missed * options.connection_miss_ps)[nics]
    return hosts


def _connections(flows: Flows, hosts: int) -> Floats:
    """Count the connections that end at every host, at least one."""
    numbers = np.arange(len(flows.source)) if flows.connection is None else flows.connection
    many = int(numbers.max(initial=0)) + 1
    ends = np.concatenate([flows.source * many + numbers, flows.target * many + numbers])
    each = np.unique(ends) // many
    return np.maximum(1.0, np.bincount(each, minlength=hosts))


def hashes_of(wiring: Wiring, flows: Flows, seed: int) -> npt.NDArray[np.int64]:
    """Return what ECMP sees of every flow in a run of a seed; no link is damaged in it."""
    rng = np.random.default_rng(seed)
    rng.integers(1, SEED_MASK, len(wiring.source))  # links draw theirs first
    return _hashes(flows, rng)


def _hashes(flows: Flows, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Draw what ECMP sees of every flow; those of one connection have one hash."""
    hashes = rng.integers(1, SEED_MASK, len(flows.source))
    return hashes if flows.connection is None else hashes[flows.connection]


def _flows(flows: Flows, settings: Table, rng: np.random.Generator) -> Table:
    rows = table(len(flows.source), FLOW)
    rows.total_bytes[:] = flows.size_bytes
    rows.to_send_bytes[:] = flows.size_bytes
    rows.source[:] = flows.source
    rows.target[:] = flows.target
    rows.hash[:] = _hashes(flows, rng)
    rows.next[:] = -1
    rows.asked[:] = 1
    rows.end[:] = -1
    rows.last_cnp[:] = -NEVER
    if flows.traffic_class is not None:
        _check_classes(flows.traffic_class, len(settings))
        rows.traffic_class[:] = flows.traffic_class
    limits = np.where(settings.selective, settings.window_packets, MOST_PACKETS)
    rows.send_limit[:] = limits[rows.traffic_class]
    if flows.begin_ps is not None:
        rows.begin[:] = flows.begin_ps
    for relay in flows.relays:
        fed = np.array(relay.fed)
        rows.to_send_bytes[fed] = np.minimum(relay.lead_bytes, rows.total_bytes[fed])
        rows.withheld_bytes[fed] = rows.total_bytes[fed] - rows.to_send_bytes[fed]
    if flows.lag_ps is not None:
        rows.lag[:] = flows.lag_ps
    if flows.predecessor is not None:
        np.add.at(rows.waits_for, flows.predecessor[:, 1], 1)
    return rows


def _check_classes(asked: npt.NDArray[np.int64], classes: int) -> None:
    wrong = asked[(asked < 0) | (asked >= classes)]
    if len(wrong):
        raise SpecError(f"a flow is of class {wrong[0]}; there are {classes}, from 0")


def _flowlets(wiring: Wiring, options: Options) -> Table:
    flowlets = any(item.balancing == "flowlet" for item in options.by_class())
    rows = wiring.switches * FLOWLETS if flowlets else 1
    entries = table(rows, FLOWLET)
    entries.link[:] = -1
    return entries


def _flags(flows: Flows, settings: Table) -> npt.NDArray[np.uint8]:
    """Make room for what selective repeat knows of each flow's window."""
    if not settings.selective.any():
        return np.zeros(1, np.uint8)
    longest = -(-int(flows.size_bytes.max(initial=1)) // int(settings.mtu_bytes[0]))
    settings.window_packets[:] = min(int(settings.window_packets[0]), longest)
    return np.zeros(len(flows.source) * int(settings.window_packets[0]), np.uint8)


def _successors(flows: Flows) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    count = len(flows.source)
    if flows.predecessor is None or len(flows.predecessor) == 0:
        return np.zeros(count + 1, np.int32), np.zeros(1, np.int32)
    pairs = flows.predecessor[np.argsort(flows.predecessor[:, 0], kind="stable")]
    start = np.searchsorted(pairs[:, 0], np.arange(count + 1))
    return start.astype(np.int32), pairs[:, 1].astype(np.int32)


def _relays(
    flows: Flows,
) -> tuple[Table, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    relays = table(max(1, len(flows.relays)), RELAY)
    relay_of = np.full(len(flows.source) if flows.relays else 1, -1, np.int32)
    relayed: list[int] = []
    for number, relay in enumerate(flows.relays):
        row = relays[number]
        row.feeders, row.fed, row.first = len(relay.feeders), len(relay.fed), len(relayed)
        row.lead_bytes = relay.lead_bytes
        relay_of[list(relay.feeders)] = number
        relayed += [*relay.feeders, *relay.fed]
    return relays, relay_of, np.array(relayed or [0], np.int32)


def first_flows(rows: Table) -> npt.NDArray[np.int64]:
    """Return the flows that wait for nothing, by their time to begin."""
    first = np.flatnonzero(rows.waits_for == 0)
    return first[np.argsort(rows.begin[first], kind="stable")]


def _settings(wiring: Wiring, routes: Routes, options: Options) -> Table:
    """Fill a row a class."""
    classes = options.classes or (TrafficClass(),)
    _check_options(classes, options)
    settings = table(len(classes), SETTINGS)
    least = min(item.weight for item in classes)
    frame_bytes = options.mtu_bytes + options.header_bytes
    for row, item, own in zip(settings, classes, options.by_class(), strict=True):
        _set_class(row, wiring, routes, own)
        row.priority = item.priority
        row.turn_bytes = round(frame_bytes * item.weight / least)
    settings.classes[:] = len(classes)
    settings.clocked[:] = settings.grants.any()
    return settings


def _check_credits(options: Options) -> None:
    """Refuse credit in which the largest packet never fits, or that cannot be counted."""
    if options.flow_control not in {FlowControl.CREDITS, FlowControl.CBFC}:
        return
    unit = options.credit_unit_bytes if options.flow_control is FlowControl.CBFC else 1
    frame = options.mtu_bytes + options.header_bytes
    if options.flow_control is FlowControl.CBFC:
        if options.credit_bytes // unit > MOST_CREDITS:
            raise SpecError(
                f"credit of {options.credit_bytes} bytes in units of {unit}: at most "
                f"{MOST_CREDITS} units can be counted; take larger units"
            )
        frame = -(-(frame + options.credit_overhead_bytes) // unit) * unit
    if options.credit_bytes < frame:
        raise SpecError(
            f"credit of {options.credit_bytes} bytes: a packet takes {frame} and never fits"
        )


def _check_options(classes: tuple[TrafficClass, ...], options: Options) -> None:
    """Refuse classes that the engine cannot tell apart, or that differ in what they share."""
    if len(classes) > MOST_CLASSES:
        raise SpecError(f"{len(classes)} traffic classes: at most {MOST_CLASSES}")
    for number, item in enumerate(classes):
        name = item.name or str(number)
        if not item.weight > 0 or item.priority < 0:
            raise SpecError(
                f"traffic class {name}: weight {item.weight}, priority {item.priority}: "
                "a weight must be above 0, a priority 0 or more"
            )
        for shared in SHARED_BY_CLASSES:
            own = getattr(item.options or options, shared)
            if own != getattr(options, shared):
                raise SpecError(
                    f"traffic class {name}: {shared} {own} differs from "
                    f"{getattr(options, shared)}, and all classes share it"
                )


def _check_entropies(chosen: Balancing, options: Options) -> None:
    count = options.entropies
    if chosen.by_host and (count & (count - 1) or not 1 <= count <= ENTROPIES):
        raise SpecError(
            f"{count} entropy values: {options.balancing} takes a power of two, at most "
            f"{ENTROPIES}"
        )


def _set_class(row: Any, wiring: Wiring, routes: Routes, options: Options) -> None:  # noqa: ANN401 - a row
    _check_credits(options)
    control = plugins.load(congestion, options.congestion, Control)
    chosen = plugins.load(balancing, options.balancing, Balancing)
    _check_entropies(chosen, options)
    row.hosts, row.leaves, row.links = wiring.hosts, routes.leaves, len(wiring.source)
    for name in COPIED:
        row[name] = getattr(options, name)
    row.mtu_bytes = options.payload_bytes
    cut = options.cut_through_bytes
    row.cut_through_bytes = 1 << 40 if cut is None else cut
    row.flow_control = int(options.flow_control)
    row.spacing_bytes, row.update_bytes = options.credit_spacing_bytes, UPDATE_BYTES
    row.feedback = 2 if options.acknowledge else int(control.feedback)
    row.balancing = BALANCINGS.index(options.balancing)
    row.congestion = CONTROLS.index(options.congestion)
    _set_recovery(row, options)
    _set_buffers(row, options)
    row.pmax = options.pmax_ratio
    row.marking = 1 if control.marking else 2 * chosen.by_host
    row.chooses = chosen.by_host
    row.flowlet_gap = options.flowlet_gap_ps
    row.telemetry = control.telemetry
    row.grants = control.on_arrival is not ignore_arrival
    row.cnp_gap = options.cnp_gap_ps
    row.gap_between_operations = options.gap_between_operations_ps
    row.message_bytes = NEVER if options.message_bytes is None else options.message_bytes
    row.line_ps_per_byte = PS_PER_S / wiring.bytes_per_s[routes.uplink].max()
    row.knobs[:] = _knobs(control, options)
    if control.telemetry:
        row.load_span = row.knobs[list(control.knobs).index("base_rtt_ps")]


def _set_buffers(row: Any, options: Options) -> None:  # noqa: ANN401 - a row
    headroom, buffer = options.headroom_bytes, options.shared_buffer_bytes
    row.ingress_limit_bytes = NEVER if headroom is None else options.xoff_bytes + headroom
    row.shared = buffer is not None
    row.buffer_bytes = buffer or 0
    row.alpha = options.alpha_ratio
    row.watchdog = int(options.watchdog)
    row.watchdog_detection = options.watchdog_detection_ps
    row.watchdog_restoration = options.watchdog_restoration_ps


def _set_recovery(row: Any, options: Options) -> None:  # noqa: ANN401 - a row
    chosen = plugins.load(recovery, options.recovery, Recovery)
    each = row.feedback == int(Feedback.ACK)
    row.recovery = RECOVERIES.index(options.recovery)
    row.trims = chosen.trims if options.trimming is None else options.trimming
    lossy = options.flow_control is FlowControl.NONE
    row.trims_last_ratio = options.trims_last_ratio if row.trims and lossy else 0.0
    row.numbered = chosen.numbered
    row.selective = chosen.numbered and chosen.selective
    row.keeps_sender = chosen.numbered or each
    together = min(options.acknowledge_bytes, PLENTY_BYTES)  # counted in 32 bits
    row.acknowledge_bytes = 0 if chosen.numbered or not each else together
    row.acknowledge_every = 1 if each else options.acknowledge_every_packets
    row.timeout = options.timeout_ps


def _knobs(control: Control, options: Options) -> npt.NDArray[np.float64]:
    unknown = options.knobs.keys() - control.knobs.keys()
    if unknown:
        known = ", ".join(control.knobs) or "none"
        raise SpecError(f"{options.congestion} has no knob {sorted(unknown)}; it has: {known}")
    values = np.zeros(KNOBS)
    for place, (name, default) in enumerate(control.knobs.items()):
        values[place] = options.knobs.get(name, default)
    return values


def with_larger_pool(state: State) -> State:
    """Double the pool of packets, which is all that a simulation can run out of."""
    size = len(state.packets)
    packets = table(2 * size, PACKET)
    packets[:size] = state.packets
    state.counts.pool_packets[:] = len(packets)
    return state._replace(packets=packets)


def _by_time(pauses: Any) -> Table:  # noqa: ANN401 - rows
    """Sort pauses by when they began: parts of the network take turns, so rows are mixed."""
    return cast("Table", pauses[np.lexsort((pauses.link, pauses.begin))])


def outcome_of(state: State, stop: Stop) -> Outcome:
    """Read from the tables what has happened so far."""
    counts = state.counts[0]
    return Outcome(
        stopped=stop,
        begin_ps=state.flows.begin.copy(),
        end_ps=state.flows.end.copy(),
        received_bytes=state.flows.received_bytes.copy(),
        counts={str(name): int(counts[name]) for name in COUNTS.names or ()},
        links=state.links,
        pauses=_by_time(state.pauses[: counts.pauses_recorded]),
        now_ps=int(counts.latest),
        classes=len(state.settings),
        deadlock=deadlock(state) if counts.flows_done < len(state.flows) else (),
    )
