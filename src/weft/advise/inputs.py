"""What if something turned out otherwise: the inputs whose move could change the verdict."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from weft import catalogue
from weft.advise.attachment import counts
from weft.advise.candidate import TOPOLOGIES
from weft.advise.case import TRILLION, Case, Row
from weft.advise.knobs import fabric_factor, with_bandwidth
from weft.advise.latencies import waited_steps
from weft.advise.question import Input, pinned, resized, search_input, with_batch, with_job
from weft.advise.wiring import OVERSUBSCRIPTIONS
from weft.catalogue.devices import Assumption
from weft.records import table
from weft.spec import load
from weft.units import SECONDS, gbit_from_rate, rate_from_gbit

JOULES_PER_KWH: Final = 1000 * SECONDS["h"]
MODELS: Final = ("llama3_8b", "mixtral_8x22b")
"""A small dense model and one of experts: what a cluster may come to train."""
PER_GPUS: Final = 1000
RATES_GBIT: Final = (100.0, 200.0, 400.0, 800.0)
RATIOS: Final = (0.25, 1.0, 4.0)
TUNED, UNTUNED = "roce_tuned", "roce_default"
Usd = Callable[[Case, str, float], float]
"""Cost of a trillion tokens of a candidate, with the input at a value."""


def _is_bought(case: Case) -> bool:
    return not case.verdict.prediction.cost.rented


def _usd_per_1t(row: Row, usd_per_s: float) -> float:
    return usd_per_s / row.progress_tokens_per_s * TRILLION


def _paying(more_usd_per_s: Callable[[Case, Row, float], float]) -> Usd:
    """Return the cost of the tokens of a candidate that pays so much more for its GPUs."""

    def usd_per_1t_tokens(case: Case, name: str, value: float) -> float:
        row = case.row(name)
        return _usd_per_1t(row, row.usd_per_s + more_usd_per_s(case, row, value))

    return usd_per_1t_tokens


def _is_own(case: Case, row: Row) -> bool:
    return row.name == case.verdict.name


def _holding(
    key: str, read: Callable[[float], object] = float
) -> Callable[[Case, float], Case]:
    """Return what sets a key of the cluster to a value that every row keeps."""
    part, _, name = key.partition(".")

    def changed(case: Case, value: float) -> Case:
        own = getattr(case.cluster, part).with_(**{name: read(value)})
        return pinned(case, case.cluster.with_(**{part: own}), key)

    return changed


def _batch(case: Case) -> float:
    return float(case.jobs[0].job.global_batch)


def _batches(case: Case) -> tuple[float, ...]:
    return tuple(n for ratio in RATIOS if (n := _batch(case) * ratio).is_integer())


def _electricity() -> Assumption:
    return catalogue.find("assumptions", "electricity")


def _electricity_price(case: Case) -> float:
    own = case.cluster.prices.electricity_usd_per_kwh
    return _electricity().value.value if own is None else own


def _electricity_span(case: Case) -> tuple[float, float]:
    published, now = _electricity().value, _electricity_price(case)
    return min(published.low, now), max(published.high, now)


def _more_electricity(case: Case, row: Row, usd_per_kwh: float) -> float:
    power_w = row.prediction.cost.power_w.value * row.prediction.gpus
    power_w /= row.prediction.cluster.gpus
    return (usd_per_kwh - _electricity_price(case)) / JOULES_PER_KWH * power_w


def _gpu_hour(case: Case) -> float:
    return case.verdict.usd_per_s * SECONDS["h"] / case.verdict.prediction.gpus


def _more_for_gpus(case: Case, _: Row, usd_per_gpu_hour: float) -> float:
    gpus = case.verdict.prediction.gpus
    return (usd_per_gpu_hour - _gpu_hour(case)) * gpus / SECONDS["h"]


def _sizes(case: Case) -> tuple[float, ...]:
    """Return sizes of whole hosts, and what the owner plans."""
    later = case.cluster.constraints.later_hosts
    planned = () if later is None else (later / case.cluster.hosts,)
    return tuple(sorted({case.gpus * r for r in (*RATIOS, *planned) if _is_whole(case, r)}))


def _is_whole(case: Case, ratio: float) -> bool:
    return (case.cluster.hosts * ratio).is_integer() and (case.gpus * ratio).is_integer()


def _with_latency(case: Case, name: str, extra_s: float) -> float:
    row = case.row(name)
    if not _is_own(case, row):
        return row.usd_per_1t_tokens
    longer_s = extra_s * waited_steps(row.prediction)
    return row.usd_per_1t_tokens * (1 + longer_s / row.prediction.step_s.value)


def _balanced(case: Case) -> float:
    return fabric_factor(case.verdict.prediction.cluster).value


def _balanced_span(case: Case) -> tuple[float, float]:
    factor = fabric_factor(case.verdict.prediction.cluster)
    return factor.low, factor.high


def _with_balanced(case: Case, name: str, factor: float) -> float:
    row, ratio = case.row(name), factor / _balanced(case)
    if name != case.verdict.name or ratio == 1:
        return row.usd_per_1t_tokens
    changed = case.pace(name, change=lambda c: with_bandwidth(c, ratio))
    return row.usd_per_s / changed.progress_tokens_per_s * TRILLION


def _with_model(case: Case, place: float) -> Case:
    model = load.model(MODELS[int(place)])
    return with_job(case, lambda job: job.with_(model=model, parallelism="auto"))


def _model_name(case: Case, place: float) -> str:
    return case.jobs[0].job.model.name if place < 0 else MODELS[int(place)]


def _network_price(case: Case, row: Row, multiple: float) -> float:
    return (multiple - 1) * row.network_usd_per_s if _is_own(case, row) else 0.0


def _rival_price(case: Case, row: Row, multiple: float) -> float:
    return 0.0 if _is_own(case, row) else (multiple - 1) * row.network_usd_per_s


def _with_owned(case: Case, name: str, owned_ratio: float) -> float:
    row = case.row(name)
    if name == case.verdict.name:
        return row.usd_per_1t_tokens
    cost, share = row.prediction.cost, row.prediction.gpus / row.prediction.cluster.gpus
    bought_usd = cost.network_hardware_usd.value * share
    saved = owned_ratio * bought_usd / (case.years * SECONDS["year"])
    return _usd_per_1t(row, row.usd_per_s - saved)


def _more_staff(case: Case, row: Row, engineers: float) -> float:
    salary = case.cluster.prices.engineer_usd_per_year
    salary = salary or catalogue.find("assumptions", "engineer").value.value
    return engineers * salary / SECONDS["year"] if _is_own(case, row) else 0.0


def _topology(case: Case) -> float:
    kind = case.verdict.prediction.cluster.topology.kind
    return float(TOPOLOGIES.index(kind)) if kind in TOPOLOGIES else -1.0


def _topology_name(case: Case, place: float) -> str:
    return TOPOLOGIES[int(place)] if place >= 0 else case.cluster.topology.kind


def _with_untuned(case: Case, name: str, untuned_ratio: float) -> float:
    row = case.row(name)
    progress = row.progress_tokens_per_s
    if name == TUNED:
        lost = progress - case.row(UNTUNED).progress_tokens_per_s
        progress -= untuned_ratio * lost
    return row.usd_per_s / progress * TRILLION


_FUNCTIONS: Final[Mapping[str, Mapping[str, Callable[..., Any]]]] = {
    "communication_share": {
        "current": _batch,
        "changed": lambda case, batch: with_batch(case, round(batch)),
        "choices": _batches,
    },
    "electricity_price": {
        "current": _electricity_price,
        "span": _electricity_span,
        "usd_per_1t_tokens": _paying(_more_electricity),
    },
    "gpu_hour_price": {
        "current": _gpu_hour,
        "span": lambda case: (0.25 * _gpu_hour(case), 4 * _gpu_hour(case)),
        "usd_per_1t_tokens": _paying(_more_for_gpus),
    },
    "gpus": {
        "current": lambda case: float(case.gpus),
        "changed": lambda case, gpus: resized(case, gpus / case.gpus),
        "choices": _sizes,
    },
    "latency": {"usd_per_1t_tokens": _with_latency},
    "load_balancing": {
        "current": _balanced,
        "span": _balanced_span,
        "usd_per_1t_tokens": _with_balanced,
        "applies": lambda case: _balanced_span(case)[0] < _balanced_span(case)[1],
    },
    "model": {
        "changed": _with_model,
        "choices": lambda _: tuple(map(float, range(len(MODELS)))),
        "label": _model_name,
    },
    "network_price": {"usd_per_1t_tokens": _paying(_network_price)},
    "nic_count": {
        "current": lambda case: float(case.verdict.prediction.cluster.host.nics),
        "changed": _holding("host.nics", int),
        "choices": lambda case: tuple(sorted(map(float, counts(case.cluster)))),
    },
    "nic_rate": {
        "current": lambda case: gbit_from_rate(
            case.verdict.prediction.cluster.host.nic_bytes_per_s
        ),
        "changed": _holding("host.nic_bytes_per_s", rate_from_gbit),
        "choices": lambda _: RATES_GBIT,
    },
    "oversubscription": {
        "current": lambda case: case.verdict.prediction.cluster.topology.oversubscription,
        "changed": _holding("topology.oversubscription"),
        "choices": lambda _: OVERSUBSCRIPTIONS,
    },
    "owned_hardware": {"usd_per_1t_tokens": _with_owned},
    "rival_price": {"usd_per_1t_tokens": _paying(_rival_price)},
    "staff_cost": {
        "span": lambda case: (0.0, 1.3 * max(PER_GPUS, case.gpus) / PER_GPUS),
        "usd_per_1t_tokens": _paying(_more_staff),
    },
    "topology": {
        "current": _topology,
        "changed": _holding("topology.kind", lambda place: TOPOLOGIES[int(place)]),
        "choices": lambda _: tuple(map(float, range(len(TOPOLOGIES)))),
        "label": _topology_name,
    },
    "tuning_skill": {
        "usd_per_1t_tokens": _with_untuned,
        "applies": lambda case: case.verdict.name == TUNED,
    },
}


def _input(row: dict[str, Any], functions: Mapping[str, Callable[..., Any]]) -> Input:
    """Join a row with its functions; what it states is the same for all clusters."""
    own = dict(functions)
    if "current" in row:
        own["current"] = partial(_constant, row.pop("current"))
    if "low" in row:
        own["span"] = partial(_constant, (row.pop("low"), row.pop("high")))
    if row.pop("bought", False):
        own["applies"] = _is_bought
    make: Callable[..., Input] = search_input if "changed" in own else Input
    return make(**row, **own)


def _constant(value: object, _: Case) -> object:
    return value


INPUTS: Final = {
    name: _input(dict(row), _FUNCTIONS[name])
    for name, row in table("weft.advise", "inputs").items()
}
