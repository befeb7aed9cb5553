"""What an architect weighs beside the cost of a token."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from weft.advise.case import Case, Row
from weft.advise.limits import switch_vendors
from weft.advise.wording import joined, percent
from weft.network.network import resolve
from weft.records import table
from weft.sources import Kind

MATTERS = 0.01
"""What moves speed or the cost of a token by less than one per cent favours nobody."""


@dataclass(frozen=True, slots=True)
class Number:
    """One figure of a piece of advice, exact; its text is rounded."""

    label: str
    value: float
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """Which candidates a consideration favours, and why; none where it makes no odds."""

    favours: tuple[str, ...]
    reason: str
    numbers: tuple[Number, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Consideration:
    """One thing to weigh: a row of ``considerations.toml`` with its function."""

    title: str
    weigh: Callable[[Case], Opinion]
    source: str
    evidence: str = "computed by the analytic engine"
    breaks_ties: bool = True
    """Whether it counts where money cannot tell; what is money itself does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """A consideration with its opinion on this case."""

    consideration: str
    title: str
    favours: tuple[str, ...]
    reason: str
    numbers: tuple[Number, ...]
    source: str
    evidence: str
    breaks_ties: bool


def _measurements(row: Row) -> int:
    """Count measurements of what balancing and tuning keep; none without a collective."""
    if row.candidate.resembles:
        return 0
    choice = row.prediction.cluster.fabric
    found = resolve(row.prediction.cluster).fabric
    kept = found.balanced(choice.load_balancing), found.tuned(choice.tuning)
    behind = {key for share in kept for key in share.sources}
    return sum(found.source(key).kind is Kind.MEASURED for key in behind)


def _evidence(case: Case) -> Opinion:
    counts = {row.name: _measurements(row) for row in case.choices}
    never = [row.candidate.short for row in case.choices if not counts[row.name]]
    return Opinion(
        favours=tuple(name for name, number in counts.items() if number) if never else (),
        reason=f"no measured collective of {joined(never)} is published"
        if never
        else "each of these rests on at least one published measurement",
        numbers=tuple(Number(name, n, "measurements") for name, n in counts.items()),
    )


def _mis_tuning(case: Case) -> Opinion:
    tuned, untuned = case.row("roce_tuned"), case.row("roce_default")
    infiniband = case.row("infiniband")
    loss = 1 - untuned.progress_tokens_per_s / tuned.progress_tokens_per_s
    more = untuned.usd_per_1t_tokens / infiniband.usd_per_1t_tokens - 1
    compared = f"{percent(abs(more))} {'more' if more > 0 else 'less'} a token"
    return Opinion(
        favours=("infiniband",) if more >= MATTERS else (),
        reason=f"RoCE left untuned loses {percent(loss)} of its speed and costs {compared} "
        "than InfiniBand",
        numbers=(
            Number("speed lost untuned", loss, "ratio"),
            Number("untuned RoCE over InfiniBand, cost of a token, less one", more, "ratio"),
        ),
    )


def _settings(row: Row) -> str:
    count = row.candidate.settings
    return f"{count} setting{'' if count == 1 else 's'} to agree on every device"


def _operations(case: Case) -> Opinion:
    rows = sorted(case.choices, key=lambda row: row.candidate.settings)
    simplest, hardest = rows[0], rows[-1]
    fewest = simplest.candidate.settings
    return Opinion(
        favours=tuple(row.name for row in rows if row.candidate.settings == fewest),
        reason=f"{simplest.candidate.short}: {_settings(simplest)}; "
        f"{hardest.candidate.short}: {_settings(hardest)}",
        numbers=tuple(
            Number(row.name, row.candidate.settings, "settings to agree") for row in rows
        ),
    )


def _performance(case: Case) -> Opinion:
    rows = sorted(case.choices, key=lambda row: -row.progress_tokens_per_s)
    fastest, slowest = rows[0], rows[-1]
    lead = fastest.progress_tokens_per_s / slowest.progress_tokens_per_s - 1
    second = next((r for r in rows if r.candidate.family != fastest.candidate.family), slowest)
    ahead = fastest.progress_tokens_per_s / second.progress_tokens_per_s - 1
    return Opinion(
        favours=(fastest.name,) if ahead >= MATTERS else (),
        reason=f"{fastest.candidate.short} trains {percent(ahead)} faster than "
        f"{second.candidate.short}, {percent(lead)} faster than {slowest.candidate.short}",
        numbers=tuple(Number(row.name, row.progress_tokens_per_s, "tokens/s") for row in rows),
    )


def _vendor_breadth(case: Case) -> Opinion:
    if case.best.prediction.cost.rented:
        return Opinion(favours=(), reason="whoever rents buys no switches")
    vendors = {
        row.name: switch_vendors(row.prediction.cluster.fabric.kind) for row in case.choices
    }
    most = max(vendors, key=lambda name: len(vendors[name]))
    least = min(vendors, key=lambda name: len(vendors[name]))
    widest = tuple(n for n, v in vendors.items() if len(v) == len(vendors[most]))
    return Opinion(
        favours=() if len(widest) == len(vendors) else widest,
        reason=f"{len(vendors[most])} vendors sell switches for {case.candidate(most).short}; "
        f"for {case.candidate(least).short} {joined(vendors[least]) or 'none'}",
        numbers=tuple(Number(name, len(v), "vendors") for name, v in vendors.items()),
    )


_WEIGH: Final[Mapping[str, Callable[[Case], Opinion]]] = {
    "evidence": _evidence, "mis_tuning": _mis_tuning, "operations": _operations,
    "performance": _performance, "vendor_breadth": _vendor_breadth,
}  # fmt: skip
CONSIDERATIONS: Final = {
    name: Consideration(weigh=_WEIGH[name], **row)
    for name, row in table("weft.advise", "considerations").items()
}
