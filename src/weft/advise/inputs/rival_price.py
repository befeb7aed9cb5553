"""What if the other networks cost more, or less, than the catalogue says?"""

from weft.advise.case import TRILLION, Case
from weft.advise.input import Input


def _usd(case: Case, name: str, multiple: float) -> float:
    row = case.row(name)
    theirs = 1.0 if name == case.verdict.name else multiple
    usd_per_s = row.usd_per_s + (theirs - 1) * row.network_usd_per_s
    return usd_per_s / row.progress_tokens_per_s * TRILLION


rival_price = Input(
    title="price of the other network, over the catalogue's",
    unit="x",
    current=lambda _: 1.0,
    span=lambda _: (0.4, 2.0),
    usd_per_1t_tokens=_usd,
    source="white-box against branded ports (one half), less a fifth of discount, to twice",
    steps=20,
    applies=lambda case: not case.verdict.prediction.cost.rented,
)
