"""How often the judge is right: on healthy published sweeps, and on faults laid over them.

Healthy sweeps are judged with constants fitted without their site: a FAIL is a false one.
A fault is laid over a real sweep by multiplying each measured time by what the fault would
cost there (its curve over the healthy one), so that the noise and the error of the model are
those of real systems, not drawn from the judge's own law. How much of the fault there is is
drawn, an amount that is none of the judge's own forms where it comes in every amount; what it
costs is itself off by COST_ERROR as a whole and by SHAPE_ERROR from size to size, for no real
fault costs just what the model says.
"""

import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Final

from weft.accuracy import tables
from weft.accuracy.kind import Row
from weft.accuracy.rows import collective as rows
from weft.bench import noise, shape
from weft.bench.baseline import NARROWEST, baseline
from weft.bench.expected import Setting, expected, times_s
from weft.bench.fault import Fault, all_faults
from weft.bench.fault_forms import Variant
from weft.bench.sweep import MessageTest, Sweep, Timing
from weft.bench.verdict import FALSE_FAIL_RATIO, Outcome, judge_ranges, overall
from weft.engines.analytic.collective import constants
from weft.engines.analytic.collective.spread import bucket
from weft.errors import WeftError
from weft.predict.provenance import provenance
from weft.results import Provenance
from weft.traffic.collective import Operation

FEWEST_SIZES: Final = 3
"""A run of fewer sizes has no shape."""
FEWEST_OF_A_CURVE: Final = 8
"""Sizes from which a sweep can lend its errors to another."""
BESIDE: Final = (Operation.ALL_TO_ALL, Operation.SEND_RECV)
LEAST_HARM: Final = 1.25
"""A form of a fault that slows no size by this much is not laid over a sweep."""
COST_ERROR: Final = 0.2
"""Spread of log(cost) of a fault over what the model says: large predictions err as much."""
SHAPE_ERROR: Final = 0.1
"""Spread of the same from size to size, beside it."""
SHAPE_DOUBLINGS: Final = 5.0
"""Over how many doublings of size that stays alike."""
REAL_HARM: Final = 0.2
"""A fault that slows a range of sizes by more than this does real harm."""
SIGMAS: Final = 1.2816
"""Spreads of a normal law from its middle to the edge of its 80 % band."""
SEED: Final = 1
STATED: Final = (0.0, 0.3, 0.5, 0.7, 0.85, 0.95, 1.0)
"""Edges of the groups of stated probability."""
COUNTED: Final = "nics_lost"
"""The fault whose amount is a number that the judge tells."""
_TOP: Final = 3
Errors = Sequence[tuple[float, float]]
"""Doublings of each size, and the logarithm of measured over expected there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRun:
    """One published sweep and what the judge said."""

    run: str
    site: str
    health: str
    sizes: int
    outcome: str
    first: str
    """Most probable explanation."""
    suspect: bool = False
    """It passed with the shape of a fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedFault:
    """How one kind of fault fared over all the sweeps it was laid over."""

    fault: str
    trials: int
    failed: int
    """Judged FAIL."""
    inconclusive: int
    passed: int
    first: int
    """Named first among the faults."""
    top3: int
    group: int
    """In the leading group, whose faults fit equally."""
    taken_for: tuple[tuple[str, int], ...]
    """First among the faults, by how often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """Trials whose leading group was given a probability in a range, and how many are right."""

    from_ratio: float
    to_ratio: float
    trials: int
    stated_ratio: float
    """Mean of what was stated."""
    right_ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """How the judge did on faults that were laid over sweeps."""

    trials: int
    passed_ratio: float
    """Faults that were let through as PASS."""
    suspect_ratio: float
    """Of these, those told to have the shape of a fault all the same."""
    failed_ratio: float
    harmful: int
    """Trials that slow a range of sizes by more than REAL_HARM."""
    harmful_passed_ratio: float
    first_ratio: float
    top3_ratio: float
    group_ratio: float
    """The right fault is in the leading group."""
    group_size: float
    """Mean number of faults in the leading group."""
    alone: int
    """Trials whose leading group is one fault."""
    alone_ratio: float
    """Of them, those where it is the right one."""
    stated: tuple[Stated, ...]
    counted: int
    """Trials of NICs that are lost."""
    count_first_ratio: float
    """Of them, those whose number of NICs is told right."""
    count_told_ratio: float
    """Those whose number is among the ones told."""
    counts_told: float
    """Mean number of those."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeScore:
    """The score of the judge."""

    healthy: int
    false_fails: int
    false_fail_ratio: float
    stated_ratio: float
    """What the judge allows itself."""
    healthy_inconclusive: int
    false_suspects: int
    """Healthy sweeps that pass with the shape of a fault."""
    by_model: Rates
    """Where the model says what is expected."""
    by_three_collectives: Rates
    """Where all-to-all and send and receive were measured beside an all-reduce over hosts.

    What those two err by is that of other published systems."""
    by_good_run: Rates
    """Where one good run of the same system does."""
    good_false_fails: int
    """Healthy sweeps that fail against a good run of their system."""
    faults: tuple[JudgedFault, ...]
    """By the model."""
    runs: tuple[JudgedRun, ...]
    broken: tuple[JudgedRun, ...]
    """Published sweeps of systems known or thought to be broken."""
    left_out: int
    provenance: Provenance


