"""Raising the load until something breaks: what is carried at 1, 2 and 3 times the peak.

The load goes up in steps of the projected peak. A step is broken where less is delivered than
was offered, or where the tail of a transfer's time has grown past what the lightest step shows;
the multiple at which it breaks is then narrowed by halving. With real hosts every host sends to
the next (iperf3, or perftest for a pair); without, packets are simulated.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Final

from weft.errors import SpecError
from weft.network.network import resolve
from weft.predict.provenance import provenance
from weft.results import Provenance
from weft.spec.cluster import Cluster

if TYPE_CHECKING:
    from weft.predict.simulation import Simulation

LEAST_GROWTH_S: Final = 200e-6
"""A round trip that grew by less is noise of the hosts."""
STEPS: Final = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
_NARROWINGS: Final = 2
_FLOWS_PER_NIC: Final = 40
"""Transfers of each NIC at its full rate: enough for a tail, and simulated in seconds."""
_MOST_HOSTS: Final = 16
_SEED: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How far the load is raised, and what counts as broken."""

    largest_multiple: float = 3.0
    """Of the projected peak."""
    delivered_ratio: float = 0.95
    """Share of the offered load that must be delivered: what tests of switches allow at most to
    be short, and above the noise of a measured step."""
    tail_growth: float = 3.0
    """Growth of the tail (p99, or round trip) over the lightest step: three times the wait is
    what an operator sees as congestion. Judgement."""


USUAL: Final = Limits()


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
    said: tuple[str, ...] = ()
    provenance: Provenance

    @property
    def breaking_multiple(self) -> float | None:
        """Lightest multiple that broke; none: none did."""
        return min((step.multiple for step in self.steps if step.broken), default=None)

    @property
    def sound_multiple(self) -> float:
        """Heaviest multiple below it that did not."""
        most = inf if self.breaking_multiple is None else self.breaking_multiple
        sound = (step.multiple for step in self.steps if not step.broken)
        return max((multiple for multiple in sound if multiple < most), default=0.0)


Offer = Callable[[float], Carried]
"""Offers a load per host, in bytes per second, and says what became of it."""


def raise_load(
    offer: Offer,
    peak_bytes_per_s: float,
    limits: Limits = USUAL,
    *,
    line_bytes_per_s: float | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> tuple[LoadStep, ...]:
    """Raise the load step by step to where it breaks, then narrow that down."""
    most = limits.largest_multiple
    if line_bytes_per_s:
        most = min(most, line_bytes_per_s / peak_bytes_per_s)
    found: list[LoadStep] = []

    def step(multiple: float) -> LoadStep:
        report(f"{multiple:.2f} times the peak")
        first = found[0].carried if found else None
        one = _judged(multiple, offer(multiple * peak_bytes_per_s), first, limits)
        found.append(one)
        return one

    for multiple in (*(m for m in STEPS if m < most), most):
        if step(multiple).broken:
            break
    if found[-1].broken and len(found) > 1:
        low, high = found[-2].multiple, found[-1].multiple
        for _ in range(_NARROWINGS):
            one = step((low + high) / 2)
            low, high = (low, one.multiple) if one.broken else (one.multiple, high)
    return tuple(sorted(found, key=lambda item: item.multiple))


def _judged(
    multiple: float, carried: Carried, first: Carried | None, limits: Limits
) -> LoadStep:
    ratio = carried.delivered_bytes_per_s / carried.offered_bytes_per_s
    why = "" if first is None else _tail(carried, first, limits.tail_growth)
    if ratio < limits.delivered_ratio:
        why = f"{ratio:.0%} of the offered load was delivered"
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


def simulated_load(
    cluster: Cluster,
    peak_bytes_per_s: float,
    limits: Limits = USUAL,
    *,
    size_bytes: int = 1 << 20,
    hosts: int | None = None,
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

    steps = raise_load(
        lambda bytes_per_s: _simulated(small, bytes_per_s, size_bytes), peak_bytes_per_s,
        limits, line_bytes_per_s=line, report=report,
    )  # fmt: skip
    said = [f"transfers of {size_bytes} bytes between random hosts, Poisson arrivals"]
    if count < cluster.hosts:
        said.append(f"{count} of {cluster.hosts} hosts are simulated")
    if line < limits.largest_multiple * peak_bytes_per_s:
        said.append(f"the NICs send no more than {line / peak_bytes_per_s:.2f} times the peak")
    from weft.predict.simulate import PACKET_EFFECTS  # noqa: PLC0415 - it compiles a simulator

    made = provenance(small, sources=(), assumptions=tuple(said))
    return LoadTest(
        way="simulated packet by packet", hosts=count, peak_bytes_per_s=peak_bytes_per_s,
        line_bytes_per_s=line, steps=steps, said=tuple(said),
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
        moment for moment in done.moments if duration_s / 4 <= moment.time_s <= duration_s
    ]  # fmt: skip
    wire = sum(moment.delivered_bytes_per_s for moment in window) / max(1, len(window))
    offered = load.size_bytes / duration_s / cluster.hosts
    payload = wire * kind.payload_ratio(cluster.fabric.mtu_bytes) / cluster.hosts
    return Carried(
        # The window may hold more than its share of what was sent: what came was sent.
        offered_bytes_per_s=max(offered, payload), delivered_bytes_per_s=payload,
        tail_s=load.flow_s.p99 if load.flow_s else None,
        tail_ratio=load.slowdown_ratio.p99 if load.slowdown_ratio else None,
    )  # fmt: skip
