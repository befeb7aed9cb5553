"""Search settings for the user's own scenarios, and say what each knob is worth."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import mean
from typing import Final

from weft.engines.packet.settings import options_of
from weft.errors import SpecError, UnknownName
from weft.predict.provenance import provenance, weft_version
from weft.predict.simulate import PACKET_EFFECTS
from weft.results import Estimate, Provenance
from weft.spec.load import load_tuning, tunings
from weft.spec.problems import nearest
from weft.spec.scenario import Scenario
from weft.spec.settings import NetworkSettings, Tuning, TuningRecord
from weft.tune.evaluate import Interrupted, Progress, Runner
from weft.tune.objective import OBJECTIVES, Objective, Over, Runs
from weft.tune.sample import Ground, Sample
from weft.tune.space import Space, Values, explicit, rate_of, space_of
from weft.tune.study import Study
from weft.tune.tuned import Contender, ObjectiveLine, Trial, Tuned, Worth

TRIALS: Final = 64
SEEDS: Final = 2
LEAST_CHECKS: Final = 3
USUAL: Final = ("time_ratio", "tail_ratio", "paused_ratio")
"""What settings are judged by unless the user says otherwise."""
ALIKE_RATIO: Final = 0.01
"""Two figures within a hundredth are as good: the next objective decides. A judgement, which
results tell; seeds differ by more, and nobody changes a fabric for less."""
HEADROOM: Final = (
    "who is paused obeys after the cable's time; what takes longer needs the headroom of weft "
    "plan"
)
SLACK: Final = 10.0
"""A run is stopped at so many times the time that the first settings took."""
START, BEST = "start", "best"

Report = Callable[[Progress], None]


@dataclass(slots=True, kw_only=True)
class _Search:
    """All that the stages of one search share."""

    scenarios: tuple[Scenario, ...]
    space: Space
    judged: Mapping[str, Objective]
    over: Over
    seeds: tuple[int, ...]
    checks: tuple[int, ...]
    runner: Runner
    bases: tuple[NetworkSettings, ...]
    """Settings of each scenario, everything filled in."""
    starts: dict[tuple[int, int], Sample] = field(default_factory=dict)

    def networks(self, values: Values) -> tuple[NetworkSettings, ...]:
        """Return the settings of each scenario with values entered; as written at the start."""
        if values == self.space.start:
            return self.bases
        return tuple(self.space.applied(base, values) for base in self.bases)

    def scores(self, runs: Runs) -> dict[str, Estimate]:
        """Judge runs by every objective."""
        return {n: o.score(runs, self.starts, self.over) for n, o in self.judged.items()}


@dataclass(slots=True, kw_only=True)
class _After:
    """What is found out about the best settings."""

    values: Values
    """Of the knobs; those that are worth nothing are back at the start."""
    contenders: list[Contender] = field(default_factory=list)
    worths: list[Worth] = field(default_factory=list)


def tune(
    scenarios: Sequence[Scenario],
    *,
    knobs: Sequence[str] = (),
    judged_by: Sequence[str] = (),
    over: str = "mean",
    trials: int = TRIALS,
    seeds: int = SEEDS,
    seed: int = 1,
    name: str = "tuned",
    study: Path | None = None,
    workers: int | None = None,
    report: Report | None = None,
    notes: Sequence[str] = (),
) -> Tuned:
    """Search the settings under which these scenarios do best; Ctrl-C gives the best so far.

    The result is the same for the same words, however many threads work on it; with a
    ``study`` file it can be interrupted and taken up again. ``notes`` say what the scenarios
    leave out.
    """
    _check_words(scenarios, over, seeds)
    checks = max(seeds, LEAST_CHECKS)
    search = _Search(
        scenarios=tuple(scenarios),
        space=space_of(scenarios, knobs),
        judged=_judged(scenarios, judged_by),
        over=Over(over),
        seeds=tuple(range(1, seeds + 1)),
        checks=tuple(range(seeds + 1, seeds + checks + 1)),
        runner=Runner(
            grounds=[Ground(scenario) for scenario in scenarios],
            limits_s=[scenario.until_s for scenario in scenarios],
            report=report,
            workers=workers,
        ),
        bases=tuple(explicit(scenario) for scenario in scenarios),
    )
    asks_of = _digest(search, seed)
    try:
        _start(search, trials)
        book = Study(
            search.space, search.judged, asks_of=asks_of, seed=seed, file=study,
            first=[search.space.start, *_shipped(search)],
        )  # fmt: skip
        interrupted = False
    except Interrupted:
        raise KeyboardInterrupt from None
    try:
        _try(search, book, trials)
    except (Interrupted, KeyboardInterrupt):  # in a run, or between two of them
        interrupted = True
    found = _trials(search, book)
    if not found:
        raise KeyboardInterrupt
    best = _best(found, search.judged)
    after = _After(values=best.values)
    if not interrupted:
        try:
            _compare(search, best, after)
        except (Interrupted, KeyboardInterrupt):
            interrupted = True
    return _result(search, found, best, after, name=name, asks_of=asks_of, study=study,
                   complete=not interrupted, notes=notes)  # fmt: skip


def _check_words(scenarios: Sequence[Scenario], over: str, seeds: int) -> None:
    if over not in set(Over):
        known = ", ".join(Over)
        raise UnknownName(f"runs do not become one figure by {over!r}; there are: {known}")
    rate_of(scenarios)
    if seeds < 1:
        raise SpecError(f"{seeds} seeds judge nothing; give 1 or more")


def _judged(scenarios: Sequence[Scenario], asked: Sequence[str]) -> dict[str, Objective]:
    """Return the objectives asked for, or the usual ones that have something to judge."""
    found = {text: _objective(text) for text in dict.fromkeys(asked or USUAL)}
    options = [options_of(scenario, scenario.seeds[0]) for scenario in scenarios]
    idle = [n for n, objective in found.items() if not any(map(objective.applies, options))]
    if asked and idle:
        raise SpecError(
            f"the objective {' and '.join(idle)} judges nothing here: no link is ever paused; "
            "leave it out"
        )
    return {name: objective for name, objective in found.items() if name not in idle}


def _objective(name: str) -> Objective:
    if name not in OBJECTIVES:
        raise UnknownName(f"no objective is called {name!r}; {nearest(name, OBJECTIVES)}")
    return OBJECTIVES[name]


def _digest(search: _Search, seed: int) -> str:
    """Return what the task is, so that a study file is not taken up with another."""
    digest = hashlib.sha256()
    for part in (*search.scenarios, *search.bases):
        digest.update(part.model_dump_json().encode())
    words = (*search.space.knobs, *search.judged, search.over, *search.seeds, seed)
    digest.update(" ".join(map(str, words)).encode())
    return digest.hexdigest()


def _start(search: _Search, trials: int) -> None:
    """Run the first settings on all seeds: everything else is judged beside them."""
    runner, each = search.runner, len(search.scenarios)
    every = (*search.seeds, *search.checks)
    afterwards = (2 + len(_rivals(search)) + len(search.space.knobs)) * len(search.checks)
    runner.runs = each * (len(every) + trials * len(search.seeds) + afterwards)
    for _, runs in runner.evaluate({0: search.bases}, every):
        search.starts = runs
    if not all(sample.ended for sample in search.starts.values()):
        unfinished = sorted({search.scenarios[p].name for (p, _), s in search.starts.items()
                             if not s.ended})  # fmt: skip
        raise SpecError(
            f"with its own settings {', '.join(unfinished)} does not end within until_s; give "
            "it less traffic or more time, so that there is something to compare with"
        )
    for place in range(each):
        took = max(s.end_s for (p, _), s in search.starts.items() if p == place)
        runner.limits_s[place] = min(search.scenarios[place].until_s, SLACK * took)


def _try(search: _Search, book: Study, trials: int) -> None:
    runner = search.runner
    runner.doing = "trials"
    runner.runs -= len(book.done) * len(search.seeds) * len(search.scenarios)
    while batch := book.ask(trials):
        asked = {number: search.networks(values) for number, values in batch}
        with closing(runner.evaluate(asked, search.seeds)) as judged:
            for number, runs in judged:
                scores = {name: score.value for name, score in search.scores(runs).items()}
                book.tell(number, scores)
        runner.best = _so_far(search, book)


def _so_far(search: _Search, book: Study) -> str:
    found = _trials(search, book)
    first = next(iter(search.judged))
    best = _best(found, search.judged)
    return f"best {search.judged[first].title} {best.scores[first]:.3f} of {len(found)} trials"


def _trials(search: _Search, book: Study) -> list[Trial]:
    done = sorted(book.done, key=lambda item: item[0])
    found = [Trial(number=n, values=v, scores=s, front=False) for n, v, s in done]
    return [
        replace(
            trial, front=not any(_dominates(other, trial, search.judged) for other in found)
        )
        for trial in found
    ]


def _dominates(one: Trial, other: Trial, judged: Mapping[str, Objective]) -> bool:
    """Say whether one is as good in everything and better in something."""
    worse = any(o.better(other.scores[n], one.scores[n]) for n, o in judged.items())
    better = any(o.better(one.scores[n], other.scores[n]) for n, o in judged.items())
    return better and not worse


def _best(trials: Sequence[Trial], judged: Mapping[str, Objective]) -> Trial:
    """Return the best in the first objective; of those as good the best in the next."""
    left = list(trials)
    for name, objective in judged.items():
        figures = [trial.scores[name] for trial in left]
        top = max(figures) if objective.more_is_better else min(figures)
        room = ALIKE_RATIO * abs(top)
        left = [trial for trial in left if abs(trial.scores[name] - top) <= room]
    return left[0]


def _rivals(search: _Search) -> dict[str, tuple[NetworkSettings, ...]]:
    """Return the shipped settings of the same fabric, laid over each scenario."""
    kind = search.scenarios[0].cluster.fabric.kind
    names = [n for n in tunings() if n == kind or n.startswith(f"{kind}_")]
    return {
        n: tuple(_laid(scenario.network, n) for scenario in search.scenarios) for n in names
    }


def _shipped(search: _Search) -> list[Values]:
    """Return the shipped settings as values of the knobs, where they have all of them."""
    found: list[Values] = []
    for networks in _rivals(search).values():
        scenario = search.scenarios[0].with_(network=networks[0])
        options = options_of(scenario, scenario.seeds[0])
        knobs = search.space.knobs
        if all(knob.applies(options) for knob in knobs.values()):
            values = {name: knob.tidy(knob.read(options)) for name, knob in knobs.items()}
            if values != search.space.start:
                found.append(values)
    return found


def _laid(network: NetworkSettings, name: str) -> NetworkSettings:
    """Lay shipped settings over those of a scenario; load balancing and links stay."""
    named = load_tuning(name).settings
    own = {key: getattr(named, key) for key in named.model_fields_set - {"balancing"}}
    shared, alpha = network.buffer.shared_bytes, network.buffer.alpha_ratio
    changed = network.with_(**{"at_bytes_per_s": None, "knobs": {}, **own})
    return changed.with_(buffer=changed.buffer.with_(shared_bytes=shared, alpha_ratio=alpha))


def _compare(search: _Search, best: Trial, after: _After) -> None:
    """Put each knob of the best back on new seeds, keep those worth something, and compare."""
    runner = search.runner
    start = search.space.start
    turned = [name for name, value in best.values.items() if value != start[name]]
    rivals = _rivals(search)
    each = len(search.checks) * len(search.scenarios)
    runner.doing = "each knob back to where it was"
    runner.runs = runner.done + each * (2 + len(rivals) + len(turned))
    back = {at: {**best.values, name: start[name]} for at, name in enumerate(turned, start=1)}
    asked = {
        0: search.networks(best.values),
        **{at: search.networks(v) for at, v in back.items()},
    }
    runs = dict(runner.evaluate(asked, search.checks))
    worths = [_worth(search, name, best, runs[0], runs[at])
              for at, name in enumerate(turned, start=1)]  # fmt: skip
    after.worths += sorted(worths, key=lambda w: (-next(iter(w.harm.values())).value, w.knob))
    runner.doing = "comparing with shipped settings"
    idle = {w.knob: start[w.knob] for w in worths if not w.kept}
    lean = {**best.values, **idle}
    asked = dict(enumerate((search.networks(lean), *rivals.values())))
    found = dict(runner.evaluate(asked, search.checks))
    whole, lighter = (_contender(search, BEST, row) for row in (runs[0], found[0]))
    if _as_good(search, lighter, whole):
        after.values = lean
    else:
        lighter = whole
        after.worths[:] = [replace(worth, kept=True) for worth in after.worths]
    first = {at: s for at, s in search.starts.items() if at[1] in search.checks}
    after.contenders += [lighter, _contender(search, START, first)]
    after.contenders += [
        _contender(search, n, found[at]) for at, n in enumerate(rivals, start=1)
    ]


def _as_good(search: _Search, one: Contender, other: Contender) -> bool:
    """Say whether settings are as good as others in every objective, within a hundredth."""
    for name, objective in search.judged.items():
        mine, theirs = one.scores[name].value, other.scores[name].value
        worse = theirs - mine if objective.more_is_better else mine - theirs
        if worse > ALIKE_RATIO * max(abs(theirs), ALIKE_RATIO):
            return False
    return True


def _contender(search: _Search, name: str, runs: Runs) -> Contender:
    places = range(len(search.scenarios))
    return Contender(
        name=name,
        scores=search.scores(runs),
        time_ratio=_objective("time_ratio").score(runs, search.starts, Over.MEAN),
        times_s=tuple(_time([s for (p, _), s in runs.items() if p == at]) for at in places),
        ended=all(sample.ended for sample in runs.values()),
        drops=sum(sample.drops for sample in runs.values()),
    )


def _time(samples: Sequence[Sample]) -> Estimate:
    """Return the middle and the range of the seeds."""
    found = sorted(mean(sample.times_s.values()) for sample in samples)
    return Estimate(found[len(found) // 2], found[0], found[-1])


def _worth(search: _Search, name: str, best: Trial, whole: Runs, without: Runs) -> Worth:
    knob = search.space.knobs[name]
    starts = search.starts
    changes = {
        objective: [item.of(without[at], starts[at]) - item.of(whole[at], starts[at])
                    for at in whole]
        for objective, item in search.judged.items()
    }  # fmt: skip
    first = next(iter(search.judged))
    sign = -1 if search.judged[first].more_is_better else 1
    scores = search.scores(whole)
    matters = any(
        abs(mean(c)) > ALIKE_RATIO * max(abs(scores[n].value), ALIKE_RATIO)
        for n, c in changes.items()
    )
    return Worth(
        knob=name,
        title=knob.title,
        place=knob.place.value,
        start=search.space.start[name],
        best=best.values[name],
        harm={n: Estimate(mean(c), min(c), max(c)) for n, c in changes.items()},
        sure=all(sign * value >= 0 for value in changes[first]) and any(changes[first]),
        kept=matters,
    )


def _result(
    search: _Search,
    trials: Sequence[Trial],
    best: Trial,
    after: _After,
    *,
    name: str,
    asks_of: str,
    study: Path | None,
    complete: bool,
    notes: Sequence[str],
) -> Tuned:
    lines = tuple(
        ObjectiveLine(name=n, title=o.title, meaning=o.meaning,
                      more_is_better=o.more_is_better, over=o.over or search.over)
        for n, o in search.judged.items()
    )  # fmt: skip
    record = _record(search, trials, after.contenders, asks_of)
    settings = search.networks(after.values)[0].with_(at_bytes_per_s=rate_of(search.scenarios))
    return Tuned(
        scenarios=search.scenarios,
        objectives=lines,
        seeds=search.seeds,
        check_seeds=search.checks,
        complete=complete,
        trials=tuple(trials),
        best=best.number,
        contenders=tuple(after.contenders),
        worths=tuple(after.worths),
        tuning=Tuning(name=name, settings=settings, record=record),
        study="" if study is None else str(study),
        provenance=_provenance(search, notes),
    )


def _record(
    search: _Search, trials: Sequence[Trial], contenders: Sequence[Contender], asks_of: str
) -> TuningRecord | None:
    """Return how the settings were found; none where nothing was checked on new seeds."""
    best = next((contender for contender in contenders if contender.name == BEST), None)
    if best is None:
        return None
    time = best.time_ratio
    return TuningRecord(
        weft=weft_version(),
        scenarios=tuple(scenario.name for scenario in search.scenarios),
        scenarios_sha256=asks_of,
        trials=len(trials),
        seeds=search.checks,
        against="the settings that it began from",
        gain_ratio=1 - time.value,
        gain_low_ratio=1 - time.high,
        gain_high_ratio=1 - time.low,
    )


def _provenance(search: _Search, notes: Sequence[str]) -> Provenance:
    assumptions = (
        *notes,
        *search.space.notes,
        HEADROOM,
        "settings suit the traffic that was simulated; other traffic may ask for others",
    )
    parts = [part for scenario in search.scenarios for part in (scenario.cluster, scenario)]
    made = provenance(*parts, sources=(), assumptions=assumptions)
    return replace(made, engine="packet", models=PACKET_EFFECTS, seed=search.seeds[0])
