"""What if electricity cost more, or less?"""

from weft import catalogue
from weft.advise.case import TRILLION, Case
from weft.advise.input import Input
from weft.catalogue.devices import Assumption
from weft.units import SECONDS

JOULES_PER_KWH = 1000 * SECONDS["h"]


def _assumed() -> Assumption:
    return catalogue.find("assumptions", "electricity")


def _current(case: Case) -> float:
    own = case.cluster.prices.electricity_usd_per_kwh
    return _assumed().value.value if own is None else own


def _span(case: Case) -> tuple[float, float]:
    published, now = _assumed().value, _current(case)
    return min(published.low, now), max(published.high, now)


def _usd(case: Case, name: str, usd_per_kwh: float) -> float:
    row = case.row(name)
    power_w = row.prediction.cost.power_w.value * row.prediction.gpus
    power_w /= row.prediction.cluster.gpus
    change = (usd_per_kwh - _current(case)) / JOULES_PER_KWH * power_w
    return (row.usd_per_s + change) / row.progress_tokens_per_s * TRILLION


electricity_price = Input(
    title="electricity price",
    unit="USD/kWh",
    current=_current,
    span=_span,
    usd_per_1t_tokens=_usd,
    source="range of the catalogue's assumption on electricity",
    steps=20,
    applies=lambda case: not case.verdict.prediction.cost.rented,
)
