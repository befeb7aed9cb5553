"""Break-even points: how far an input must move before another network is recommended."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import exp, log
from operator import attrgetter

from weft.advise.case import Case
from weft.advise.question import Input
from weft.errors import WeftError

RETRIES = 4
"""An end of the range where nothing can be built is moved inwards so many times."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """Where the verdict changes, and to whom."""

    at: float
    winner: str
    shown: str = ""
    """The value as text with its unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """Where one rival takes the verdict over, below and above the current value."""

    rival: str
    below: Crossing | None
    above: Crossing | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakEven:
    """One input: what it is, the range that was searched, and where the verdict changes."""

    input: str
    title: str
    unit: str
    current: float
    now: str
    """The current value as text."""
    low: float
    high: float
    below: Crossing | None
    """Nearest change under the current value; none: there is none down to ``low``."""
    above: Crossing | None
    each: tuple[Against, ...]
    """The same for each rival alone."""
    swing_ratio: float
    """How much the cost of the verdict's tokens moves over the range, against its own."""
    searched: str
    """The range that was searched, as text."""
    text: str
    source: str
    evidence: str

    @property
    def changes(self) -> bool:
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


def break_even(
    case: Case, name: str, asked: Input, margins: Mapping[str, float] | None = None
) -> BreakEven:
    """Find where one input that applies here changes the verdict.

    A rival takes over when its tokens cost less by more than its margin, which is what is
    not known of the difference: without margins, when they cost less at all.
    """
    verdict = case.verdict.name
    beyond = {row.name: (margins or {}).get(row.name, 0.0) for row in case.rivals}
    costs = partial(_costs, case, asked, {verdict: 0.0} | beyond)
    current = asked.current(case)
    low, high = (_possible(case, costs, end, asked) for end in asked.span(case))
    each = tuple(
        Against(
            rival=rival,
            below=_taken(case, asked, {verdict: 0.0, rival: margin}, low),
            above=_taken(case, asked, {verdict: 0.0, rival: margin}, high),
        )
        for rival, margin in beyond.items()
    )
    below = max((pair.below for pair in each if pair.below), key=attrgetter("at"), default=None)
    above = min((pair.above for pair in each if pair.above), key=attrgetter("at"), default=None)
    return BreakEven(
        input=name, title=asked.title, unit=asked.unit, current=current,
        now=asked.shown(case, current), low=low, high=high, below=below, above=above, each=each,
        swing_ratio=_swing(costs, verdict, current, (low, high)),
        searched=_range(case, asked, (low, high)),
        text=_sentence(case, asked, (low, high), each), source=asked.source,
        evidence=asked.evidence,
    )  # fmt: skip


def _range(case: Case, asked: Input, ends: tuple[float, float]) -> str:
    choices = asked.choices(case)
    if choices and asked.label:
        return ", ".join(asked.shown(case, value) for value in choices)
    low, high = (asked.shown(case, end) for end in ends)
    unit = f" {asked.unit}"
    return f"{low.removesuffix(unit) if high.endswith(unit) else low} to {high}"


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


def _possible(case: Case, costs: Costs, end: float, asked: Input) -> float:
    """Return the end of the range, or what is left of it where anything can be built."""
    current = asked.current(case)
    for _ in range(RETRIES):
        if end == current or asked.choices(case) or costs(end):
            return end
        end = _middle(current, end, logarithmic=asked.logarithmic)
    return current


def _taken(case: Case, asked: Input, pair: Mapping[str, float], end: float) -> Crossing | None:
    """Find where the second of a pair takes over from the first, on the way to one end."""
    costs = partial(_costs, case, asked, pair)
    current = asked.current(case)
    if end == current:
        return None
    if asked.choices(case):
        found = _first_choice(case, asked, pair, end)
    elif costs(end):
        found = crossing(costs, current, end, logarithmic=asked.logarithmic, steps=asked.steps)
    else:
        return None
    return found and replace(found, shown=asked.shown(case, found.at))


def _first_choice(
    case: Case, asked: Input, pair: Mapping[str, float], end: float
) -> Crossing | None:
    """Walk the values that exist, from the current one outwards."""
    start = asked.current(case)
    costs = partial(_costs, case, asked, pair)
    winner = cheapest(costs(start))
    low, high = sorted((start, end))
    choices = (value for value in asked.choices(case) if low <= value <= high)
    for value in sorted(choices, key=lambda value: abs(value - start)):
        found = costs(value)
        if found and cheapest(found) != winner and asked.confirmed is not None:
            whole = replace(asked, usd_per_1t_tokens=asked.confirmed)
            found = _costs(case, whole, pair, value)
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
    now = asked.shown(case, asked.current(case))
    names = {row.name: row.candidate.short for row in (case.verdict, *case.rivals)}
    words = ("at", "at") if asked.choices(case) else ("below", "above")
    found = [
        f"{word} {side.shown}: {names[side.winner]}"
        for rival in each
        for word, side in zip(words, (rival.below, rival.above), strict=True)
        if side is not None
    ]
    if found:
        return f"{asked.title}, now {now}; {', '.join(found)}"
    return f"{asked.title}, now {now}: no change in {_range(case, asked, ends)}"
