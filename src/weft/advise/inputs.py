"""What if something turned out otherwise: the inputs whose move could change the verdict."""

from collections.abc import Mapping
from typing import Final

from weft import catalogue
from weft.advise.attachment import counts
from weft.advise.candidate import TOPOLOGIES
from weft.advise.case import TRILLION, Case, Row
from weft.advise.knobs import fabric_factor, with_bandwidth
from weft.advise.latencies import waited_steps
from weft.advise.question import Input, pinned, resized, search_input, with_batch, with_job
from weft.advise.wiring import OVERSUBSCRIPTIONS
from weft.catalogue.devices import Assumption
from weft.spec import load
from weft.units import SECONDS, gbit_from_rate, rate_from_gbit

JOULES_PER_KWH: Final = 1000 * SECONDS["h"]
LONGEST_S: Final = 50e-6
MODELS: Final = ("llama3_8b", "mixtral_8x22b")
"""A small dense model and one of experts: what a cluster may come to train."""
NOT_SIMULATED: Final = "assumption, not simulated"
PER_GPUS: Final = 1000
RATES_GBIT: Final = (100.0, 200.0, 400.0, 800.0)
RATIOS: Final = (0.25, 1.0, 4.0)
TUNED, UNTUNED = "roce_tuned", "roce_default"


def _is_bought(case: Case) -> bool:
    return not case.verdict.prediction.cost.rented


def _usd_per_1t(row: Row, usd_per_s: float) -> float:
    return usd_per_s / row.progress_tokens_per_s * TRILLION


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


def _with_electricity(case: Case, name: str, usd_per_kwh: float) -> float:
    row = case.row(name)
    power_w = row.prediction.cost.power_w.value * row.prediction.gpus
    power_w /= row.prediction.cluster.gpus
    change = (usd_per_kwh - _electricity_price(case)) / JOULES_PER_KWH * power_w
    return _usd_per_1t(row, row.usd_per_s + change)


def _gpu_hour(case: Case) -> float:
    return case.verdict.usd_per_s * SECONDS["h"] / case.verdict.prediction.gpus


def _with_gpu_hour(case: Case, name: str, usd_per_gpu_hour: float) -> float:
    gpus = case.verdict.prediction.gpus
    change = (usd_per_gpu_hour - _gpu_hour(case)) * gpus / SECONDS["h"]
    return _usd_per_1t(case.row(name), case.row(name).usd_per_s + change)


def _sizes(case: Case) -> tuple[float, ...]:
    """Return sizes of whole hosts, and what the owner plans."""
    later = case.cluster.constraints.later_hosts
    planned = () if later is None else (later / case.cluster.hosts,)
    return tuple(sorted({case.gpus * r for r in (*RATIOS, *planned) if _is_whole(case, r)}))


def _is_whole(case: Case, ratio: float) -> bool:
    return (case.cluster.hosts * ratio).is_integer() and (case.gpus * ratio).is_integer()


def _with_latency(case: Case, name: str, extra_s: float) -> float:
    row = case.row(name)
    if name != case.verdict.name:
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


def _with_network_price(case: Case, name: str, multiple: float) -> float:
    row = case.row(name)
    own = multiple if name == case.verdict.name else 1.0
    return _usd_per_1t(row, row.usd_per_s + (own - 1) * row.network_usd_per_s)


def _with_rival_price(case: Case, name: str, multiple: float) -> float:
    row = case.row(name)
    theirs = 1.0 if name == case.verdict.name else multiple
    return _usd_per_1t(row, row.usd_per_s + (theirs - 1) * row.network_usd_per_s)


def _with_nics(case: Case, nics: float) -> Case:
    host = case.cluster.host.with_(nics=int(nics))
    return pinned(case, case.cluster.with_(host=host), "host.nics")


def _with_nic_rate(case: Case, gbit_per_s: float) -> Case:
    host = case.cluster.host.with_(nic_bytes_per_s=rate_from_gbit(gbit_per_s))
    return pinned(case, case.cluster.with_(host=host), "host.nic_bytes_per_s")


