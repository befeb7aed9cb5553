"""Which fault fits the shape of a deviation: whose curve makes the run how likely.

A fault's likelihood is the mean over its forms, each as in ``likelihood``. ``none of these``
is a deviation of any height that changes over a few doublings of size; ``healthy`` is none.

Faults that a table cannot tell apart are told as a group: had one of them made the very curve
that its best form makes, the best forms of the others would be less likely by less than ALIKE
times. Within a group only what is known beforehand, and what other outputs show, orders them.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from weft.bench.check import MISLED
from weft.bench.expected import Expected, Setting, expected, times_s
from weft.bench.fault import Fault, all_faults
from weft.bench.fault_forms import Variant
from weft.bench.likelihood import (
    Fit,
    Unknown,
    fit_of,
    log_likelihoods,
    log_of_none,
    with_gaps,
)
from weft.errors import WeftError

HEALTHY_WEIGHT: Final = 0.5
"""Before the run is looked at: a run is judged where somebody is in doubt."""
NONE_WEIGHT: Final = 0.05
"""What no row of faults.toml describes. Judgement: threads close unsolved about as often."""
ALIKE: Final = 10.0
"""Odds from which evidence is strong [Jeffreys 1961, appendix B]: below, a group is left."""
LEAST_FORM: Final = 0.1
"""A form of a fault less probable than this, among its forms, is not told."""
LEAST_SHIFT: Final = 1e-3
"""A form that changes the logarithm of no time by this changes nothing here."""
_K = TypeVar("_K")
HEALTHY: Final = "healthy"
NONE: Final = "none of these"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One explanation of a sweep, and how probable the sweep makes it."""

    name: str
    title: str
    probability: float
    form: str = ""
    """The form that fits best, as ``4 of 8 NICs``."""
    forms: tuple[tuple[str, float], ...] = ()
    """Its forms that are probable if it is this fault, and how much: the most probable first,
    or from the slightest to the heaviest where it comes in every amount."""
    is_graded: bool = False
    """Whether it comes in every amount."""
    group: int = 0
    """Number of its group, from 1: those of one group fit equally. 0: no fault."""
    curve_s: tuple[float, ...] = ()
    """Times that it expects at the sizes of the sweep."""
    check: str = ""
    command: str = ""
    likeness: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """One form of a fault on a setting."""

    variant: Variant
    curve_s: tuple[float, ...]
    shift: tuple[float, ...]


def explain(
    setting: Setting,
    points: Sequence[Expected] | None = None,
    evidence: Mapping[str, float] | None = None,
    told: Mapping[str, str] | None = None,
) -> list[Candidate]:
    """Return every explanation of a sweep, the most probable first.

    ``evidence`` is the logarithm by which other outputs make a fault more or less likely,
    ``told`` the form of a fault that they name.
    """
    points = points or expected(setting)
    fit = fit_of(setting, points)
    forms = {
        name: seen for name, fault in all_faults() if (seen := _forms(setting, fault, points))
    }
    faults = {name: fault for name, fault in all_faults() if name in forms}
    logs = {
        HEALTHY: math.log(HEALTHY_WEIGHT) + log_of_none(fit),
        NONE: math.log(NONE_WEIGHT)
        + _mean_log([log_of_none(fit, name) for name in (Unknown.HEIGHT, Unknown.SHAPE)]),
    }
    best: dict[str, _Form] = {}
    amounts: dict[str, tuple[tuple[str, float], ...]] = {}
    whole = sum(float(fault.weight) for fault in faults.values())
    for name, fault in faults.items():
        share = (1 - HEALTHY_WEIGHT - NONE_WEIGHT) * float(fault.weight) / whole
        own = log_likelihoods(fit, [form.shift for form in forms[name]])
        own = _with_told(own, forms[name], (told or {}).get(name, ""))
        best[name] = forms[name][own.index(max(own))]
        amounts[name] = _amounts(own, forms[name], graded=fault.amount is not None)
        logs[name] = math.log(share) + _mean_log(own) + (evidence or {}).get(name, 0.0)
    probability = _shares(logs)
    groups = _groups(fit, forms, best, probability, evidence or {})
    found = [_candidate(name, faults, best, probability, groups) for name in logs]
    return _by_probability(
        replace(candidate, forms=amounts.get(candidate.name, ())) for candidate in found
    )


def _with_told(logs: Sequence[float], forms: Sequence[_Form], told: str) -> list[float]:
    """Weigh forms by what other outputs say of the amount; all are as probable without."""
    labels = [form.variant.label for form in forms]
    if told not in labels or len(labels) == 1:
        return list(logs)
    count = len(labels)
    shares = [1 - MISLED if label == told else MISLED / (count - 1) for label in labels]
    return [log + math.log(share * count) for log, share in zip(logs, shares, strict=True)]


