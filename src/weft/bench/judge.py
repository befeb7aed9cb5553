"""A measured sweep against what it should have been: the verdict, and what fits if it fails."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import truediv
from pathlib import Path
from typing import Final

from weft.bench import mpi, shape
from weft.bench.baseline import Baseline, baseline
from weft.bench.evidence import Told, named, told
from weft.bench.expected import (
    ONE_PAIR_FROM,
    Expected,
    Setting,
    as_good_runs,
    busbw,
    expected,
    group_of,
    times_s,
)
from weft.bench.fault import all_faults
from weft.bench.fault_forms import Variant
from weft.bench.good import good_runs
from weft.bench.infer import Inferred, as_logged, infer, variables
from weft.bench.next_check import Doubt, NextCheck, next_checks
from weft.bench.shape import Candidate
from weft.bench.supposed import Supposition, suppositions
from weft.bench.sweep import Sweep, read_sweep
from weft.bench.unseen import Unseen, unseen
from weft.bench.verdict import FALSE_FAIL_RATIO, Outcome, RangeVerdict, judge_ranges, overall
from weft.doctor.diagnose import diagnose
from weft.doctor.findings import Finding
from weft.inventory.inventory import Inventory
from weft.predict.provenance import provenance
from weft.results import Estimate, Provenance
from weft.spec.cluster import Cluster
from weft.units import show_rate

LEAST_PROBABILITY: Final = 0.01
"""A fault below this is not listed."""
_STEERS: Final = ("NCCL_ALGO", "NCCL_PROTO", "NCCL_IB_DISABLE", "NCCL_NVLS_ENABLE",
                  "NCCL_P2P_DISABLE", "NCCL_NET_GDR_LEVEL", "NCCL_MAX_NCHANNELS",
                  "NCCL_SHM_DISABLE", "NCCL_IB_HCA", "NCCL_NET_DISABLE_INTRA")  # fmt: skip
"""Variables that change the curve: told where the log shows them and the spec does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One size: measured beside expected. Rates are bus bandwidths for collectives."""

    size_bytes: float
    time_s: float
    noise_ratio: float
    expected_s: Estimate
    rate_bytes_per_s: float | None
    """None of a latency."""
    expected_rate_bytes_per_s: Estimate | None
    test: str = ""
    """Which table of messages it stood in, where the run holds several."""
    inside: bool
    """Whether the time lies inside the 80 % band."""
    limit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultCurve:
    """The best form of a fault, as bus bandwidth at the sizes of the sweep."""

    name: str
    form: str
    times_s: tuple[float, ...]
    rates_bytes_per_s: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a measured sweep is worth, and what is wrong where it is not what it should be."""

    outcome: Outcome
    benchmark: str
    operation: str
    """The collective, or the test of messages, as ``write bandwidth, mlx5_0``."""
    what: str
    """collective, bandwidth or latency."""
    ranks: int | None
    hosts: int | None
    ranges: tuple[RangeVerdict, ...]
    points: tuple[Judged, ...]
    candidates: tuple[Candidate, ...]
    """Explanations by probability: ``healthy`` too, where it is not settled that it is not."""
    suspect: bool = False
    """It passed, and has the curve of a fault all the same."""
    group: tuple[str, ...] = ()
    """The most probable faults, which this run cannot tell apart: one name is one fault."""
    next_checks: tuple[NextCheck, ...] = ()
    """What would tell them apart, that which tells most first."""
    told: tuple[str, ...] = ()
    """What other outputs say for a fault, or against one."""
    good: tuple[str, ...] = ()
    """Own runs that say what is expected; none: the model does."""
    curve: FaultCurve | None = None
    """Of the most probable fault, where the sweep did not pass."""
    findings: tuple[str, ...] = ()
    """What the doctor names in the output itself, as sockets where RDMA was meant."""
    said: tuple[str, ...] = ()
    """Remarks on the sweep."""
    assumed: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    """What the verdict hangs on and nothing says."""
    guessed: tuple[str, ...] = ()
    """What of the cluster no file describes: ``host``, ``network``."""
    supposed: Outcome | None = None
    """The verdict if all that is assumed is so, where it hangs on it."""
    suppositions: tuple[Supposition, ...] = ()
    """The verdict on each system that it may come from, where the output leaves it open."""
    unseen: tuple[Unseen, ...] = ()
    """Where it passed: the faults that it would have passed with."""
    noise_from: str
    false_fail_ratio: float = FALSE_FAIL_RATIO
    cluster: Cluster | None
    provenance: Provenance

    @property
    def fault(self) -> Candidate | None:
        """Return the most probable fault, where there is one."""
        return next((candidate for candidate in self.candidates if candidate.group), None)


