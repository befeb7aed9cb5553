"""The search: the same on any number of threads, resumable, honest about what it found."""

import pytest

from weft.errors import SpecError, UnknownName
from weft.spec.load import load_tuning
from weft.spec.show import tuning_yaml
from weft.tune import evaluate
from weft.tune.objective import OBJECTIVES, Over
from weft.tune.sample import Sample
from weft.tune.search import _best, _dominates, tune
from weft.tune.study import Study
from weft.tune.tuned import Trial

FAIRNESS, TIME, WORST_TIME = (
    OBJECTIVES[name] for name in ("fairness_ratio", "time_ratio", "worst_time_ratio")
)

KNOBS = ("kmin_bytes", "minimum_rate_ratio")
FEW = {"knobs": KNOBS, "trials": 10, "seeds": 1}


def test_pauses_are_no_objective_where_nothing_pauses(scenario):
    lossy = {"preset": "roce_without_pfc"}
    found = tune([scenario(**lossy)], trials=2, seeds=1, knobs=["queue_limit_bytes"])
    assert [one.name for one in found.objectives] == ["time_ratio", "tail_ratio"]
    with pytest.raises(SpecError, match="paused_ratio judges nothing here"):
        tune([scenario(**lossy)], trials=2, judged_by=["paused_ratio"])


def test_any_number_of_threads_finds_the_same(scenario):
    one, four = (tune([scenario()], workers=n, **FEW) for n in (1, 4))
    assert one.trials == four.trials
    assert one.contenders == four.contenders
    assert one.tuning == four.tuning


def test_a_search_that_was_interrupted_goes_on_where_it_was(scenario, tmp_path, monkeypatch):
    whole = tune([scenario()], study=tmp_path / "whole.db", **FEW)
    before, original = [0], evaluate.Runner.tell

    def interrupt(self):
        if self.doing != "trials":
            before.append(self.done)
        elif self.done > before[-1] + 1:  # of the first eight trials two have ended, or more
            raise KeyboardInterrupt
        original(self)

    with monkeypatch.context() as patch:
        patch.setattr(evaluate.Runner, "tell", interrupt)
        cut = tune([scenario()], study=tmp_path / "cut.db", workers=1, **FEW)
    assert not cut.complete
    assert not cut.contenders
    assert 0 < len(cut.trials) < 10
    again = tune([scenario()], study=tmp_path / "cut.db", **FEW)
    assert again.complete
    assert [t.values for t in again.trials] == [t.values for t in whole.trials]
    assert again.tuning.settings == whole.tuning.settings


def test_an_interruption_between_two_runs_gives_the_best_so_far(scenario, monkeypatch):
    tell, calls = Study.tell, iter(range(9))

    def interrupt(self, number, scores):
        if next(calls) == 3:
            raise KeyboardInterrupt
        tell(self, number, scores)

    monkeypatch.setattr(Study, "tell", interrupt)
    found = tune([scenario()], workers=1, **FEW)
    assert not found.complete
    assert len(found.trials) == 3


def test_a_study_of_another_search_is_refused(scenario, tmp_path):
    tune([scenario()], study=tmp_path / "one.db", **{**FEW, "trials": 2})
    with pytest.raises(SpecError, match="holds a study of other scenarios"):
        tune([scenario()], study=tmp_path / "one.db", **{**FEW, "knobs": ("kmin_bytes",)})
    (tmp_path / "text.db").write_text("no database")
    with pytest.raises(SpecError, match=r"text\.db: is no study"):
        tune([scenario()], study=tmp_path / "text.db", **FEW)


def test_what_it_finds_is_no_worse_than_where_it_began_and_is_written(scenario, tmp_path):
    found = tune([scenario()], name="mine", **FEW)
    assert found.trials[0].values["minimum_rate_ratio"] == 0.0025, "the start is tried first"
    best, start = found.contenders[:2]
    assert best.time_ratio.value <= 1.0 == start.time_ratio.value
    assert {c.name for c in found.contenders} >= {"best", "start", "roce_tuned"}
    assert set(found.check_seeds).isdisjoint(found.seeds)
    file = tmp_path / "mine.yaml"
    file.write_text(tuning_yaml(found.tuning))
    assert load_tuning(file) == found.tuning
    assert found.tuning.record.gain_ratio == pytest.approx(1 - best.time_ratio.value)


def test_a_knob_that_is_worth_nothing_stays_as_it_was(scenario):
    """Nothing pauses here, so where pauses end is worth nothing."""
    asked = scenario(pfc={"xoff_bytes": "4MB", "xon_bytes": "3MB"})
    found = tune([asked], knobs=("xon_over_xoff_ratio", "minimum_rate_ratio"), trials=10,
                 seeds=1)  # fmt: skip
    idle = [one for one in found.worths if one.knob == "xon_over_xoff_ratio"]
    assert all(not one.kept and one.harm["time_ratio"].high == 0 for one in idle)
    assert found.tuning.settings.pfc.xon_bytes == pytest.approx(3e6, rel=0.01)


def test_a_scenario_that_never_ends_by_itself_is_refused(scenario):
    with pytest.raises(SpecError, match="small does not end within until_s"):
        tune([scenario().with_(until_s=1e-6)], **FEW)


def test_unknown_words_are_told_with_those_that_exist(scenario):
    with pytest.raises(UnknownName, match="did you mean 'tail_ratio'"):
        tune([scenario()], judged_by=["tail"], **FEW)
    with pytest.raises(UnknownName, match="mean, worst"):
        tune([scenario()], over="median", **FEW)


def _sample(time_s, fairness=1.0):
    return Sample(seed=1, times_s={"a": time_s}, tail_ratio=1.0, paused_ratio=0.0,
                  fairness_ratio=fairness, drops=0, ended=True, end_s=time_s)  # fmt: skip


def test_runs_become_one_figure_by_mean_or_by_the_worst():
    """Times 2 and 4 over 1: mean 3, worst 4; fairness is worst where it is least."""
    runs = {(0, 1): _sample(2.0, 0.5), (0, 2): _sample(4.0, 0.9)}
    starts = {(0, 1): _sample(1.0), (0, 2): _sample(1.0)}
    assert TIME.score(runs, starts, Over.MEAN).value == pytest.approx(3.0)
    assert TIME.score(runs, starts, Over.WORST).value == pytest.approx(4.0)
    assert WORST_TIME.score(runs, starts, Over.MEAN).value == pytest.approx(4.0)
    assert FAIRNESS.score(runs, starts, Over.WORST).value == 0.5


def test_the_first_objective_decides_and_the_next_where_it_is_alike():
    judged = {"time_ratio": TIME, "fairness_ratio": FAIRNESS}

    def trial(number, time, fairness):
        scores = {"time_ratio": time, "fairness_ratio": fairness}
        return Trial(number=number, values={}, scores=scores, front=False)

    slow, quick, fair = trial(0, 1.0, 1.0), trial(1, 0.5, 0.5), trial(2, 0.504, 0.9)
    assert _best([slow, quick, fair], judged) is fair
    assert _dominates(slow, trial(3, 1.0, 0.9), judged)
    assert not _dominates(slow, quick, judged)