def _with_oversubscription(case: Case, ratio: float) -> Case:
    topology = case.cluster.topology.with_(oversubscription=ratio)
    return pinned(case, case.cluster.with_(topology=topology), "topology.oversubscription")


def _with_owned(case: Case, name: str, owned_ratio: float) -> float:
    row = case.row(name)
    if name == case.verdict.name:
        return row.usd_per_1t_tokens
    cost, share = row.prediction.cost, row.prediction.gpus / row.prediction.cluster.gpus
    bought_usd = cost.network_hardware_usd.value * share
    saved = owned_ratio * bought_usd / (case.years * SECONDS["year"])
    return _usd_per_1t(row, row.usd_per_s - saved)


def _with_staff(case: Case, name: str, engineers: float) -> float:
    row, salary = case.row(name), case.cluster.prices.engineer_usd_per_year
    salary = salary or catalogue.find("assumptions", "engineer").value.value
    extra = engineers * salary / SECONDS["year"] if name == case.verdict.name else 0.0
    return _usd_per_1t(row, row.usd_per_s + extra)


def _topology(case: Case) -> float:
    kind = case.verdict.prediction.cluster.topology.kind
    return float(TOPOLOGIES.index(kind)) if kind in TOPOLOGIES else -1.0


def _with_topology(case: Case, place: float) -> Case:
    topology = case.cluster.topology.with_(kind=TOPOLOGIES[int(place)])
    return pinned(case, case.cluster.with_(topology=topology), "topology.kind")


def _topology_name(case: Case, place: float) -> str:
    return TOPOLOGIES[int(place)] if place >= 0 else case.cluster.topology.kind


def _with_untuned(case: Case, name: str, untuned_ratio: float) -> float:
    row = case.row(name)
    progress = row.progress_tokens_per_s
    if name == TUNED:
        lost = progress - case.row(UNTUNED).progress_tokens_per_s
        progress -= untuned_ratio * lost
    return row.usd_per_s / progress * TRILLION


