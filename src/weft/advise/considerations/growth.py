"""What happens to the cost of a token when the cluster grows."""

from functools import partial

from weft.advise.case import Case, Row
from weft.advise.consideration import MATTERS, Consideration, Number, Opinion
from weft.advise.wording import count, percent

FACTOR = 4


def _weigh(case: Case) -> Opinion:
    larger = case.whole_gpus(FACTOR * case.gpus)
    rows = [case.best, *case.rivals]
    grown = {r.name: case.attempt(partial(case.at_gpus, r.name, larger)) for r in rows}
    kept = {n: r for n, r in grown.items() if r is not None}
    if not kept:
        return Opinion(favours=(), reason=f"none of them reaches {count(larger)} GPUs")
    change = {r.name: _dearer(kept[r.name], r) for r in rows if r.name in kept}
    order = sorted(kept, key=lambda n: kept[n].usd_per_1t_tokens)
    least = order[0]
    ahead = kept[order[-1]].usd_per_1t_tokens / kept[least].usd_per_1t_tokens - 1
    told = ", ".join(
        f"{percent(ratio)} ({kept[name].candidate.short})" for name, ratio in change.items()
    )
    return Opinion(
        favours=(least,) if ahead >= MATTERS else (),
        reason=f"at {count(larger)} GPUs {kept[least].candidate.short} is the cheapest, "
        f"{percent(ahead)} under the dearest of them; against today a token costs {told} more",
        numbers=tuple(Number(name, ratio, "ratio") for name, ratio in change.items()),
    )


def _dearer(grown: Row, now: Row) -> float:
    return grown.usd_per_1t_tokens / now.usd_per_1t_tokens - 1


growth = Consideration(
    title="growth to four times the size",
    weigh=_weigh,
    breaks_ties=False,
    source="article E (size in 12 to 24 months, expansion)",
)