def _amounts(
    logs: Sequence[float], forms: Sequence[_Form], *, graded: bool
) -> tuple[tuple[str, float], ...]:
    shares = _shares(dict(enumerate(logs)))
    most = max(shares.values())
    told = [place for place, share in shares.items() if share >= min(LEAST_FORM, most)]
    order = told if graded else sorted(told, key=lambda place: -shares[place])
    return tuple((forms[place].variant.label, shares[place]) for place in order)


def _candidate(
    name: str,
    faults: Mapping[str, Fault],
    best: Mapping[str, _Form],
    probability: Mapping[str, float],
    groups: Mapping[str, int],
) -> Candidate:
    if name not in faults:
        title = "nothing is wrong" if name == HEALTHY else "no fault that weft can simulate"
        return Candidate(name=name, title=title, probability=probability[name])
    fault, form = faults[name], best[name]
    return Candidate(
        name=name, title=fault.title, probability=probability[name], form=form.variant.label,
        group=groups[name], curve_s=form.curve_s, check=fault.check, command=fault.command,
        likeness=fault.likeness, is_graded=fault.amount is not None,
    )  # fmt: skip


def _by_probability(found: Iterable[Candidate]) -> list[Candidate]:
    return sorted(found, key=lambda item: -item.probability)


def _shares(logs: Mapping[_K, float]) -> dict[_K, float]:
    most = max(logs.values())
    shares = {name: math.exp(log - most) for name, log in logs.items()}
    whole = sum(shares.values())
    return {name: share / whole for name, share in shares.items()}


def among_faults(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the explanations that are left once it is settled that something is wrong.

    What looked no better with a fault than with none is explained by no fault: the share of
    ``healthy`` goes to ``none of these``.
    """
    sound = sum(candidate.probability for candidate in candidates if candidate.name == HEALTHY)
    return _by_probability(
        replace(candidate, probability=candidate.probability + sound)
        if candidate.name == NONE
        else candidate
        for candidate in candidates
        if candidate.name != HEALTHY
    )


def is_suspect(candidates: Sequence[Candidate]) -> bool:
    """Tell whether faults explain a sweep better than none, by odds that are strong evidence.

    A sweep may be inside its band at every size and have the curve of a fault all the same.
    """
    sound = sum(candidate.probability for candidate in candidates if candidate.name == HEALTHY)
    faults = sum(candidate.probability for candidate in candidates if candidate.group)
    return bool(candidates) and faults > ALIKE * sound


def leading_group(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    """Return the faults of the group that is most probable as a whole."""
    together: dict[int, float] = defaultdict(float)
    for candidate in candidates:
        together[candidate.group] += candidate.probability if candidate.group else 0.0
    leading = max(together, key=together.__getitem__, default=0)
    return tuple(
        candidate.name for candidate in candidates if leading and candidate.group == leading
    )


def _groups(
    fit: Fit,
    forms: Mapping[str, Sequence[_Form]],
    best: Mapping[str, _Form],
    probability: Mapping[str, float],
    evidence: Mapping[str, float],
) -> dict[str, int]:
    """Number the groups: the most probable fault takes those that its curve fits as well.

    What other outputs tell apart is told apart, whatever the curves are.
    """
    found: dict[str, int] = {}
    for name in sorted(best, key=lambda item: -probability[item]):
        if name in found:
            continue
        found[name] = number = max(found.values(), default=0) + 1
        made = with_gaps(fit, best[name].shift)
        own = _closest(made, forms[name])
        for other in best:
            if other in found:
                continue
            apart = own - _closest(made, forms[other])
            apart += evidence.get(name, 0.0) - evidence.get(other, 0.0)
            if apart < math.log(ALIKE):
                found[other] = number
    return found


def _closest(fit: Fit, forms: Sequence[_Form]) -> float:
    """Return how likely the form that fits best makes a sweep."""
    return max(log_likelihoods(fit, [form.shift for form in forms]))


def _forms(setting: Setting, fault: Fault, points: Sequence[Expected]) -> list[_Form]:
    """Return the forms of a fault that change anything here."""
    found = []
    sound = times_s(setting, setting.cluster, {})
    for variant in fault.forms(setting):
        try:
            curve = tuple(times_s(setting, variant.cluster, variant.factors))
        except WeftError:
            continue
        shift = tuple(math.log(f / s) for f, s in zip(curve, sound, strict=True))
        if max(map(abs, shift)) >= LEAST_SHIFT:
            laid = tuple(
                p.time_s.value * f / s for p, f, s in zip(points, curve, sound, strict=True)
            )
            found.append(_Form(variant=variant, curve_s=laid, shift=shift))
    return found


def _mean_log(logs: Sequence[float]) -> float:
    most = max(logs)
    return most + math.log(sum(math.exp(log - most) for log in logs) / len(logs))