INPUTS: Final[Mapping[str, Input]] = {
    "communication_share": search_input(
        title="sequences of a step",
        unit="sequences",
        current=_batch,
        changed=lambda case, batch: with_batch(case, round(batch)),
        choices=_batches,
        source="a quarter to four times the batch: fewer make communication a larger share",
    ),
    "electricity_price": Input(
        title="electricity price",
        unit="USD/kWh",
        current=_electricity_price,
        span=_electricity_span,
        usd_per_1t_tokens=_with_electricity,
        source="range of the catalogue's assumption on electricity",
        steps=20,
        applies=_is_bought,
    ),
    "gpu_hour_price": Input(
        title="cost of a GPU-hour without the network",
        unit="USD",
        current=_gpu_hour,
        span=lambda case: (0.25 * _gpu_hour(case), 4 * _gpu_hour(case)),
        usd_per_1t_tokens=_with_gpu_hour,
        source="a quarter to four times: the spread of published GPU-hour prices "
        "[opex: rental]",
        steps=20,
    ),
    "gpus": search_input(
        title="GPUs, with the batch of each kept",
        unit="GPUs",
        current=lambda case: float(case.gpus),
        changed=lambda case, gpus: resized(case, gpus / case.gpus),
        choices=_sizes,
        source="a quarter to four times the cluster, and the size that is planned",
    ),
    "latency": Input(
        title="latency added to each message",
        unit="s",
        current=lambda _: 0.0,
        span=lambda _: (0.0, LONGEST_S),
        usd_per_1t_tokens=_with_latency,
        source="none to the longest figure of the articles for TCP, 50 us",
        logarithmic=False,
        steps=20,
    ),
    "load_balancing": Input(
        title="share of its links that load balancing fills",
        unit="ratio",
        current=_balanced,
        span=_balanced_span,
        usd_per_1t_tokens=_with_balanced,
        source="range of the fabric's own sourced factor",
        logarithmic=False,
        applies=lambda case: _balanced_span(case)[0] < _balanced_span(case)[1],
        evidence=NOT_SIMULATED,
    ),
    "model": search_input(
        title="model",
        unit="",
        current=lambda _: -1.0,
        changed=_with_model,
        choices=lambda _: tuple(float(place) for place in range(len(MODELS))),
        label=_model_name,
        source="a small dense model and one of experts",
    ),
    "network_price": Input(
        title="price of the network recommended, over the catalogue's",
        unit="x",
        current=lambda _: 1.0,
        span=lambda _: (0.5, 2.3),
        usd_per_1t_tokens=_with_network_price,
        source="white-box against branded ports (one half) to the widest published ratio of "
        "InfiniBand to Ethernet (2.3) [tco_comparisons: street_price_ratio, introl_2p3x]",
        steps=20,
        applies=_is_bought,
    ),
    "nic_count": search_input(
        title="NICs of a host in all networks",
        unit="NICs",
        current=lambda case: float(case.verdict.prediction.cluster.host.nics),
        changed=_with_nics,
        choices=lambda case: tuple(sorted(float(nics) for nics in counts(case.cluster))),
        source="as many as a host has room for, a half, a quarter, an eighth",
        applies=_is_bought,
    ),
    "nic_rate": search_input(
        title="rate of a NIC in all networks",
        unit="Gb/s",
        current=lambda case: gbit_from_rate(
            case.verdict.prediction.cluster.host.nic_bytes_per_s
        ),
        changed=_with_nic_rate,
        choices=lambda _: RATES_GBIT,
        source="rates that are sold, as far as the PCIe of the host feeds them",
        applies=_is_bought,
    ),
    "oversubscription": search_input(
        title="oversubscription of all networks",
        unit=": 1",
        current=lambda case: case.verdict.prediction.cluster.topology.oversubscription,
        changed=_with_oversubscription,
        choices=lambda _: OVERSUBSCRIPTIONS,
        source="non-blocking to 4:1",
        applies=_is_bought,
    ),
    "owned_hardware": Input(
        title="share of the other network's hardware that is already there",
        unit="ratio",
        current=lambda _: 0.0,
        span=lambda _: (0.0, 1.0),
        usd_per_1t_tokens=_with_owned,
        source="nothing to all of it",
        logarithmic=False,
        steps=20,
        applies=_is_bought,
    ),
    "rival_price": Input(
        title="price of the other network, over the catalogue's",
        unit="x",
        current=lambda _: 1.0,
        span=lambda _: (0.4, 2.0),
        usd_per_1t_tokens=_with_rival_price,
        source="white-box against branded ports (one half), less a fifth of discount, to twice",
        steps=20,
        applies=_is_bought,
    ),
    "staff_cost": Input(
        title="engineers needed beyond those counted",
        unit="engineers",
        current=lambda _: 0.0,
        span=lambda case: (0.0, 1.3 * max(PER_GPUS, case.gpus) / PER_GPUS),
        usd_per_1t_tokens=_with_staff,
        source="width of the catalogue's range, 0.2 to 1.5 fabric engineers for 1,000 GPUs, an "
        "estimate",
        logarithmic=False,
        steps=20,
        evidence=NOT_SIMULATED,
    ),
    "topology": search_input(
        title="topology of all networks",
        unit="",
        current=_topology,
        changed=_with_topology,
        choices=lambda _: tuple(float(place) for place in range(len(TOPOLOGIES))),
        label=_topology_name,
        source="kinds of topology that the search tries",
        applies=_is_bought,
    ),
    "tuning_skill": Input(
        title="share of the time that RoCE runs untuned",
        unit="ratio",
        current=lambda _: 0.0,
        span=lambda _: (0.0, 1.0),
        usd_per_1t_tokens=_with_untuned,
        source="from always to never tuned; what untuned costs is the sourced factor of ECMP",
        logarithmic=False,
        steps=20,
        applies=lambda case: case.verdict.name == TUNED,
        evidence=NOT_SIMULATED,
    ),
}
