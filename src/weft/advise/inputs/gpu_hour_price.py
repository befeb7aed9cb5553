"""What if everything but the network cost more, or less?"""

from weft.advise.case import TRILLION, Case
from weft.advise.input import Input
from weft.units import SECONDS


def _usd(case: Case, name: str, usd_per_gpu_hour: float) -> float:
    row, best = case.row(name), case.verdict
    change = (usd_per_gpu_hour - _hourly(case)) * best.prediction.gpus / SECONDS["h"]
    return (row.usd_per_s + change) / row.progress_tokens_per_s * TRILLION


def _hourly(case: Case) -> float:
    best = case.verdict
    return best.usd_per_s * SECONDS["h"] / best.prediction.gpus


gpu_hour_price = Input(
    title="cost of a GPU-hour without the network",
    unit="USD",
    current=_hourly,
    span=lambda case: (0.25 * _hourly(case), 4 * _hourly(case)),
    usd_per_1t_tokens=_usd,
    source="a quarter to four times: the spread of published GPU-hour prices [opex: rental]",
    steps=20,
)
