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
from collections.abc import Iterator, Mapping, Sequence
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
    where = folder or tables.SHIPPED
    data = tables.read(where)
    seen = _Seen()
    for run, setting, site in settings(data):
        if setting is None:
            seen.left_out += 1
            continue
        sound = (run.get("health") or "") in rows.HEALTHY
        with constants.using(constants.without(site)):
            said = _judged(run, setting, site)
            (seen.runs if sound else seen.broken).append(said)
            if sound:
                good = _with_good_run(setting, said.run)
                seen.good.append(_outcome(good))
                seen.trials += _laid_over(setting, said.run)
                seen.good_trials += _laid_over(good, said.run)
                if _has_a_curve(setting):
                    seen.curves.append((said.run, site, setting, _errors(setting)))
    for place, (run_id, site, setting, _) in enumerate(seen.curves):
        with constants.using(constants.without(site)):
            others = [
                seen.curves[(place + step) % len(seen.curves)][3]
                for step in range(len(BESIDE) + 1)
            ]
            seen.three_trials += _laid_over(_with_beside(setting, others), run_id)
    return _score(seen)


def _has_a_curve(setting: Setting) -> bool:
    own = setting.sweep
    across = setting.group.domains > 1 and own.operation is Operation.ALL_REDUCE
    return across and len(own.timings) >= FEWEST_OF_A_CURVE


def _errors(setting: Setting) -> list[tuple[float, float]]:
    """Return doublings of each size, and log(measured / expected) there."""
    return [
        (math.log2(t.size_bytes), math.log(t.time_s / p.time_s.value))
        for t, p in zip(setting.sweep.timings, expected(setting), strict=True)
    ]


def _nearest(errors: Sequence[tuple[float, float]], size_bytes: float) -> float:
    """Return the error at the size that is nearest."""
    place = math.log2(size_bytes)
    return min(errors, key=lambda one: abs(one[0] - place))[1]


def _with_beside(setting: Setting, errors: Sequence[Sequence[tuple[float, float]]]) -> Setting:
    """Return a run of several collectives: its own sweep, and others with others' errors."""
    kinds = (setting.sweep.operation, *BESIDE)
    timings = tuple(
        replace(t, test=MessageTest(what="collective", operation=kind))
        for kind in kinds
        for t in setting.sweep.timings
    )
    several = replace(setting, sweep=replace(setting.sweep, timings=timings))
    off = [_nearest(own, t.size_bytes) for own in errors for t in setting.sweep.timings]
    made = tuple(
        replace(t, time_s=p.time_s.value * math.exp(error))
        for t, p, error in zip(timings, expected(several), off, strict=True)
    )
    return replace(several, sweep=replace(several.sweep, timings=made))


@dataclass(slots=True)
class _Seen:
    """What was judged so far."""

    runs: list[JudgedRun] = field(default_factory=list)
    broken: list[JudgedRun] = field(default_factory=list)
    trials: "list[_Trial]" = field(default_factory=list)
    good: list[Outcome] = field(default_factory=list)
    good_trials: "list[_Trial]" = field(default_factory=list)
    curves: list[tuple[str, str, Setting, list[tuple[float, float]]]] = field(
        default_factory=list
    )
    three_trials: "list[_Trial]" = field(default_factory=list)
    left_out: int = 0


