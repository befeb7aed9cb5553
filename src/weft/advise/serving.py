"""Networks side by side for an inference service, each at its best.

For each network, NICs, switch, topology and oversubscription are chosen together with the
parallelism of the service, for the least cost of an output token. Where one replica fits in a
host, hosts without a scale-out network are a row too.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import hypot, inf

from weft.advise.best import networks
from weft.advise.candidate import GIVEN, NONE, Candidate, find
from weft.advise.case import without_nics
from weft.advise.compare import DEFAULT, LeftOut, over_years
from weft.advise.knobs import fabric_factor, with_bandwidth
from weft.advise.limits import objections
from weft.advise.pins import Pins
from weft.advise.recommendation import RESOLVED
from weft.advise.spread import price_errors
from weft.advise.wording import capital, joined, percent
from weft.engines.analytic import inference as engine
from weft.errors import Infeasible, WeftError
from weft.predict.inference import ServicePrediction, predict_service, spread_text
from weft.results import Estimate, Provenance
from weft.spec.cluster import Cluster
from weft.spec.inference import Inference


class ServiceVerdict(StrEnum):
    """What is said of one row."""

    ADVISED = "recommended"
    TIED = "costs the same"
    COSTS_MORE = "more expensive"
    EXCLUDED = "not recommended"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceLine:
    """One network at its best for the service."""

    name: str
    title: str
    prediction: ServicePrediction
    cost_ratio: Estimate
    """Cost of a token over that of the cheapest, errors that both share cancelled."""
    objections: tuple[str, ...]
    """Why it is not recommended whatever it costs."""
    verdict: ServiceVerdict


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceComparison:
    """Networks for one inference service, and which to take."""

    cluster: Cluster
    service: Inference
    years: float
    sentence: str
    fabric: str | None
    """The network that is recommended; none: no row meets the owner's limits."""
    lines: tuple[ServiceLine, ...]
    left_out: tuple[LeftOut, ...]
    provenance: Provenance


def compare_service(
    cluster: Cluster,
    service: Inference,
    fabrics: Sequence[str] | None = None,
    *,
    years: float | None = None,
    pins: Iterable[str] = (),
) -> ServiceComparison:
    """Compare networks for an inference service, each at its best.

    ``pins`` are dotted keys that keep the value of the cluster, as in ``compare``.
    """
    span = cluster.prices.years if years is None else years
    cluster = over_years(cluster, span)
    found, left_out = _predictions(cluster, service, _names(cluster, fabrics), Pins.of(pins))
    if not found:
        reasons = "; ".join(f"{out.name}: {out.reason}" for out in left_out)
        raise Infeasible(f"no network can carry this service: {reasons}")
    limits = cluster.constraints
    against = {n: objections(find(n), item.cost, limits) for n, item in found.items()}
    free = {name: item for name, item in found.items() if not against[name]}
    cheapest = min(free or found, key=lambda name: found[name].usd_per_1m_tokens.value)
    ratios = {name: _cost_ratio(item, found[cheapest]) for name, item in found.items()}
    advised = cheapest if free else None
    lines = tuple(
        ServiceLine(
            name=name,
            title=find(name).title,
            prediction=item,
            cost_ratio=ratios[name],
            objections=against[name],
            verdict=_verdict(name, advised, against[name], ratios[name]),
        )
        for name, item in found.items()
    )
    return ServiceComparison(
        cluster=cluster,
        service=service,
        years=span,
        sentence=_sentence(lines, advised),
        fabric=advised,
        lines=lines,
        left_out=left_out,
        provenance=found[cheapest].provenance,
    )


def _names(cluster: Cluster, fabrics: Sequence[str] | None) -> tuple[str, ...]:
    for name in fabrics or ():
        find(name)
    own = () if cluster.fabric.kind in {find(n).fabric for n in DEFAULT} else (GIVEN,)
    return tuple(dict.fromkeys(fabrics or (NONE, *DEFAULT, *own)))


def _predictions(
    cluster: Cluster, service: Inference, names: Sequence[str], pins: Pins
) -> tuple[dict[str, ServicePrediction], tuple[LeftOut, ...]]:
    found: dict[str, ServicePrediction] = {}
    left_out = []
    for name in names:
        try:
            found[name] = _best(find(name), cluster, service, pins)
        except WeftError as error:
            left_out.append(LeftOut(name=name, reason=str(error)))
    return found, tuple(left_out)