def score(folder: Path | None = None) -> JudgeScore:
    """Score the judge over a folder of published sweeps; without one over those shipped."""
    data = tables.read(folder or tables.SHIPPED)
    seen, curves = _Seen(), list[tuple[JudgedRun, Setting, Errors]]()
    for run, setting, site in settings(data):
        if setting is None:
            seen.left_out += 1
            continue
        is_healthy = (run.get("health") or "") in rows.HEALTHY
        with constants.using(constants.without(site)):
            judged = _judged(run, setting, site)
            (seen.runs if is_healthy else seen.broken).append(judged)
            if is_healthy:
                good = _with_good_run(setting, judged.run)
                seen.good.append(overall(judge_ranges(good.sweep.timings, expected(good)))[0])
                seen.trials += _laid_over(setting, judged.run)
                seen.good_trials += _laid_over(good, judged.run)
                if _has_a_curve(setting):
                    curves.append((judged, setting, _errors(setting)))
    for place, (judged, setting, _) in enumerate(curves):
        lent = [curves[(place + step) % len(curves)][2] for step in range(len(BESIDE) + 1)]
        with constants.using(constants.without(judged.site)):
            seen.three_trials += _laid_over(_with_beside(setting, lent), judged.run)
    return _score(seen)


def _has_a_curve(setting: Setting) -> bool:
    own = setting.sweep
    across = setting.group.domains > 1 and own.operation is Operation.ALL_REDUCE
    return across and len(own.timings) >= FEWEST_OF_A_CURVE


def _errors(setting: Setting) -> Errors:
    """Return doublings of each size, and log(measured / expected) there."""
    return [
        (math.log2(t.size_bytes), math.log(t.time_s / p.time_s.value))
        for t, p in zip(setting.sweep.timings, expected(setting), strict=True)
    ]


def _with_timings(setting: Setting, timings: Iterable[Timing]) -> Setting:
    return replace(setting, sweep=replace(setting.sweep, timings=tuple(timings)))


def _with_beside(setting: Setting, errors: Sequence[Errors]) -> Setting:
    """Return a run of several collectives: its own sweep, and others with others' errors."""
    own = setting.sweep.timings
    tests = [MessageTest(what="collective", operation=kind)
             for kind in (setting.sweep.operation, *BESIDE)]  # fmt: skip
    several = _with_timings(setting, (replace(t, test=test) for test in tests for t in own))
    # Each size errs as the nearest size of the sweep that lends its errors.
    places = [math.log2(timing.size_bytes) for timing in own]
    off = [min(lent, key=lambda error: abs(error[0] - place))[1]
           for lent in errors for place in places]  # fmt: skip
    points = zip(several.sweep.timings, expected(several), off, strict=True)
    return _with_timings(
        several, (replace(t, time_s=p.time_s.value * math.exp(error)) for t, p, error in points)
    )


@dataclass(slots=True)
class _Seen:
    """What was judged so far."""

    runs: list[JudgedRun] = field(default_factory=list)
    broken: list[JudgedRun] = field(default_factory=list)
    trials: "list[_Trial]" = field(default_factory=list)
    good: list[Outcome] = field(default_factory=list)
    good_trials: "list[_Trial]" = field(default_factory=list)
    three_trials: "list[_Trial]" = field(default_factory=list)
    left_out: int = 0


def _score(seen: _Seen) -> JudgeScore:
    outcomes = Counter(run.outcome for run in seen.runs)
    return JudgeScore(
        healthy=len(seen.runs), false_fails=outcomes[Outcome.FAIL],
        false_fail_ratio=outcomes[Outcome.FAIL] / max(1, len(seen.runs)),
        stated_ratio=FALSE_FAIL_RATIO, healthy_inconclusive=outcomes[Outcome.INCONCLUSIVE],
        false_suspects=sum(run.suspect for run in seen.runs),
        by_model=_rates(seen.trials), by_three_collectives=_rates(seen.three_trials),
        by_good_run=_rates(seen.good_trials),
        good_false_fails=seen.good.count(Outcome.FAIL),
        faults=tuple(_fault(name, seen.trials) for name, _ in all_faults()),
        runs=tuple(seen.runs), broken=tuple(seen.broken), left_out=seen.left_out,
        provenance=provenance(
            sources=("nccl_runs.csv, nccl_points.csv",),
            assumptions=("each sweep is judged by constants fitted without its site",),
        ),
    )  # fmt: skip