def _score(seen: _Seen) -> JudgeScore:
    outcomes = Counter(one.outcome for one in seen.runs)
    return JudgeScore(
        healthy=len(seen.runs), false_fails=outcomes[Outcome.FAIL],
        false_fail_ratio=outcomes[Outcome.FAIL] / max(1, len(seen.runs)),
        stated_ratio=FALSE_FAIL_RATIO, healthy_inconclusive=outcomes[Outcome.INCONCLUSIVE],
        false_suspects=sum(one.suspect for one in seen.runs),
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


def _rates(trials: "Sequence[_Trial]") -> Rates:
    many = max(1, len(trials))
    passed = [one for one in trials if one.outcome is Outcome.PASS]
    harmful = [one for one in trials if one.harm_ratio > REAL_HARM]
    alone = [one for one in trials if len(one.group) == 1]
    counts = [one.counted for one in trials if one.counted]
    several = max(1, len(counts))
    return Rates(
        trials=len(trials),
        passed_ratio=len(passed) / many,
        suspect_ratio=sum(one.suspect for one in passed) / max(1, len(passed)),
        failed_ratio=sum(one.outcome is Outcome.FAIL for one in trials) / many,
        harmful=len(harmful),
        harmful_passed_ratio=sum(one.outcome is Outcome.PASS for one in harmful)
        / max(1, len(harmful)),
        first_ratio=sum(one.ranked[:1] == (one.fault,) for one in trials) / many,
        top3_ratio=sum(one.fault in one.ranked[:_TOP] for one in trials) / many,
        group_ratio=sum(one.fault in one.group for one in trials) / many,
        group_size=sum(len(one.group) for one in trials) / many,
        alone=len(alone),
        alone_ratio=sum(one.fault in one.group for one in alone) / max(1, len(alone)),
        stated=tuple(_stated(trials)), counted=len(counts),
        count_first_ratio=sum(said[0] == true for said, true in counts) / several,
        count_told_ratio=sum(true in said for said, true in counts) / several,
        counts_told=sum(len(said) for said, _ in counts) / several,
    )  # fmt: skip


def _with_good_run(setting: Setting, run: str) -> Setting:
    """Return another run of the same system, to be judged by the published one.

    From day to day all sizes move together, and each by the noise of its timing.
    """
    draw = random.Random(f"{SEED} {run} day")  # noqa: S311 - a study
    day = draw.gauss(0, math.log1p(NARROWEST) / SIGMAS)
    sweep = setting.sweep
    timings = tuple(
        replace(t, time_s=t.time_s * math.exp(day + draw.gauss(0, t.noise_ratio)))
        for t in sweep.timings
    )
    return replace(
        setting, sweep=replace(sweep, timings=timings), baseline=baseline(sweep, [(run, sweep)])
    )


def _outcome(setting: Setting) -> Outcome:
    points = expected(setting)
    return overall(judge_ranges(setting.sweep.timings, points))[0]


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
        own = [one for one in trials if low <= one.stated < high or high == one.stated == 1]
        if own:
            yield Stated(
                from_ratio=low, to_ratio=high, trials=len(own),
                stated_ratio=fmean(one.stated for one in own),
                right_ratio=fmean(one.fault in one.group for one in own),
            )  # fmt: skip


def _fault(name: str, trials: Sequence[_Trial]) -> JudgedFault:
    own = [one for one in trials if one.fault == name]
    outcomes = Counter(one.outcome for one in own)
    taken = Counter(one.ranked[0] for one in own if one.ranked)
    return JudgedFault(
        fault=name, trials=len(own), failed=outcomes[Outcome.FAIL],
        inconclusive=outcomes[Outcome.INCONCLUSIVE], passed=outcomes[Outcome.PASS],
        first=taken[name], top3=sum(name in one.ranked[:_TOP] for one in own),
        group=sum(name in one.group for one in own),
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
        sweep = Sweep(
            benchmark="nccl-tests", what="collective", operation=case.operation,
            timings=tuple(_timing(one) for one in sorted(points, key=lambda p: p.size_bytes)),
            ranks=case.group.ranks, host_count=case.group.domains,
        )  # fmt: skip
        setting = Setting(cluster=case.cluster, sweep=sweep, group=case.group)
        yield run, setting, case.site


def _timing(point: rows.Point) -> Timing:
    return Timing(
        size_bytes=point.size_bytes, time_s=point.time_s,
        noise_ratio=noise.published(point.size_bytes),
    )  # fmt: skip


def _judged(run: Row, setting: Setting, site: str) -> JudgedRun:
    points = expected(setting)
    outcome, _ = overall(judge_ranges(setting.sweep.timings, points))
    said = shape.explain(setting, points)
    return JudgedRun(
        run=run.get("run_id") or "", site=site, health=run.get("health") or "unknown",
        sizes=len(points), outcome=outcome, first=said[0].name,
        suspect=outcome is Outcome.PASS and shape.is_suspect(said),
    )  # fmt: skip


def _laid_over(setting: Setting, run: str) -> Iterator["_Trial"]:
    """Judge a sweep with every fault laid over it, in a form that is drawn."""
    sound = times_s(setting, setting.cluster, {})
    for name, fault in all_faults():
        draw = random.Random(f"{SEED} {run} {name}")  # noqa: S311 - a study
        form = _drawn(fault, setting, draw)
        cost = _cost(setting, form, sound) if form else None
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


def _cost(setting: Setting, variant: Variant, sound: Sequence[float]) -> list[float] | None:
    try:
        curve = times_s(setting, variant.cluster, variant.factors)
    except WeftError:
        return None
    found = [f / s for f, s in zip(curve, sound, strict=True)]
    return found if all(map(math.isfinite, found)) else None


def _trial(name: str, form: Variant, setting: Setting, cost: Sequence[float]) -> "_Trial":
    timings = tuple(
        replace(one, time_s=one.time_s * factor)
        for one, factor in zip(setting.sweep.timings, cost, strict=True)
    )
    faulty = replace(setting, sweep=replace(setting.sweep, timings=timings))
    points = expected(faulty)
    outcome, _ = overall(judge_ranges(timings, points))
    said = shape.explain(faulty, points)
    found = _left(said)
    group = shape.leading_group(found)
    by_share = sorted((one for one in found if one.group), key=lambda one: -one.probability)
    return _Trial(
        fault=name, outcome=outcome, ranked=tuple(one.name for one in by_share), group=group,
        stated=sum(one.probability for one in found if one.name in group),
        suspect=outcome is Outcome.PASS and shape.is_suspect(said),
        harm_ratio=_harm(timings, cost), counted=_counted(found, name, form),
    )  # fmt: skip


def _left(candidates: Sequence[shape.Candidate]) -> list[shape.Candidate]:
    """Return what is left where it is known that a fault is there."""
    left = [one for one in candidates if one.name != shape.HEALTHY]
    whole = sum(one.probability for one in left)
    return [replace(one, probability=one.probability / whole) for one in left]


def _counted(
    found: Sequence[shape.Candidate], name: str, form: Variant
) -> tuple[tuple[str, ...], str] | None:
    """Return the counts that a fault was said to have, the first first, and the true one."""
    said = next((one for one in found if one.name == name), None)
    if name != COUNTED or said is None:
        return None
    return tuple(label for label, _ in said.forms), form.label


def _harm(timings: Sequence[Timing], cost: Sequence[float]) -> float:
    """Return the mean slowdown, less one, of the range of sizes that is slowed most."""
    ranges: dict[str, list[float]] = {}
    for timing, factor in zip(timings, cost, strict=True):
        ranges.setdefault(bucket(timing.size_bytes), []).append(math.log(factor))
    return math.expm1(max(fmean(logs) for logs in ranges.values()))
