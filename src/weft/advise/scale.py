"""Rules by number of GPUs: who wins at which size, against who the rule says should."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from weft.advise.case import Case
from weft.advise.claim import Evidence, Outcome, Trial, Verdict
from weft.advise.consideration import Number
from weft.advise.spread import difference
from weft.advise.wording import count, joined, percent


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Who is cheapest at one size, and how surely."""

    gpus: int
    winner: str
    lead_ratio: float
    """How much more the next one's tokens cost."""
    tied: bool
    """The lead is inside what is not known of the two fabrics."""


def standing(trial: Trial, gpus: int, names: Iterable[str]) -> Standing | None:
    """Compare some candidates at one size; nothing when fewer than two of them can run."""
    case = trial.case
    rows = [case.attempt(partial(case.at_gpus, name, gpus)) for name in names]
    found = sorted((r for r in rows if r is not None), key=lambda r: r.usd_per_1t_tokens)
    if len(found) < 2:  # noqa: PLR2004 - a pair
        return None
    first, second = found[:2]
    apart = difference(second, first, trial.spread(second.name), trial.spread(first.name))
    return Standing(
        gpus=gpus, winner=first.name, lead_ratio=apart.value - 1, tied=apart.low <= 1
    )


def rule(
    trial: Trial,
    names: tuple[str, ...],
    sizes: Iterable[int],
    expected: Callable[[int], str],
) -> Verdict:
    """Test a rule that names the fabric to buy at each size."""
    case = trial.case
    found = [s for n in case.sizes(sizes) if (s := standing(trial, n, names)) is not None]
    if not found:
        return Verdict(
            outcome=Outcome.UNTESTED,
            reasons=("fewer than two of the fabrics can run this job on this cluster",),
        )
    agree = [s for s in found if s.winner == expected(s.gpus) and not s.tied]
    open_ = [s for s in found if s.tied]
    return Verdict(
        outcome=_outcome(found, agree, open_),
        condition=_condition(agree, open_),
        reasons=(*(_told(case, s, expected(s.gpus)) for s in found), *_below(case)),
        numbers=tuple(
            Number(
                f"lead of {s.winner} at {s.gpus} GPUs, cost of a token", s.lead_ratio, "ratio"
            )
            for s in found
        ),
        evidence=Evidence.COMPUTED,
    )


def _outcome(found: list[Standing], agree: list[Standing], open_: list[Standing]) -> Outcome:
    if len(agree) == len(found):
        return Outcome.HOLDS
    return Outcome.WHEN if agree or open_ else Outcome.FAILS


def _condition(agree: list[Standing], open_: list[Standing]) -> str:
    parts = []
    if agree:
        parts.append(f"there are {_sizes(agree)} GPUs")
    if open_:
        parts.append(f"a tie counts for it, at {_sizes(open_)} GPUs")
    return "; or ".join(parts)


def _sizes(found: list[Standing]) -> str:
    return joined([count(one.gpus) for one in found])


def _told(case: Case, found: Standing, expected: str) -> str:
    winner, asked = (case.candidate(name).short for name in (found.winner, expected))
    lead = f"{winner} is cheaper by {percent(found.lead_ratio)} a token"
    sure = ", too little to tell them apart" if found.tied else ""
    return f"{count(found.gpus)} GPUs: the rule says {asked}; {lead}{sure}"


def _below(case: Case) -> tuple[str, ...]:
    floor = case.whole_gpus(1)
    if floor <= case.cluster.host.gpus:
        return ()
    return (f"smaller sizes are not tested: one replica of this job takes {count(floor)} GPUs",)
