"""What if part of the other network's hardware were already there?"""

from weft.advise.case import TRILLION, Case
from weft.advise.input import Input
from weft.units import SECONDS


def _usd(case: Case, name: str, owned_ratio: float) -> float:
    row = case.row(name)
    if name == case.verdict.name:
        return row.usd_per_1t_tokens
    cost, share = row.prediction.cost, row.prediction.gpus / row.prediction.cluster.gpus
    bought_usd = cost.network_hardware_usd.value * share
    saved = owned_ratio * bought_usd / (case.years * SECONDS["year"])
    return (row.usd_per_s - saved) / row.progress_tokens_per_s * TRILLION


owned_hardware = Input(
    title="share of the other network's hardware that is already there",
    unit="ratio",
    current=lambda _: 0.0,
    span=lambda _: (0.0, 1.0),
    usd_per_1t_tokens=_usd,
    source="nothing to all of it",
    logarithmic=False,
    steps=20,
    applies=lambda case: not case.verdict.prediction.cost.rented,
)
