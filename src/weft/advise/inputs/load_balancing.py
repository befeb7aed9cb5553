"""What if the fabric advised balanced its load better, or worse, than assumed?"""

from weft.advise.case import TRILLION, Case
from weft.advise.input import Input
from weft.advise.knobs import fabric_factor, with_bandwidth


def _usd(case: Case, name: str, factor: float) -> float:
    row = case.row(name)
    if name != case.verdict.name:
        return row.usd_per_1t_tokens
    ratio = factor / _current(case)
    if ratio == 1:
        return row.usd_per_1t_tokens
    changed = case.pace(name, change=lambda c: with_bandwidth(c, ratio))
    return row.usd_per_s / changed.progress_tokens_per_s * TRILLION


def _current(case: Case) -> float:
    return fabric_factor(case.verdict.prediction.cluster).value


def _span(case: Case) -> tuple[float, float]:
    factor = fabric_factor(case.verdict.prediction.cluster)
    return factor.low, factor.high


load_balancing = Input(
    title="share of its links that load balancing fills",
    unit="ratio",
    current=_current,
    span=_span,
    usd_per_1t_tokens=_usd,
    source="range of the fabric's own sourced factor",
    logarithmic=False,
    applies=lambda case: _span(case)[0] < _span(case)[1],
    evidence="assumption, not simulated",
)
