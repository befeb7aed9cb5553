"""What if messages took longer on the best one's fabric?"""

from weft.advise.case import TRILLION, Case
from weft.advise.input import Input
from weft.advise.knobs import with_latency

LONGEST_S = 50e-6


def _usd(case: Case, name: str, extra_s: float) -> float:
    row = case.row(name)
    if name != case.best.name or not extra_s:
        return row.usd_per_1t_tokens
    changed = case.row(name, change=lambda c: with_latency(c, extra_s))
    return row.usd_per_s / changed.progress_tokens_per_s * TRILLION


latency = Input(
    title="latency that the best one's fabric adds to each message",
    unit="s",
    current=lambda _: 0.0,
    span=lambda _: (0.0, LONGEST_S),
    usd_per_1t_tokens=_usd,
    source="none to the longest figure of the articles for TCP, 50 us",
    logarithmic=False,
    steps=4,
)
