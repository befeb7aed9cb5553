"""The answer in a sentence: which fabric, why, and how sure that is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weft.advise.case import Case, Row
from weft.advise.consideration import Weighed
from weft.advise.spread import Spread, difference
from weft.advise.wording import joined, percent
from weft.results import Estimate

AS_FAST = 0.001
"""Differences in speed below a thousandth are not worth a word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """Which fabric, in a sentence, with the reasons and what it ties with."""

    fabric: str
    sentence: str
    tied_with: tuple[str, ...]
    """Fabrics whose cost of a token cannot be told from that of the one named."""
    bands_overlap: bool
    """Whether the 80 % bands of its step time and of the next one's overlap."""
    saving_ratio: Estimate | None
    """Cost of a token of the next one over its own, less one; errors they share cancelled."""
    reasons: tuple[str, ...]


def recommend(
    case: Case, spreads: Mapping[str, Spread], weighed: Sequence[Weighed]
) -> Recommendation:
    """Name the fabric whose tokens cost least, and say honestly how far it leads."""
    best = case.best
    apart = {
        r.name: difference(r, best, spreads[r.name], spreads[best.name]) for r in case.rivals
    }
    everyone = {
        r.name: difference(r, best, spreads[r.name], spreads[best.name])
        for r in case.rows
        if r is not best
    }
    tied = tuple(name for name, ratio in everyone.items() if ratio.low <= 1)
    rival = _rival(case)
    if rival is None:
        return Recommendation(
            fabric=best.name,
            sentence=f"{best.candidate.title} is the only one of these that can run this job.",
            tied_with=(),
            bands_overlap=False,
            saving_ratio=None,
            reasons=_reasons(weighed),
        )
    overlap = _overlap(best, rival)
    return Recommendation(
        fabric=best.name,
        sentence=_sentence(best, rival, apart[rival.name], tied, overlap=overlap),
        tied_with=tied,
        bands_overlap=overlap,
        saving_ratio=apart[rival.name].map(lambda ratio: ratio - 1),
        reasons=_reasons(weighed),
    )


def _rival(case: Case) -> Row | None:
    """Return the one worth naming: the nearest of another family, else the nearest."""
    others = [r for r in case.rivals if r.candidate.family != case.best.candidate.family]
    return next(iter((*others, *case.rivals)), None)


def _overlap(row: Row, other: Row) -> bool:
    mine, theirs = row.prediction.step_s, other.prediction.step_s
    return mine.low <= theirs.high and theirs.low <= mine.high


def _sentence(
    best: Row, rival: Row, apart: Estimate, tied: tuple[str, ...], *, overlap: bool
) -> str:
    lead = best.progress_tokens_per_s / rival.progress_tokens_per_s - 1
    name, other = best.candidate.title, rival.candidate.title
    bands = "the bands of their step times overlap" if overlap else "their bands do not overlap"
    saved = percent(1 - 1 / apart.value)
    first = (
        f"{name} costs {saved} less than {other} per trillion tokens (80 % band of the "
        f"difference {percent(1 - 1 / apart.low)} to {percent(1 - 1 / apart.high)})"
    )
    if abs(lead) < AS_FAST:
        speed = f"it trains as fast, and {bands}"
    else:
        word = "faster" if lead > 0 else "slower"
        speed = f"it trains {percent(abs(lead))} {word}, but {bands}"
        speed = speed if overlap else speed.replace(", but ", ", and ")
    price = _price(best, rival)
    close = (
        f" Cost does not tell it from {joined(tied)}: let operations, skill and vendors decide."
        if tied
        else ""
    )
    return f"{first}: {speed}; {price}.{close}"


def _price(best: Row, rival: Row) -> str:
    ratio = best.network_usd_per_s / rival.network_usd_per_s - 1
    if abs(ratio) < AS_FAST:
        return "their networks cost the same"
    return f"its network costs {percent(abs(ratio))} {'more' if ratio > 0 else 'less'}"


def _reasons(weighed: Sequence[Weighed]) -> tuple[str, ...]:
    return tuple(
        f"{w.title}{f' (for {w.favours})' if w.favours else ''}: {w.reason}" for w in weighed
    )
