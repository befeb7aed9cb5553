"""Raising the load until something breaks: what is carried at 1, 2 and 3 times the peak.

The load goes up in steps of the projected peak. A step is broken where less is delivered than
was offered, or where the tail of a transfer's time has grown past what the lightest step shows;
the multiple at which it breaks is then narrowed by halving. With real hosts every host sends to
the next (iperf3, or perftest for a pair); without, packets are simulated.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from weft.errors import SpecError
from weft.network.network import resolve
from weft.predict.provenance import provenance
from weft.results import Provenance
from weft.spec.cluster import Cluster

if TYPE_CHECKING:
    from weft.predict.simulation import Simulation

DELIVERED: Final = 0.95
"""Share of the offered load that must be delivered: what tests of switches allow at most to be
short, and above the noise of a measured step."""
TAIL_GROWTH: Final = 3.0
"""Growth of the tail (p99, or round trip) over the lightest step that counts as broken: three
times the wait is what an operator sees as congestion. Judgement, and an option."""
LEAST_GROWTH_S: Final = 200e-6
"""A round trip that grew by less is noise of the hosts."""
STEPS: Final = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
_NARROWINGS: Final = 2
_FLOWS_PER_NIC: Final = 40
"""Transfers of each NIC at its full rate: enough for a tail, and simulated in seconds."""
_MOST_HOSTS: Final = 16
_SEED: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """What became of one load, per host."""

    offered_bytes_per_s: float
    delivered_bytes_per_s: float
    tail_s: float | None = None
    """p99 of the time of a transfer (simulated) or the mean round trip (TCP)."""
    tail_ratio: float | None = None
    """p99 of the time of a transfer over its time alone (simulated)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadStep:
    """One step of the load."""

    multiple: float
    """Of the projected peak."""
    carried: Carried
    delivered_ratio: float
    broken: bool
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadTest:
    """The load that a network carries, as multiples of the projected peak."""

    way: str
    hosts: int
    peak_bytes_per_s: float
    """Projected, per host, one way."""
    line_bytes_per_s: float | None
    """Of a host; none where nothing says."""
    steps: tuple[LoadStep, ...]
    """By multiple."""
    breaking_multiple: float | None
    """Lightest multiple that broke; none: none did."""
    sound_multiple: float
    """Heaviest multiple below it that did not."""
    said: tuple[str, ...] = ()
    provenance: Provenance


Offer = Callable[[float], Carried]
"""Offers a load per host, in bytes per second, and says what became of it."""


def raise_load(
    offer: Offer,
    peak_bytes_per_s: float,
    *,
    largest_multiple: float = 3.0,
    line_bytes_per_s: float | None = None,
    delivered_ratio: float = DELIVERED,
    tail_growth: float = TAIL_GROWTH,
) -> list[LoadStep]:
    """Raise the load step by step to where it breaks, then narrow that down."""
    most = largest_multiple
    if line_bytes_per_s:
        most = min(most, line_bytes_per_s / peak_bytes_per_s)
    found: list[LoadStep] = []
    asked = [m for m in STEPS if m < most] + [most]

    def step(multiple: float) -> LoadStep:
        first = found[0].carried if found else None
        carried = offer(multiple * peak_bytes_per_s)
        return _judged(multiple, carried, first, delivered_ratio, tail_growth)

    for multiple in asked:
        found.append(step(multiple))
        if found[-1].broken:
            break
    if found[-1].broken and len(found) > 1:
        low, high = found[-2].multiple, found[-1].multiple
        for _ in range(_NARROWINGS):
            one = step((low + high) / 2)
            low, high = (low, one.multiple) if one.broken else (one.multiple, high)
            found.append(one)
    return sorted(found, key=lambda one: one.multiple)


def _judged(
    multiple: float,
    carried: Carried,
    first: Carried | None,
    delivered_ratio: float,
    tail_growth: float,
) -> LoadStep:
    ratio = carried.delivered_bytes_per_s / carried.offered_bytes_per_s
    why = ""
    if ratio < delivered_ratio:
        why = f"{ratio:.0%} of the offered load was delivered"
    elif first is not None:
        why = _tail(carried, first, tail_growth)
    return LoadStep(
        multiple=multiple, carried=carried, delivered_ratio=ratio, broken=bool(why), why=why
    )  # fmt: skip


def _tail(carried: Carried, first: Carried, tail_growth: float) -> str:
    if carried.tail_ratio is not None and first.tail_ratio:
        growth = carried.tail_ratio / first.tail_ratio
        return f"the tail grew {growth:.1f} times" if growth > tail_growth else ""
    if carried.tail_s is None or not first.tail_s:
        return ""
    growth, more_s = carried.tail_s / first.tail_s, carried.tail_s - first.tail_s
    if growth > tail_growth and more_s > LEAST_GROWTH_S:
        return f"the round trip grew {growth:.1f} times"
    return ""


