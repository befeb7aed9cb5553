"""No text stops the judge but with an error of ours, and noise never makes a run better."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from weft.bench.expected import Setting, expected, group_of
from weft.bench.judge import judge, judge_sweep
from weft.bench.sweep import Sweep, Timing
from weft.bench.verdict import Outcome
from weft.errors import WeftError
from weft.spec.load import preset
from weft.traffic.collective import Operation

RUN = (Path(__file__).parents[2] / "examples" / "runs" / "all_reduce_h100.txt").read_text()
ODD = st.sampled_from(
    ["", "nan", "inf", "-1", "0", "1e400", "9" * 400, "\x00", "#", "é", "N/A"]
)


@settings(
    max_examples=40, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(
    changes=st.lists(st.tuples(st.integers(0, 600), ODD), max_size=12),
    cut=st.integers(0, len(RUN)),
)
def test_a_damaged_run_is_judged_or_refused_and_never_breaks(tmp_path, changes, cut):
    words = RUN[:cut].split(" ")
    for place, odd in changes:
        if words:
            words[place % len(words)] = odd
    file = tmp_path / "all_reduce.txt"
    file.write_text(" ".join(words), "utf-8")
    for cluster in (None, preset("dgx_h100", hosts=2)):
        try:
            found = judge(file, cluster)
        except WeftError:
            continue
        assert found.outcome in set(Outcome)


@pytest.fixture(scope="module")
def sound():
    cluster = preset("hgx_h100_roce", hosts=2)
    sizes = [2**power for power in range(12, 34, 3)]
    sweep = Sweep(
        benchmark="x", what="collective", operation=Operation.ALL_REDUCE, ranks=16,
        host_count=2,
        timings=tuple(Timing(size_bytes=s, time_s=1.0, noise_ratio=0.01) for s in sizes),
    )  # fmt: skip
    points = expected(Setting(cluster=cluster, sweep=sweep, group=group_of(cluster, sweep)))
    return cluster, replace(
        sweep,
        timings=tuple(
            replace(t, time_s=p.time_s.value)
            for t, p in zip(sweep.timings, points, strict=True)
        ),
    )


ORDER = [Outcome.PASS, Outcome.INCONCLUSIVE, Outcome.FAIL]


@settings(max_examples=25, deadline=None)
@given(factor=st.floats(0.8, 10), more=st.floats(1.0, 3.0))
def test_a_slower_run_is_never_judged_better(sound, factor, more):
    cluster, sweep = sound

    def outcome(ratio):
        timings = tuple(replace(t, time_s=t.time_s * ratio) for t in sweep.timings)
        return judge_sweep(replace(sweep, timings=timings), cluster).outcome

    assert ORDER.index(outcome(factor)) <= ORDER.index(outcome(factor * more))


@settings(max_examples=25, deadline=None)
@given(factor=st.floats(0.8, 10), noise=st.floats(0.02, 0.5))
def test_more_noise_decides_no_more(sound, factor, noise):
    cluster, sweep = sound

    def outcome(ratio):
        timings = tuple(
            replace(t, time_s=t.time_s * factor, noise_ratio=ratio) for t in sweep.timings
        )
        return judge_sweep(replace(sweep, timings=timings), cluster).outcome

    quiet, noisy = outcome(0.01), outcome(noise)
    assert noisy in (quiet, Outcome.INCONCLUSIVE)