def _mean(values: Iterable[float]) -> float:
    """Return a mean; 0 of nothing."""
    return fmean(held) if (held := list(values)) else 0.0


def _rates(trials: "Sequence[_Trial]") -> Rates:
    passed = [trial for trial in trials if trial.outcome is Outcome.PASS]
    harmful = [trial for trial in trials if trial.harm_ratio > REAL_HARM]
    alone = [trial for trial in trials if len(trial.group) == 1]
    counts = [trial.counted for trial in trials if trial.counted]
    return Rates(
        trials=len(trials), passed_ratio=len(passed) / max(1, len(trials)),
        suspect_ratio=_mean(trial.suspect for trial in passed),
        failed_ratio=_mean(trial.outcome is Outcome.FAIL for trial in trials),
        harmful=len(harmful),
        harmful_passed_ratio=_mean(trial.outcome is Outcome.PASS for trial in harmful),
        first_ratio=_mean(trial.ranked[:1] == (trial.fault,) for trial in trials),
        top3_ratio=_mean(trial.fault in trial.ranked[:_TOP] for trial in trials),
        group_ratio=_mean(trial.fault in trial.group for trial in trials),
        group_size=_mean(len(trial.group) for trial in trials),
        alone=len(alone), alone_ratio=_mean(trial.fault in trial.group for trial in alone),
        stated=tuple(_stated(trials)), counted=len(counts),
        count_first_ratio=_mean(named[0] == true for named, true in counts),
        count_told_ratio=_mean(true in named for named, true in counts),
        counts_told=_mean(len(named) for named, _ in counts),
    )  # fmt: skip


def _with_good_run(setting: Setting, run: str) -> Setting:
    """Return another run of the same system, to be judged by the published one.

    From day to day all sizes move together, and each by the noise of its timing.
    """
    draw = random.Random(f"{SEED} {run} day")  # noqa: S311 - a study
    day = draw.gauss(0, math.log1p(NARROWEST) / SIGMAS)
    moved = _with_timings(setting, (
        replace(t, time_s=t.time_s * math.exp(day + draw.gauss(0, t.noise_ratio)))
        for t in setting.sweep.timings
    ))  # fmt: skip
    return replace(moved, baseline=baseline(setting.sweep, [(run, setting.sweep)]))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    fault: str
    outcome: Outcome
    ranked: tuple[str, ...]
    group: tuple[str, ...]
    stated: float
    harm_ratio: float
    suspect: bool
    counted: tuple[tuple[str, ...], str] | None = None
    """Counts that were told, and the true one."""


def _stated(trials: Sequence[_Trial]) -> Iterator[Stated]:
    for low, high in pairwise(STATED):
        own = [trial for trial in trials
               if low <= trial.stated < high or high == trial.stated == 1]  # fmt: skip
        if own:
            yield Stated(
                from_ratio=low, to_ratio=high, trials=len(own),
                stated_ratio=fmean(trial.stated for trial in own),
                right_ratio=fmean(trial.fault in trial.group for trial in own),
            )  # fmt: skip


def _fault(name: str, trials: Sequence[_Trial]) -> JudgedFault:
    own = [trial for trial in trials if trial.fault == name]
    outcomes = Counter(trial.outcome for trial in own)
    taken = Counter(trial.ranked[0] for trial in own if trial.ranked)
    return JudgedFault(
        fault=name, trials=len(own), failed=outcomes[Outcome.FAIL],
        inconclusive=outcomes[Outcome.INCONCLUSIVE], passed=outcomes[Outcome.PASS],
        first=taken[name], top3=sum(name in trial.ranked[:_TOP] for trial in own),
        group=sum(name in trial.group for trial in own),
        taken_for=tuple(taken.most_common()),
    )  # fmt: skip


def settings(
    data: Mapping[str, list[Row]],
) -> Iterator[tuple[Row, Setting | None, str]]:
    """Yield published runs with their sweep, as far as weft models them, and their site."""
    for run, points in rows.runs(data):
        case = rows.try_case(run)
        if case is None or len(points) < FEWEST_SIZES:
            yield run, None, ""
            continue
        timings = (
            Timing(size_bytes=p.size_bytes, time_s=p.time_s,
                   noise_ratio=noise.published(p.size_bytes))
            for p in sorted(points, key=lambda point: point.size_bytes)
        )  # fmt: skip
        sweep = Sweep(
            benchmark="nccl-tests", what="collective", operation=case.operation,
            timings=tuple(timings), ranks=case.group.ranks, host_count=case.group.domains,
        )  # fmt: skip
        setting = Setting(cluster=case.cluster, sweep=sweep, group=case.group)
        yield run, setting, case.site


