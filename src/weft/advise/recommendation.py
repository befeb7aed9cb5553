"""The answer in a sentence, by one rule from the figures of the table.

1. Rows that the owner's limits rule out are not recommended.
2. Of the others, the row whose tokens cost least is the cheapest. A row whose extra cost of a
   token may be nothing, within what is known of the difference alone, ties with it.
3. A tied row that costs more and trains slower than another choice that has been measured is
   not recommended.
4. Of what remains, the row that most considerations beside money favour is recommended; of
   equals, the cheapest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weft.advise.candidate import NONE
from weft.advise.case import Case, Row
from weft.advise.consideration import Weighed
from weft.advise.spread import Spread, difference
from weft.advise.wording import capital, joined, money, percent
from weft.results import Estimate

AS_FAST = 0.001
"""Differences below a thousandth are not worth a word."""
RESOLVED = 1.005
"""Half a per cent of cost is below what a model of this error tells apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """Which network, in a sentence, with the reasons and what it ties with."""

    fabric: str | None
    """None: no network of the table meets the owner's limits."""
    cheapest: str
    sentence: str
    tied_with: tuple[str, ...]
    """Networks whose cost of a token cannot be told from that of the cheapest."""
    tie_broken_by: tuple[str, ...]
    """Considerations that favour the one recommended, where others tie."""
    rival: str | None
    """The network it is compared with: of another family where there is one."""
    bands_overlap: bool
    """Whether the 80 % bands of its step time and of its rival's overlap."""
    rival_cost_ratio: Estimate | None
    """Cost of a token on the rival over its own; errors that both share cancelled."""
    reasons: tuple[str, ...]


def recommend(
    case: Case, spreads: Mapping[str, Spread], weighed: Sequence[Weighed]
) -> Recommendation:
    """Name a network by the rule above."""
    cheapest = case.best
    ratios = {
        row.name: difference(row, cheapest, spreads[row.name], spreads[cheapest.name])
        for row in case.choices
        if row is not cheapest
    }
    tied = [row for row in case.rows if row.name in ratios and ratios[row.name].low <= RESOLVED]
    open_ = [r for r in (cheapest, *tied) if not is_dominated(r, case.choices)] or [cheapest]
    favours = {row.name: _for(row.name, weighed) for row in open_}
    chosen = max(open_, key=lambda r: (len(favours[r.name]), -r.usd_per_1t_tokens))
    rival = _rival(case, chosen)
    ratio = None
    if rival is not None:
        ratio = difference(rival, chosen, spreads[rival.name], spreads[chosen.name])
    return Recommendation(
        fabric=chosen.name if case.has_choice else None,
        cheapest=cheapest.name,
        sentence=_sentence(case, chosen, (rival, ratio), tied, favours[chosen.name]),
        tied_with=tuple(row.name for row in tied),
        tie_broken_by=tuple(favours[chosen.name]) if tied else (),
        rival=None if rival is None else rival.name,
        bands_overlap=rival is not None and _overlap(chosen, rival),
        rival_cost_ratio=ratio,
        reasons=_reasons(chosen, rival, weighed),
    )


def is_dominated(row: Row, others: Sequence[Row]) -> bool:
    """Tell whether a measured choice both costs less a token and trains faster."""
    return any(
        other.usd_per_1t_tokens < row.usd_per_1t_tokens
        and other.progress_tokens_per_s > row.progress_tokens_per_s
        for other in others
        if not other.candidate.resembles
    )


def _for(name: str, weighed: Sequence[Weighed]) -> list[str]:
    return [item.title for item in weighed if name in item.favours and item.breaks_ties]


def _reasons(chosen: Row, rival: Row | None, weighed: Sequence[Weighed]) -> tuple[str, ...]:
    """Return speed and price against the rival, what favours it, then what favours others."""
    ours = [f"{item.title}: {item.reason}" for item in weighed if chosen.name in item.favours]
    theirs = [
        f"against it, {item.title}: {item.reason}"
        for item in weighed
        if item.favours and chosen.name not in item.favours
    ]
    if rival is None:
        return (*ours, *theirs)
    figures = f"{_speed(chosen, rival)}, {_price(chosen, rival)}"
    return (f"against {rival.candidate.short} {figures}", *ours, *theirs)


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
    case: Case,
    chosen: Row,
    against: tuple[Row | None, Estimate | None],
    tied: list[Row],
    favours: list[str],
) -> str:
    rival, ratio = against
    if chosen.name == NONE:
        return f"{_domain(case)}: no scale-out network is needed."
    if not case.has_choice:
        reasons = joined(list(dict.fromkeys(case.objections[chosen.name])))
        return (
            f"No network can be recommended within the limits. The cheapest, "
            f"{chosen.candidate.short}: {reasons}."
        )
    name = chosen.candidate.short
    if rival is None or ratio is None:
        return f"Take {name}: no other network of those compared can be recommended."
    figures = f"a token costs {_less(ratio)} than {rival.candidate.short}"
    if not tied:
        return f"Take {name}: {figures}."
    others = joined([r.candidate.short for r in (case.best, *tied) if r is not chosen])
    why = f"{joined(favours)} favour it" if favours else "it costs least"
    return (
        f"Take {name}. {capital(others)} cost the same within the model error; {why}. "
        f"{capital(figures)}."
    )


def _domain(case: Case) -> str:
    host, gpus = case.cluster.host, case.gpus
    up = host.scale_up
    if up.kind == "nvlink" and gpus <= up.gpus:
        return f"{gpus} GPUs in one NVLink domain"
    return f"{gpus} GPUs in one host"


def _less(ratio: Estimate) -> str:
    """Say how much less (or more) a token costs than on the rival, with the band of that."""
    saved = ratio.map(lambda rival: 1 - 1 / rival)
    word, sign = ("less", 1) if saved.value >= 0 else ("more", -1)
    ends = sorted((sign * saved.low, sign * saved.high))
    return (
        f"{percent(abs(saved.value))} {word} "
        f"(80 % band {percent(ends[0])} to {percent(ends[1])})"
    )


def _speed(chosen: Row, rival: Row) -> str:
    lead = chosen.progress_tokens_per_s / rival.progress_tokens_per_s - 1
    if abs(lead) < AS_FAST:
        return "it trains as fast"
    return f"it trains {percent(abs(lead))} {'faster' if lead > 0 else 'slower'}"


def _price(chosen: Row, rival: Row) -> str:
    if chosen.prediction.cost.rented:
        return "the network is in the price of the GPU-hour"
    mine, theirs = (row.prediction.cost.network_usd.value for row in (chosen, rival))
    return f"its network costs {money(mine)} (not {money(theirs)})"
