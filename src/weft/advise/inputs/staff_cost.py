"""What if the fabric advised needed more people than the catalogue counts for it?"""

from weft import catalogue
from weft.advise.case import TRILLION, Case
from weft.advise.input import Input
from weft.units import SECONDS

PER_GPUS = 1000


def _salary(case: Case) -> float:
    own = case.cluster.prices.engineer_usd_per_year
    return own or catalogue.find("assumptions", "engineer").value.value


def _usd(case: Case, name: str, engineers: float) -> float:
    row = case.row(name)
    extra = engineers * _salary(case) / SECONDS["year"] if name == case.verdict.name else 0.0
    return (row.usd_per_s + extra) / row.progress_tokens_per_s * TRILLION


staff_cost = Input(
    title="engineers needed beyond those counted",
    unit="engineers",
    current=lambda _: 0.0,
    span=lambda case: (0.0, 1.3 * max(PER_GPUS, case.gpus) / PER_GPUS),
    usd_per_1t_tokens=_usd,
    source="width of the catalogue's range, 0.2 to 1.5 fabric engineers for 1,000 GPUs, an "
    "estimate",
    logarithmic=False,
    steps=20,
    evidence="assumption, not simulated",
)