def finished(
    steps: Sequence[LoadStep],
    *,
    way: str,
    hosts: int,
    peak_bytes_per_s: float,
    line_bytes_per_s: float | None,
    said: tuple[str, ...],
    provenance: Provenance,
) -> LoadTest:
    """Put the steps of a load test together."""
    broken = [one.multiple for one in steps if one.broken]
    sound = [one.multiple for one in steps if not one.broken]
    return LoadTest(
        way=way, hosts=hosts, peak_bytes_per_s=peak_bytes_per_s,
        line_bytes_per_s=line_bytes_per_s, steps=tuple(steps),
        breaking_multiple=min(broken, default=None),
        sound_multiple=max((m for m in sound if not broken or m < min(broken)), default=0.0),
        said=said, provenance=provenance,
    )  # fmt: skip


def simulated_load(
    cluster: Cluster,
    peak_bytes_per_s: float,
    *,
    size_bytes: int = 1 << 20,
    hosts: int | None = None,
    largest_multiple: float = 3.0,
    delivered_ratio: float = DELIVERED,
    tail_growth: float = TAIL_GROWTH,
    report: Callable[[str], None] = lambda _: None,
) -> LoadTest:
    """Raise the load of random transfers on a cluster in the packet simulator.

    ``peak_bytes_per_s`` is what one host is projected to send at its peak.
    """
    host = cluster.host
    line = host.nics * host.nic_bytes_per_s
    if host.nics == 0 or cluster.hosts < 2:  # noqa: PLR2004 - a pair
        raise SpecError("a load needs two hosts with NICs; the cluster has not")
    if not 0 < peak_bytes_per_s <= line:
        raise SpecError("the peak must be above 0 and at most what the NICs of a host send")
    count = min(hosts or _MOST_HOSTS, cluster.hosts)
    small = cluster.with_(hosts=count)

    def offer(bytes_per_s: float) -> Carried:
        report(f"{bytes_per_s / peak_bytes_per_s:.2f} times the peak")
        return _simulated(small, bytes_per_s, size_bytes)

    steps = raise_load(
        offer, peak_bytes_per_s, largest_multiple=largest_multiple, line_bytes_per_s=line,
        delivered_ratio=delivered_ratio, tail_growth=tail_growth,
    )  # fmt: skip
    said = [f"transfers of {size_bytes} bytes between random hosts, Poisson arrivals"]
    if count < cluster.hosts:
        said.append(f"{count} of {cluster.hosts} hosts are simulated")
    if line < largest_multiple * peak_bytes_per_s:
        said.append(f"the NICs send no more than {line / peak_bytes_per_s:.2f} times the peak")
    from weft.predict.simulate import PACKET_EFFECTS  # noqa: PLC0415 - it compiles a simulator

    made = provenance(small, sources=(), assumptions=tuple(said))
    return finished(
        steps, way="simulated packet by packet", hosts=count, peak_bytes_per_s=peak_bytes_per_s,
        line_bytes_per_s=line, said=tuple(said),
        provenance=replace(
            made, engine="packet", seed=_SEED, models=made.models | PACKET_EFFECTS
        ),
    )  # fmt: skip


def _simulated(cluster: Cluster, bytes_per_s: float, size_bytes: int) -> Carried:
    from weft.predict.simulate import simulate  # noqa: PLC0415 - it compiles a simulator
    from weft.spec.scenario import BackgroundTraffic, Scenario, TrafficItem  # noqa: PLC0415

    host = cluster.host
    line = host.nics * host.nic_bytes_per_s
    duration_s = _FLOWS_PER_NIC * size_bytes / host.nic_bytes_per_s
    item = BackgroundTraffic.model_construct(
        name="load", load_ratio=min(1.0, bytes_per_s / line), size_bytes=size_bytes,
        duration_s=duration_s,
    )  # fmt: skip
    scenario = Scenario.model_construct(
        name="load", cluster=cluster, traffic=(TrafficItem.model_construct(background=item),),
        seeds=(_SEED,), until_s=min(2.0, 20 * duration_s),
    )  # fmt: skip
    return _carried(cluster, simulate(scenario), duration_s)


def _carried(cluster: Cluster, done: "Simulation", duration_s: float) -> Carried:
    """Read a simulation: what was delivered while transfers arrived, after a warm-up."""
    (load,) = done.traffic
    kind = resolve(cluster).fabric
    window = [
        one for one in done.moments if duration_s / 4 <= one.time_s <= duration_s
    ]  # fmt: skip
    wire = sum(one.delivered_bytes_per_s for one in window) / max(1, len(window))
    offered = load.size_bytes / duration_s / cluster.hosts
    payload = wire * kind.payload_ratio(cluster.fabric.mtu_bytes) / cluster.hosts
    return Carried(
        # The window may hold more than its share of what was sent: what came was sent.
        offered_bytes_per_s=max(offered, payload), delivered_bytes_per_s=payload,
        tail_s=load.flow_s.p99 if load.flow_s else None,
        tail_ratio=load.slowdown_ratio.p99 if load.slowdown_ratio else None,
    )  # fmt: skip