def _best(
    candidate: Candidate, cluster: Cluster, service: Inference, pins: Pins
) -> ServicePrediction:
    """Return the service on the network whose tokens cost least.

    Networks are tried from the cheapest on. One that costs more than the best found would
    with the speed of the fastest cannot be better, and all after it neither.
    """
    if candidate.name == NONE:
        return predict_service(without_nics(cluster), service)
    if candidate.name == GIVEN:
        return predict_service(cluster, service)
    built = sorted(networks(candidate, cluster, pins), key=lambda pair: pair[1])
    widest = max(built, key=lambda pair: _rate(pair[0]))[0]
    timed = _timer(widest, service)
    fastest = timed(widest)
    best_usd, best = inf, widest
    for network, usd in built:
        if usd / fastest >= best_usd:
            break
        try:
            found = usd / timed(network)
        except Infeasible:
            continue
        if found < best_usd:
            best_usd, best = found, network
    return predict_service(best, service)


def _rate(cluster: Cluster) -> float:
    return cluster.nic_bytes_per_s_per_gpu / cluster.topology.oversubscription


def _timer(cluster: Cluster, service: Inference) -> Callable[[Cluster], float]:
    """Return what gives the tokens per second of the service on any network of the hosts."""
    if service.first_token_s is None and service.token_s is None:
        return engine.Ways.of(cluster, service).tokens_per_s
    return lambda cluster: engine.tokens_per_s(cluster, engine.resolve(cluster, service))


def _cost_ratio(one: ServicePrediction, other: ServicePrediction) -> Estimate:
    """Return the cost of a token over that of another, errors that both share cancelled."""
    if one is other:
        return Estimate(1.0, 1.0, 1.0)
    ratio = one.usd_per_1m_tokens.value / other.usd_per_1m_tokens.value
    faster = engine.throughput_over((other.cluster, other.service), (one.cluster, one.service))
    price = hypot(*price_errors(one.cost, other.cost)) / one.cost.total_usd.value
    (slow, fast), (slower, faster_) = _fabric_ends(one), _fabric_ends(other)
    up = hypot(faster.high / faster.value - 1, 1 / slow - 1, faster_ - 1, price)
    down = hypot(1 - faster.low / faster.value, 1 - 1 / fast, 1 - slower, price)
    return Estimate(ratio, ratio * max(0.0, 1 - down), ratio * (1 + up))


def _fabric_ends(one: ServicePrediction) -> tuple[float, float]:
    """Return the speed at both ends of what is known of the fabric's share, over its value."""
    if not one.cluster.host.nics or not one.network_ratio.value:
        return 1.0, 1.0
    factor = fabric_factor(one.cluster)
    own = engine.tokens_per_s(one.cluster, one.service)
    slow, fast = (
        engine.tokens_per_s(with_bandwidth(one.cluster, end / factor.value), one.service) / own
        for end in (factor.low, factor.high)
    )
    return min(slow, 1.0), max(fast, 1.0)


def _verdict(
    name: str, advised: str | None, against: tuple[str, ...], ratio: Estimate
) -> ServiceVerdict:
    if name == advised:
        return ServiceVerdict.ADVISED
    if against:
        return ServiceVerdict.EXCLUDED
    return ServiceVerdict.TIED if ratio.low <= RESOLVED else ServiceVerdict.COSTS_MORE


def _sentence(lines: Sequence[ServiceLine], advised: str | None) -> str:
    if advised is None:
        reasons = joined(list(dict.fromkeys(r for line in lines for r in line.objections)))
        return f"No network can be recommended within the limits: {reasons}."
    chosen = next(line for line in lines if line.name == advised)
    others = sorted(
        (line for line in lines if line is not chosen and not line.objections),
        key=lambda line: line.cost_ratio.value,
    )
    told = [_taken(chosen)]
    tied = [find(o.name).short for o in others if o.verdict is ServiceVerdict.TIED]
    if tied:
        verb = "costs" if len(tied) == 1 else "cost"
        told.append(f"{capital(joined(tied))} {verb} the same within the model error.")
    costlier = [other for other in others if other.verdict is not ServiceVerdict.TIED]
    return " ".join((*told, *map(_saved, costlier[:1])))


def _taken(chosen: ServiceLine) -> str:
    spread = spread_text(chosen.prediction.service)
    waits = percent(chosen.prediction.network_ratio.value)
    if chosen.name == NONE:
        return f"Take no scale-out network: {spread} keeps each replica inside a host."
    name = find(chosen.name).short
    return f"Take {name} with {spread}: decode waits {waits} of its time for the network."


def _saved(line: ServiceLine) -> str:
    """Say how much more a network costs."""
    more = line.cost_ratio.map(lambda ratio: ratio - 1)
    band = f"{percent(more.low)} to {percent(more.high)}"
    name = find(line.name).short
    return f"A token over {name} costs {percent(more.value)} more (80 % band {band})."
