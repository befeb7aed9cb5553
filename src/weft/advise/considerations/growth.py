"""What happens to the cost of a token when the cluster grows."""

from functools import partial

from weft.advise.case import Case, Row
from weft.advise.consideration import Consideration, Number, Opinion
from weft.advise.wording import count, percent

FACTOR = 4


def _weigh(case: Case) -> Opinion:
    larger = case.whole_gpus(FACTOR * case.gpus)
    rows = [case.best, *case.rivals]
    grown = {r.name: case.attempt(partial(case.at_gpus, r.name, larger)) for r in rows}
    kept = {n: r for n, r in grown.items() if r is not None}
    if not kept:
        return Opinion(favours=None, reason=f"none of them reaches {count(larger)} GPUs")
    change = {r.name: _dearer(kept[r.name], r) for r in rows if r.name in kept}
    least = min(kept, key=lambda n: kept[n].usd_per_1t_tokens)
    told = ", ".join(f"{name} {percent(ratio)}" for name, ratio in change.items())
    return Opinion(
        favours=least,
        reason=f"at {count(larger)} GPUs {least} is the cheapest; a token costs more by {told}",
        numbers=tuple(Number(name, ratio, "ratio") for name, ratio in change.items()),
    )


def _dearer(grown: Row, now: Row) -> float:
    return grown.usd_per_1t_tokens / now.usd_per_1t_tokens - 1


growth = Consideration(
    title="growth to four times the size",
    weigh=_weigh,
    source="article E (size in 12 to 24 months, expansion)",
)