def _judged(run: Row, setting: Setting, site: str) -> JudgedRun:
    points = expected(setting)
    outcome, _ = overall(judge_ranges(setting.sweep.timings, points))
    said = shape.explain(setting, points)
    return JudgedRun(
        run=run.get("run_id") or "", site=site, health=run.get("health") or "unknown",
        sizes=len(points), outcome=outcome, first=said[0].name,
        suspect=outcome is Outcome.PASS and shape.is_suspect(said),
    )  # fmt: skip


def _laid_over(setting: Setting, run: str) -> Iterator[_Trial]:
    """Judge a sweep with every fault laid over it, in a form that is drawn."""
    healthy = times_s(setting, setting.cluster, {})
    for name, fault in all_faults():
        draw = random.Random(f"{SEED} {run} {name}")  # noqa: S311 - a study
        form = _drawn(fault, setting, draw)
        cost = _cost(setting, form, healthy) if form else None
        if form and cost and max(cost) >= LEAST_HARM:
            yield _trial(name, form, setting, _off(setting, cost, draw))


def _drawn(fault: Fault, setting: Setting, draw: random.Random) -> Variant | None:
    """Return a form of a fault: one of those there are, or any amount."""
    forms = list(fault.variants(setting))
    if fault.amount is None or (forms and draw.random() < len(forms) / (len(forms) + 1)):
        return draw.choice(forms) if forms else None
    return fault.amount(setting, draw.random())


def _off(setting: Setting, cost: Sequence[float], draw: random.Random) -> list[float]:
    """Return costs that are off by one factor on their logarithm, which drifts with size."""
    whole, own, found, last = 1 + COST_ERROR * draw.gauss(0, 1), draw.gauss(0, 1), [], 0.0
    for timing, factor in zip(setting.sweep.timings, cost, strict=True):
        doublings = math.log2(timing.size_bytes)
        kept = math.exp(-abs(doublings - last) / SHAPE_DOUBLINGS)
        own = kept * own + math.sqrt(1 - kept**2) * draw.gauss(0, 1)
        found.append(factor ** (whole + SHAPE_ERROR * own))
        last = doublings
    return found


def _cost(setting: Setting, variant: Variant, healthy: Sequence[float]) -> list[float] | None:
    try:
        curve = times_s(setting, variant.cluster, variant.factors)
    except WeftError:
        return None
    found = [f / h for f, h in zip(curve, healthy, strict=True)]
    return found if all(map(math.isfinite, found)) else None


def _trial(name: str, form: Variant, setting: Setting, cost: Sequence[float]) -> _Trial:
    pairs = zip(setting.sweep.timings, cost, strict=True)
    faulty = _with_timings(
        setting, (replace(timing, time_s=timing.time_s * factor) for timing, factor in pairs)
    )
    timings, points = faulty.sweep.timings, expected(faulty)
    outcome, _ = overall(judge_ranges(timings, points))
    explained = shape.explain(faulty, points)
    found = _left(explained)
    group = shape.leading_group(found)
    return _Trial(
        fault=name, outcome=outcome, group=group,
        ranked=tuple(candidate.name for candidate in found if candidate.group),
        stated=sum(candidate.probability for candidate in found if candidate.name in group),
        suspect=outcome is Outcome.PASS and shape.is_suspect(explained),
        harm_ratio=_harm(timings, cost), counted=_counted(found, name, form),
    )  # fmt: skip


def _left(candidates: Sequence[shape.Candidate]) -> list[shape.Candidate]:
    """Return what is left where it is known that a fault is there."""
    left = [candidate for candidate in candidates if candidate.name != shape.HEALTHY]
    whole = sum(candidate.probability for candidate in left)
    return [replace(own, probability=own.probability / whole) for own in left]


def _counted(
    found: Sequence[shape.Candidate], name: str, form: Variant
) -> tuple[tuple[str, ...], str] | None:
    """Return the counts that a fault was said to have, the first first, and the true one."""
    said = next((candidate for candidate in found if candidate.name == name), None)
    if name != COUNTED or said is None:
        return None
    return tuple(label for label, _ in said.forms), form.label


def _harm(timings: Sequence[Timing], cost: Sequence[float]) -> float:
    """Return the mean slowdown, less one, of the range of sizes that is slowed most."""
    ranges: dict[str, list[float]] = {}
    for timing, factor in zip(timings, cost, strict=True):
        ranges.setdefault(bucket(timing.size_bytes), []).append(math.log(factor))
    return math.expm1(max(fmean(logs) for logs in ranges.values()))
