"""What if the network advised cost more, or less, than the catalogue says?"""

from weft.advise.case import TRILLION, Case
from weft.advise.input import Input


def _usd(case: Case, name: str, multiple: float) -> float:
    row = case.row(name)
    own = multiple if name == case.verdict.name else 1.0
    usd_per_s = row.usd_per_s + (own - 1) * row.network_usd_per_s
    return usd_per_s / row.progress_tokens_per_s * TRILLION


network_price = Input(
    title="price of the network recommended, over the catalogue's",
    unit="x",
    current=lambda _: 1.0,
    span=lambda _: (0.5, 2.3),
    usd_per_1t_tokens=_usd,
    source="white-box against branded ports (one half) to the widest published ratio of "
    "InfiniBand to Ethernet (2.3) [tco_comparisons: street_price_ratio, introl_2p3x]",
    steps=20,
    applies=lambda case: not case.verdict.prediction.cost.rented,
)
