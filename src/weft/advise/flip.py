"""Flip points: how far an input must move before another fabric is clearly cheaper."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from math import exp, log

from weft.advise.case import Case
from weft.advise.input import Input
from weft.advise.wording import figure
from weft.errors import WeftError

RETRIES = 4
"""An end of the range where nothing can be built is moved inwards so many times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """Where the verdict changes, and to whom."""

    at: float
    winner: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """Where one rival takes the verdict over, below and above the current value."""

    rival: str
    below: Crossing | None
    above: Crossing | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """One input: what it is, the range that was searched, and where the verdict changes."""

    input: str
    title: str
    unit: str
    current: float
    low: float
    high: float
    below: Crossing | None
    """Nearest flip under the current value; none: it does not flip down to ``low``."""
    above: Crossing | None
    each: tuple[Against, ...]
    """The same for each rival alone."""
    swing_ratio: float
    """How much the cost of the verdict's tokens moves over the range, against its own."""
    text: str
    source: str
    evidence: str

    @property
    def flips(self) -> bool:
        """Whether the verdict changes anywhere in the range."""
        return self.below is not None or self.above is not None


Costs = Callable[[float], Mapping[str, float]]
"""Cost of a trillion tokens by candidate, with the input at a value; empty: none can be."""


def cheapest(costs: Mapping[str, float]) -> str:
    """Return the name of the least cost; the first named wins a tie."""
    return min(costs, key=lambda name: costs[name])


def crossing(
    costs: Costs, start: float, end: float, *, logarithmic: bool, steps: int
) -> Crossing | None:
    """Bisect between two values of an input for the one where the cheapest changes.

    Nothing is returned when the cheapest at the end is the cheapest at the start.

    >>> found = crossing(lambda x: {"a": x, "b": 5.0}, 1, 9, logarithmic=False, steps=30)
    >>> found.winner, round(found.at, 6)
    ('b', 5.0)
    """
    winner, beyond = cheapest(costs(start)), cheapest(costs(end))
    if beyond == winner:
        return None
    near, far = start, end
    for _ in range(steps):
        half = _middle(near, far, logarithmic=logarithmic)
        found = costs(half)
        if not found or cheapest(found) == winner:
            near = half
        else:
            far, beyond = half, cheapest(found)
    return Crossing(at=_middle(near, far, logarithmic=logarithmic), winner=beyond)


def flip(
    case: Case, name: str, asked: Input, margins: Mapping[str, float] | None = None
) -> Flip | None:
    """Find where one input changes the verdict; nothing where the input has no meaning here.

    A rival takes over when its tokens cost less by more than its margin, which is what is
    not known of the difference: without margins, when they cost less at all.
    """
    if not asked.applies(case):
        return None
    verdict = case.verdict.name
    beyond = {row.name: (margins or {}).get(row.name, 0.0) for row in case.rivals}
    costs = partial(_costs, case, asked, {verdict: 0.0} | beyond)
    current = asked.current(case)
    low, high = (
        asked.snap(case, _possible(costs, current, end, asked)) for end in asked.span(case)
    )
    each = tuple(
        Against(
            rival=rival,
            below=_taken(case, asked, {verdict: 0.0, rival: margin}, low),
            above=_taken(case, asked, {verdict: 0.0, rival: margin}, high),
        )
        for rival, margin in beyond.items()
    )
    below = max((one.below for one in each if one.below), key=lambda c: c.at, default=None)
    above = min((one.above for one in each if one.above), key=lambda c: c.at, default=None)
    return Flip(
        input=name,
        title=asked.title,
        unit=asked.unit,
        current=current,
        low=low,
        high=high,
        below=below,
        above=above,
        each=each,
        swing_ratio=_swing(costs, verdict, current, (low, high)),
        text=_sentence(case, asked, (low, high), each),
        source=asked.source,
        evidence=asked.evidence,
    )


def _costs(
    case: Case, asked: Input, margins: Mapping[str, float], value: float
) -> Mapping[str, float]:
    found = {}
    for name, margin in margins.items():
        try:
            found[name] = asked.usd_per_1t_tokens(case, name, value) * (1 + margin)
        except WeftError:  # this fabric cannot be so: it is no rival there
            continue
    return found


def _middle(near: float, far: float, *, logarithmic: bool) -> float:
    return exp((log(near) + log(far)) / 2) if logarithmic else (near + far) / 2


def _possible(costs: Costs, current: float, end: float, asked: Input) -> float:
    """Return the end of the range, or what is left of it where anything can be built."""
    for _ in range(RETRIES):
        if end == current or asked.choices or costs(end):
            return end
        end = _middle(current, end, logarithmic=asked.logarithmic)
    return current


def _taken(case: Case, asked: Input, pair: Mapping[str, float], end: float) -> Crossing | None:
    """Find where the second of a pair takes over from the first, on the way to one end."""
    costs = partial(_costs, case, asked, pair)
    current = asked.current(case)
    if end == current:
        return None
    if asked.choices:
        return _first_choice(costs, current, end, asked.choices)
    if not costs(end):
        return None
    found = crossing(costs, current, end, logarithmic=asked.logarithmic, steps=asked.steps)
    return found and Crossing(at=asked.snap(case, found.at), winner=found.winner)


def _first_choice(
    costs: Costs, start: float, end: float, choices: tuple[float, ...]
) -> Crossing | None:
    """Walk the values that exist, from the current one outwards."""
    winner = cheapest(costs(start))
    low, high = sorted((start, end))
    for value in sorted((c for c in choices if low <= c <= high), key=lambda c: abs(c - start)):
        found = costs(value)
        if found and cheapest(found) != winner:
            return Crossing(at=value, winner=cheapest(found))
    return None


def _swing(costs: Costs, verdict: str, current: float, ends: tuple[float, float]) -> float:
    own = costs(current)[verdict]
    moved = [costs(end).get(verdict, own) for end in ends]
    return (max(own, *moved) - min(own, *moved)) / own


def _sentence(
    case: Case, asked: Input, ends: tuple[float, float], each: tuple[Against, ...]
) -> str:
    now = figure(asked.current(case), asked.unit)
    names = {row.name: row.candidate.short for row in (case.verdict, *case.rivals)}
    words = ("at", "at") if asked.choices else ("below", "above")
    found = [
        f"{word} {figure(side.at, asked.unit)} {names[side.winner]}"
        for one in each
        for word, side in zip(words, (one.below, one.above), strict=True)
        if side is not None
    ]
    if found:
        return f"{asked.title}: now {now}; clearly cheaper: {', '.join(found)}"
    low, high = (figure(end, asked.unit) for end in ends)
    return f"{asked.title}: now {now}; does not flip within {low} to {high}"
