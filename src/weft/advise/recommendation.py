"""The answer in a sentence: which fabric, why, and how sure that is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weft.advise.case import Case, Row
from weft.advise.consideration import Weighed
from weft.advise.spread import Spread, difference
from weft.advise.wording import joined, percent
from weft.results import Estimate

AS_FAST = 0.001
"""Differences below a thousandth are not worth a word."""
RESOLVED = 1.005
"""Half a per cent of cost is below what a model of this error tells apart."""
SAME = Estimate(1.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """Which fabric, in a sentence, with the reasons and what it ties with.

    The cheapest by cost of a token is named, unless others cannot be told from it: then the
    one of them that most considerations beside money favour, and of equals the cheapest.
    """

    fabric: str
    cheapest: str
    sentence: str
    tied_with: tuple[str, ...]
    """Fabrics whose cost of a token cannot be told from that of the cheapest."""
    rival: str | None
    """The fabric it is set against: of another family where there is one."""
    bands_overlap: bool
    """Whether the 80 % bands of its step time and of its rival's overlap."""
    rival_cost_ratio: Estimate | None
    """Cost of a token on the rival over its own; errors that both share cancelled."""
    reasons: tuple[str, ...]


def recommend(
    case: Case, spreads: Mapping[str, Spread], weighed: Sequence[Weighed]
) -> Recommendation:
    """Name a fabric, and say honestly how far it leads."""
    cheapest = case.best
    ratios = {
        row.name: difference(row, cheapest, spreads[row.name], spreads[cheapest.name])
        for row in case.choices
        if row is not cheapest
    }
    tied = [row for row in case.rows if row.name in ratios and ratios[row.name].low <= RESOLVED]
    favours = {row.name: _for(row.name, weighed) for row in (cheapest, *tied)}
    chosen = max((cheapest, *tied), key=lambda r: (len(favours[r.name]), -r.usd_per_1t_tokens))
    rival = _rival(case, chosen)
    ratio = (
        None
        if rival is None
        else difference(rival, chosen, spreads[rival.name], spreads[chosen.name])
    )
    return Recommendation(
        fabric=chosen.name,
        cheapest=cheapest.name,
        sentence=_sentence(chosen, rival, ratio, [cheapest, *tied], favours[chosen.name]),
        tied_with=tuple(row.name for row in tied),
        rival=None if rival is None else rival.name,
        bands_overlap=rival is not None and _overlap(chosen, rival),
        rival_cost_ratio=ratio,
        reasons=tuple(_reason(one) for one in weighed),
    )


def _for(name: str, weighed: Sequence[Weighed]) -> list[str]:
    return [one.title for one in weighed if name in one.favours and one.breaks_ties]


def _reason(one: Weighed) -> str:
    return f"{one.title}{f' (for {joined(one.favours)})' if one.favours else ''}: {one.reason}"


def _rival(case: Case, chosen: Row) -> Row | None:
    """Return the one worth naming: the cheapest of another family, else the cheapest other."""
    others = sorted(
        (row for row in case.choices if row is not chosen), key=lambda r: r.usd_per_1t_tokens
    )
    foreign = [row for row in others if row.candidate.family != chosen.candidate.family]
    return next(iter((*foreign, *others)), None)


def _overlap(row: Row, other: Row) -> bool:
    mine, theirs = row.prediction.step_s, other.prediction.step_s
    return mine.low <= theirs.high and theirs.low <= mine.high


def _sentence(
    chosen: Row, rival: Row | None, ratio: Estimate | None, tied: list[Row], favours: list[str]
) -> str:
    name, other = chosen.candidate.short, rival and rival.candidate.short
    if rival is None or ratio is None:
        return f"Take {name}: nothing else of what was asked for can run this job."
    if len(tied) == 1:
        return (
            f"Take {name}: a token costs {_less(ratio)} than on {other}; "
            f"{_speed(chosen, rival)}, and {_price(chosen, rival)}."
        )
    titles = joined([row.candidate.short for row in tied])
    why = "it is the cheapest of them"
    if favours:
        why = f"what speaks for {name} beside money: {joined(favours)}"
    return (
        f"Take {name}. {titles} cost the same per token within the error of this model; {why}. "
        f"Against {other} {_speed(chosen, rival)}, {_price(chosen, rival)} and a token "
        f"costs {_less(ratio)}."
    )


def _less(ratio: Estimate) -> str:
    """Say how much less (or more) a token costs than on the rival, with the band of that."""
    saved = ratio.map(lambda rival: 1 - 1 / rival)
    word, sign = ("less", 1) if saved.value >= 0 else ("more", -1)
    ends = sorted((sign * saved.low, sign * saved.high))
    return (
        f"{percent(abs(saved.value))} {word} (80 % band of the difference alone: "
        f"{percent(ends[0])} to {percent(ends[1])} {word})"
    )


def _speed(chosen: Row, rival: Row) -> str:
    lead = chosen.progress_tokens_per_s / rival.progress_tokens_per_s - 1
    overlap = _overlap(chosen, rival)
    bands = "the bands of their step times overlap" if overlap else "their bands do not overlap"
    if abs(lead) < AS_FAST:
        return f"it trains as fast ({bands})"
    return f"it trains {percent(abs(lead))} {'faster' if lead > 0 else 'slower'} ({bands})"


def _price(chosen: Row, rival: Row) -> str:
    if not rival.network_usd_per_s:
        return "the network is in the price of the GPU-hour"
    ratio = chosen.network_usd_per_s / rival.network_usd_per_s - 1
    if abs(ratio) < AS_FAST:
        return "its network costs as much"
    return f"its network costs {percent(abs(ratio))} {'more' if ratio > 0 else 'less'}"