def judge(
    files: Sequence[Path] | Path,
    cluster: Cluster | None = None,
    *,
    good: Sequence[str | Path] = (),
    history: str | None = None,
) -> Judgement:
    """Judge the sweep that some outputs hold against a cluster, or against what they tell.

    Beside the benchmark's own output the files may be the NCCL log of the same run. ``good``
    are own runs known to be sound: files, or numbers of runs in the history, as 3 or 3-9.
    """
    paths = [files] if isinstance(files, Path) else list(files)
    sweep, seen = read_sweep(paths)
    runs = [run for item in good for run in good_runs(str(item), sweep, history)]
    return judge_sweep(sweep, cluster, seen, good=runs, findings=diagnose(seen).findings)


def judge_sweep(
    sweep: Sweep,
    cluster: Cluster | None = None,
    seen: Inventory | None = None,
    *,
    good: Iterable[tuple[str, Sweep]] = (),
    findings: Sequence[Finding] = (),
) -> Judgement:
    """Judge a sweep that was read already; ``good`` are own sound runs by their name.

    ``findings`` are what the doctor finds in the same files.
    """
    seen, own = seen or Inventory(), baseline(sweep, good)
    found = as_logged(cluster, sweep, seen) if cluster is not None else infer(sweep, seen)
    if found.cluster is None:
        return _by_good_runs(sweep, own, found) if own else _nothing_known(sweep, found)
    setting = Setting(
        cluster=found.cluster, sweep=sweep, group=group_of(found.cluster, sweep),
        baseline=own,
    )  # fmt: skip
    if own is not None and cluster is None:
        # Good runs of the cluster itself leave nothing open of what it is.
        found = replace(found, unknown=())
    return _judged(setting, found, seen, findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Weighed:
    """The verdict on times alone, with what speaks against trusting it."""

    outcome: Outcome
    ranges: tuple[RangeVerdict, ...]
    remarks: tuple[str, ...]
    faster: tuple[str, ...]
    unknown: tuple[str, ...]
    supposed: Outcome | None
    """What it would be if what was supposed of the cluster is so."""


def _weighed(setting: Setting, found: Inferred, points: Sequence[Expected]) -> _Weighed:
    ranges = judge_ranges(setting.sweep.timings, points)
    by_model = setting.baseline is None
    ranges = mpi.allowed(setting.sweep, ranges) if by_model else ranges
    outcome, remarks = overall(ranges, needs_large=setting.sweep.what == "collective")
    fast = [
        verdict.name
        for verdict in ranges
        if verdict.slower_ratio < verdict.implausible_below_ratio
    ]
    measured = setting.baseline is not None or setting.cluster.overlay is not None
    unknown = (
        *found.unknown, *(_other_cluster(fast) if not measured else ()),
        *(mpi.unknown(setting.sweep, ranges) if by_model else ()), *_over_tcp(setting, outcome),
    )  # fmt: skip
    return _Weighed(
        outcome=Outcome.INCONCLUSIVE if unknown else outcome,
        ranges=tuple(ranges),
        remarks=tuple(remarks),
        faster=tuple(_faster(fast)) if measured else (),
        unknown=unknown,
        supposed=outcome if found.unknown and not (fast and not measured) else None,
    )


def _judged(
    setting: Setting, found: Inferred, seen: Inventory, findings: Sequence[Finding]
) -> Judgement:
    points = expected(setting)
    weighed = _weighed(setting, found, points)
    known = told(setting, seen, findings)
    explained = _explained(setting, weighed)
    candidates = _candidates(explained, known, weighed.outcome)
    best = next((candidate for candidate in candidates if candidate.group), None)
    suspect = weighed.outcome is Outcome.PASS and shape.is_suspect(candidates)
    sweep, passed = setting.sweep, weighed.outcome is Outcome.PASS and not suspect
    # Wrong results fail at any speed; of its speed they say nothing.
    outcome = Outcome.FAIL if _wrong(sweep) else weighed.outcome
    by_model = setting.baseline is None
    hides = outcome is Outcome.PASS and sweep.what == "collective"
    return Judgement(
        outcome=outcome, benchmark=sweep.benchmark, operation=_operation(sweep),
        what=sweep.what, ranks=setting.group.ranks, hosts=setting.group.domains,
        ranges=weighed.ranges, points=tuple(_points(_ranked(setting), points)),
        candidates=candidates,
        suspect=suspect, group=() if passed else shape.leading_group(candidates),
        told=known.lines,
        next_checks=() if passed else _next(explained, candidates, known.checked),
        curve=_curve(setting, best, points) if best and not passed else None,
        good=setting.baseline.names if setting.baseline else (),
        said=(*found.known, *weighed.faster, *sweep.remarks, *weighed.remarks,
              *_steered(setting, seen), *_said(setting)),
        findings=tuple(f"{finding.cause}: {finding.title}" for finding in named(findings)),
        assumed=found.assumed, unknown=weighed.unknown, guessed=found.guessed,
        supposed=weighed.supposed,
        suppositions=suppositions(sweep) if "network" in found.guessed and by_model else (),
        unseen=unseen(setting, points, known.logs) if hides else (),
        noise_from=_noise(sweep), cluster=setting.cluster,
        provenance=provenance(
            setting.cluster, sources=sweep.sources, assumptions=found.assumed
        ),
    )  # fmt: skip


def _explained(setting: Setting, weighed: _Weighed) -> Setting:
    """Return what faults are to explain: of a run that fails, what of it does."""
    failed = weighed.outcome is Outcome.FAIL
    explained = _in_question(setting, weighed.ranges) if failed else setting
    if setting.baseline is not None:
        return explained
    return replace(explained, sweep=mpi.explained(explained.sweep))


def _candidates(setting: Setting, known: Told, outcome: Outcome) -> tuple[Candidate, ...]:
    """Return what may have been; of a run that fails, faults alone."""
    if not setting.sweep.timings:
        return ()
    found = shape.explain(setting, evidence=known.logs, told=known.forms)
    return tuple(shape.among_faults(found) if outcome is Outcome.FAIL else found)


def _over_tcp(setting: Setting, outcome: Outcome) -> Iterator[str]:
    """Tell that TCP need not run over the NICs that a file describes for RDMA."""
    own = setting.sweep.timings[0].test
    tcp = own is not None and own.verb == "tcp"
    if tcp and outcome is not Outcome.PASS and setting.cluster.fabric.kind != "tcp":
        rate = show_rate(setting.cluster.host.nic_bytes_per_s)
        yield (
            f"whether TCP ran over the NICs of {rate} that the cluster file describes: ip "
            "route get ADDRESS names the interface (--set fabric.kind=tcp if it is one of them)"
        )


def _in_question(setting: Setting, ranges: Sequence[RangeVerdict]) -> Setting:
    """Return what is to be explained: of tables of adapters those that fail.

    A sound adapter beside a slow one says nothing of what slows that one. Of several
    collectives on the same ranks each says something.
    """
    failed = {verdict.test for verdict in ranges if verdict.outcome is Outcome.FAIL}
    sweep = setting.sweep
    if sweep.what == "collective" or "" in failed:
        return setting
    kept = tuple(t for t in sweep.timings if t.test is None or t.test.label in failed)
    return replace(setting, sweep=replace(sweep, timings=kept))


def _form(setting: Setting, one: Candidate) -> Variant:
    """Return the form of a fault that fits best."""
    fault = dict(all_faults())[one.name]
    return next(form for form in fault.forms(setting) if form.label == one.form)


def _curve(setting: Setting, best: Candidate, points: Sequence[Expected]) -> FaultCurve:
    form = _form(setting, best)
    slow = times_s(setting, form.cluster, form.factors)
    sound = times_s(setting, setting.cluster, {})
    times = tuple(p.time_s.value * f / s for p, f, s in zip(points, slow, sound, strict=True))
    return FaultCurve(
        name=best.name, form=best.form, times_s=times,
        rates_bytes_per_s=tuple(busbw(_ranked(setting), times)),
    )  # fmt: skip


def _next(
    setting: Setting, candidates: Sequence[Candidate], checked: frozenset[str]
) -> tuple[NextCheck, ...]:
    """Return the checks that tell the probable faults apart."""
    doubts = [
        Doubt(
            name=candidate.name,
            probability=candidate.probability,
            variant=_form(setting, candidate),
        )
        for candidate in candidates
        if candidate.group and candidate.probability >= LEAST_PROBABILITY
    ]
    return next_checks(setting, doubts, checked)


def _ranked(setting: Setting) -> Sweep:
    """Return the sweep with the ranks that are taken where its output names none."""
    return replace(setting.sweep, ranks=setting.group.ranks)


def _points(sweep: Sweep, points: Sequence[Expected]) -> list[Judged]:
    measured = busbw(sweep, [timing.time_s for timing in sweep.timings])
    found = []
    for timing, point, rate in zip(sweep.timings, points, measured, strict=True):
        factor = rate * timing.time_s
        latency = (timing.test.what if timing.test else sweep.what) == "latency"
        found.append(
            Judged(
                size_bytes=timing.size_bytes, time_s=timing.time_s,
                noise_ratio=timing.noise_ratio, expected_s=point.time_s,
                rate_bytes_per_s=None if latency else rate,
                expected_rate_bytes_per_s=(
                    None if latency else point.time_s.map(partial(truediv, factor))
                ),
                test=timing.test.label if timing.test and len(sweep.tests) > 1 else "",
                inside=point.time_s.low <= timing.time_s <= point.time_s.high,
                limit=point.limit,
            )
        )  # fmt: skip
    return found


def _other_cluster(fast: Sequence[str]) -> Iterator[str]:
    """Tell what is faster than the cluster can be: then it is not the one that was measured."""
    if fast:
        yield (
            f"which cluster this is: {' and '.join(fast)} sizes are faster than all but one "
            "healthy cluster in a hundred as described; compare NICs, their rate and GPUs"
        )


def _faster(fast: Sequence[str]) -> Iterator[str]:
    """Tell what is faster than the cluster's own measurements: then they were not its best."""
    if fast:
        yield (
            f"{' and '.join(fast)} sizes are faster than the own measurements that say what is "
            "expected: measure those again"
        )


def _operation(sweep: Sweep) -> str:
    return sweep.operation.value if sweep.what == "collective" else "; ".join(sweep.tests)


def _wrong(sweep: Sweep) -> int:
    return sum(timing.wrong for timing in sweep.timings)


def _said(setting: Setting) -> list[str]:
    sweep = setting.sweep
    said = []
    if _wrong(sweep):
        said.append(f"{_wrong(sweep)} results are wrong: whatever the speed, this run fails")
    if sweep.what == "collective" and sweep.ranks is None:
        said.append(f"the output names no ranks; all {setting.group.ranks} GPUs are taken")
    tests = [timing.test for timing in sweep.timings if timing.test]
    alone = any(
        test.what == "bandwidth" and test.queue_pairs == 1 and test.verb != "tcp"
        for test in tests
    )
    if alone and setting.cluster.host.nic_bytes_per_s >= ONE_PAIR_FROM:
        said.append("one queue pair may not fill a line of 400 Gb/s: run it with -q 8 as well")
    if any(test.verb == "tcp" and test.queue_pairs == 1 for test in tests):
        said.append("one TCP connection is served by one core: run it with -P 8 as well")
    return said


def _steered(setting: Setting, seen: Inventory) -> list[str]:
    """Tell the variables of the run that the spec does not have."""
    own = setting.cluster.nccl.env
    found = {
        name: value
        for name, value in variables(seen).items()
        if name in _STEERS and own.get(name) != value
    }
    return [f"the log has {name}={value}, the spec has not" for name, value in found.items()]


def _noise(sweep: Sweep) -> str:
    own = sum(timing.own_noise for timing in sweep.timings)
    if own == len(sweep.timings):
        return "the spread of the run's own iterations"
    published = "what published sweeps show between two timings of a size"
    sizes = "1 size" if own == 1 else f"{own} sizes"
    return f"{published}, and the run's own at {sizes}" if own else published


def _by_good_runs(sweep: Sweep, own: Baseline, found: Inferred) -> Judgement:
    """Judge by good runs alone: a verdict and no fault, whose curve takes a model."""
    both = [
        (timing, point)
        for timing, point in zip(sweep.timings, as_good_runs(sweep, own), strict=True)
        if point is not None
    ]
    timings, points = tuple(t for t, _ in both), [p for _, p in both]
    judged = replace(sweep, timings=timings)
    ranges = judge_ranges(timings, points)
    outcome, remarks = overall(ranges, needs_large=False)
    fast = [
        verdict.name
        for verdict in ranges
        if verdict.slower_ratio < verdict.implausible_below_ratio
    ]
    left = len(sweep.timings) - len(timings)
    sizes = "1 size was" if left == 1 else f"{left} sizes were"
    said = [f"{sizes} left out: no good run measured any near"] if left else []
    return Judgement(
        outcome=Outcome.FAIL if _wrong(sweep) else outcome, benchmark=sweep.benchmark,
        operation=_operation(sweep), what=sweep.what, ranks=sweep.ranks,
        hosts=sweep.host_count, ranges=tuple(ranges), points=tuple(_points(judged, points)),
        candidates=(), good=own.names, noise_from=_noise(sweep), cluster=None,
        said=(*_faster(fast), *said, *sweep.remarks, *remarks,
              "which fault it is takes a cluster file: cluster.yaml"),
        assumed=found.assumed, provenance=provenance(sources=sweep.sources, assumptions=()),
    )  # fmt: skip


def _nothing_known(sweep: Sweep, found: Inferred) -> Judgement:
    unknown = found.unknown
    return Judgement(
        outcome=Outcome.INCONCLUSIVE, benchmark=sweep.benchmark,
        operation=_operation(sweep), what=sweep.what, ranks=sweep.ranks,
        hosts=sweep.host_count, ranges=(), points=(), candidates=(), said=sweep.remarks,
        unknown=unknown, noise_from=_noise(sweep), cluster=None, guessed=("host", "network"),
        suppositions=suppositions(sweep),
        provenance=provenance(sources=sweep.sources, assumptions=()),
    )  # fmt: skip
