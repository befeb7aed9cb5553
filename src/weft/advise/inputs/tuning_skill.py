"""What if the tuned RoCE were, for part of the time, not tuned?"""

from weft.advise.case import TRILLION, Case
from weft.advise.input import Input

TUNED, UNTUNED = "roce_tuned", "roce_default"


def _usd(case: Case, name: str, untuned_ratio: float) -> float:
    row = case.row(name)
    progress = row.progress_tokens_per_s
    if name == TUNED:
        lost = progress - case.row(UNTUNED).progress_tokens_per_s
        progress -= untuned_ratio * lost
    return row.usd_per_s / progress * TRILLION


tuning_skill = Input(
    title="share of the time that RoCE runs untuned",
    unit="ratio",
    current=lambda _: 0.0,
    span=lambda _: (0.0, 1.0),
    usd_per_1t_tokens=_usd,
    source="from always to never tuned; what untuned costs is the sourced factor of ECMP",
    logarithmic=False,
    steps=20,
    applies=lambda case: case.verdict.name == TUNED,
    evidence="assumption, not simulated",
)
