"""How often the judge is right: on healthy published sweeps, and on faults laid over them.

Healthy sweeps are judged with constants fitted without their site: a FAIL is a false one.
A fault is laid over a real sweep by multiplying each measured time by what the fault would
cost there (its curve over the healthy one), so that the noise and the error of the model are
those of real systems, not drawn from the judge's own law. What the fault costs is itself off
by COST_ERROR either way, for no real fault costs just what the model says.
"""

import math
import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from weft.accuracy import tables
from weft.accuracy.kind import Row
from weft.accuracy.rows import collective as rows
from weft.bench import noise, shape
from weft.bench.expected import Setting, expected, times_s
from weft.bench.fault import Variant, all_faults
from weft.bench.sweep import Sweep, Timing
from weft.bench.verdict import FALSE_FAIL_RATIO, Outcome, judge_ranges, overall
from weft.engines.analytic.collective import constants
from weft.errors import WeftError
from weft.predict.provenance import provenance
from weft.results import Provenance

FEWEST_SIZES: Final = 3
"""A run of fewer sizes has no shape."""
LEAST_HARM: Final = 1.25
"""A form of a fault that slows no size by this much is not laid over a sweep."""
COST_ERROR: Final = 0.2
"""Spread of log(cost) of a fault over what the model says: large predictions err as much."""
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
    taken_for: tuple[tuple[str, int], ...]
    """First among the faults, by how often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeScore:
    """The score of the judge."""

    healthy: int
    false_fails: int
    false_fail_ratio: float
    stated_ratio: float
    """What the judge allows itself."""
    healthy_inconclusive: int
    trials: int
    passed_ratio: float
    """Faults that were let through as PASS."""
    failed_ratio: float
    first_ratio: float
    top3_ratio: float
    faults: tuple[JudgedFault, ...]
    runs: tuple[JudgedRun, ...]
    broken: tuple[JudgedRun, ...]
    """Published sweeps of systems known or thought to be broken."""
    left_out: int
    provenance: Provenance


def score(folder: Path | None = None) -> JudgeScore:
    """Score the judge over a folder of published sweeps; without one over those shipped."""
    where = folder or tables.SHIPPED
    data = tables.read(where)
    runs: list[JudgedRun] = []
    broken: list[JudgedRun] = []
    trials: list[_Trial] = []
    left_out = 0
    for run, setting, site in _settings(data):
        if setting is None:
            left_out += 1
            continue
        sound = (run.get("health") or "") in rows.HEALTHY
        with constants.using(constants.without(site)):
            said = _judged(run, setting, site)
            (runs if sound else broken).append(said)
            if sound:
                trials += list(_laid_over(setting))
    return _score(runs, broken, trials, left_out)


def _score(
    runs: Sequence[JudgedRun],
    broken: Sequence[JudgedRun],
    trials: Sequence["_Trial"],
    left_out: int,
) -> JudgeScore:
    outcomes = Counter(one.outcome for one in runs)
    many = max(1, len(trials))
    return JudgeScore(
        healthy=len(runs), false_fails=outcomes[Outcome.FAIL],
        false_fail_ratio=outcomes[Outcome.FAIL] / max(1, len(runs)),
        stated_ratio=FALSE_FAIL_RATIO, healthy_inconclusive=outcomes[Outcome.INCONCLUSIVE],
        trials=len(trials),
        passed_ratio=sum(one.outcome is Outcome.PASS for one in trials) / many,
        failed_ratio=sum(one.outcome is Outcome.FAIL for one in trials) / many,
        first_ratio=sum(one.ranked[:1] == (one.fault,) for one in trials) / many,
        top3_ratio=sum(one.fault in one.ranked[:_TOP] for one in trials) / many,
        faults=tuple(_fault(name, trials) for name, _ in all_faults()), runs=tuple(runs),
        broken=tuple(broken), left_out=left_out,
        provenance=provenance(
            sources=("nccl_runs.csv, nccl_points.csv",),
            assumptions=("each sweep is judged by constants fitted without its site",),
        ),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trial:
    fault: str
    outcome: Outcome
    ranked: tuple[str, ...]


def _fault(name: str, trials: Sequence[_Trial]) -> JudgedFault:
    own = [one for one in trials if one.fault == name]
    outcomes = Counter(one.outcome for one in own)
    taken = Counter(one.ranked[0] for one in own if one.ranked)
    return JudgedFault(
        fault=name, trials=len(own), failed=outcomes[Outcome.FAIL],
        inconclusive=outcomes[Outcome.INCONCLUSIVE], passed=outcomes[Outcome.PASS],
        first=taken[name], top3=sum(name in one.ranked[:_TOP] for one in own),
        taken_for=tuple(taken.most_common()),
    )  # fmt: skip


def _settings(
    data: Mapping[str, list[Row]],
) -> Iterator[tuple[Row, Setting | None, str]]:
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
    return JudgedRun(
        run=run.get("run_id") or "", site=site, health=run.get("health") or "unknown",
        sizes=len(points), outcome=outcome, first=shape.explain(setting, points)[0].name,
    )  # fmt: skip


def _laid_over(setting: Setting) -> Iterator[_Trial]:
    """Judge a sweep with every fault laid over it, the form in the middle of its list."""
    sound = times_s(setting, setting.cluster, {})
    for name, fault in all_faults():
        forms = []
        for variant in fault.variants(setting):
            cost = _cost(setting, variant, sound)
            if cost and max(cost) >= LEAST_HARM:
                forms.append(cost)
        if forms:
            cost = forms[len(forms) // 2]
            draw = random.Random(f"{setting.cluster.name} {name}")  # noqa: S311 - a study
            off = 1 + COST_ERROR * draw.gauss(0, 1)
            yield _trial(name, setting, [factor**off for factor in cost])


def _cost(setting: Setting, variant: Variant, sound: Sequence[float]) -> list[float] | None:
    try:
        curve = times_s(setting, variant.cluster, variant.factors)
    except WeftError:
        return None
    found = [f / s for f, s in zip(curve, sound, strict=True)]
    return found if all(map(math.isfinite, found)) else None


def _trial(name: str, setting: Setting, cost: Sequence[float]) -> _Trial:
    timings = tuple(
        replace(one, time_s=one.time_s * factor)
        for one, factor in zip(setting.sweep.timings, cost, strict=True)
    )
    faulty = replace(setting, sweep=replace(setting.sweep, timings=timings))
    points = expected(faulty)
    outcome, _ = overall(judge_ranges(timings, points))
    ranked = [one.name for one in shape.explain(faulty, points) if one.curve_s]
    return _Trial(fault=name, outcome=outcome, ranked=tuple(ranked))
