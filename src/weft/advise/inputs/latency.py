"""What if messages took longer on the fabric advised?"""

from weft.advise.case import Case
from weft.advise.input import Input
from weft.advise.latencies import waited_steps

LONGEST_S = 50e-6


def _usd(case: Case, name: str, extra_s: float) -> float:
    row = case.row(name)
    if name != case.verdict.name:
        return row.usd_per_1t_tokens
    longer_s = extra_s * waited_steps(row.prediction)
    return row.usd_per_1t_tokens * (1 + longer_s / row.prediction.step_s.value)


latency = Input(
    title="latency added to each message",
    unit="s",
    current=lambda _: 0.0,
    span=lambda _: (0.0, LONGEST_S),
    usd_per_1t_tokens=_usd,
    source="none to the longest figure of the articles for TCP, 50 us",
    logarithmic=False,
    steps=20,
)
