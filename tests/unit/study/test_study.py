"""A study: its points, what it keeps, and that no backend loses or counts a point twice."""

import csv
import json
import os
import signal

import pytest

from weft.errors import SpecError
from weft.predict.training import predict
from weft.spec.load import load_case, load_study
from weft.study import table
from weft.study.backend import BACKENDS
from weft.study.journal import fingerprint, journal_of
from weft.study.points import points
from weft.study.run import run_study
from weft.study.task import Task, flat

DOCUMENTS = """\
apiVersion: weft/v1
kind: Cluster
spec: {preset: dgx_h100, hosts: 4}
---
apiVersion: weft/v1
kind: Job
spec: {model: llama3_8b, global_batch: 128, sequence_length: 4096}
"""
STUDY = """\
apiVersion: weft/v1
kind: Study
spec:
  verb: %s
  documents: [case.yaml]
  keys:
    hosts: [2, 4, 8]
    fabric.kind: [infiniband, roce]
    fabric.load_ratio: {uniform: [0.1, 0.4]}
  samples: 2
  seed: 3
"""


@pytest.fixture
def study(tmp_path):
    (tmp_path / "case.yaml").write_text(DOCUMENTS)
    file = tmp_path / "study.yaml"
    file.write_text(STUDY % "predict")
    return file


def _rows(file):
    with file.open() as stream:
        return list(csv.DictReader(stream))


def test_a_study_has_every_combination_and_its_draws(study):
    found = list(points(load_study(study)[0]))
    assert [point.number for point in found] == list(range(12))
    values = [dict(point.values) for point in found]
    pairs = {(one["hosts"], one["fabric.kind"]) for one in values}
    assert len(pairs) == 6
    loads = {float(one["fabric.load_ratio"]) for one in values}
    assert len(loads) == 12
    assert all(0.1 <= load <= 0.4 for load in loads)


def test_the_same_seed_draws_the_same_and_another_differs(study):
    first = list(points(load_study(study)[0]))
    assert first == list(points(load_study(study)[0]))
    assert first != list(points(load_study(study, ["seed=4"])[0]))


@pytest.mark.parametrize(("kind", "middle"), [
    ("{uniform: [2, 4]}", 3.0),
    ("{loguniform: [1, 100]}", 10.0),
    ("{normal: [5, 1]}", 5.0),
    ("{lognormal: [7, 0.5]}", 7.0),
])  # fmt: skip
def test_half_of_the_draws_are_below_the_median(study, kind, middle):
    text = (STUDY % "predict").replace("{uniform: [0.1, 0.4]}", kind)
    study.write_text(text.replace("samples: 2", "samples: 400"))
    draws = [float(dict(p.values)["fabric.load_ratio"]) for p in points(load_study(study)[0])]
    below = sum(draw < middle for draw in draws) / len(draws)
    assert 0.46 < below < 0.54


def test_every_row_is_what_the_verb_gives(study, tmp_path):
    asked, documents = load_study(study)
    out = tmp_path / "rows.csv"
    result = run_study(asked, documents, out, workers=2)
    assert (result.done, result.failed, result.complete) == (12, {}, True)
    rows = _rows(out)
    assert [int(row["point"]) for row in rows] == list(range(12))
    row = rows[5]
    keys = ("hosts", "fabric.kind", "fabric.load_ratio")
    case = load_case([tmp_path / "case.yaml"], [f"{key}={row[key]}" for key in keys])
    expected = predict(*case)
    assert float(row["step_s"]) == expected.step_s.value
    assert float(row["step_s_high"]) == expected.step_s.high
    assert row["spec_sha256"] == expected.provenance.spec_sha256
    assert not journal_of(out).exists()


@pytest.mark.parametrize("verb", ["expect", "need", "compare"])
def test_every_verb_gives_measures(study, tmp_path, verb):
    study.write_text((STUDY % verb).replace("[2, 4, 8]", "[2]").replace("samples: 2", ""))
    asked, documents = load_study(study)
    found = run_study(asked, documents, tmp_path / "rows.csv", workers=1)
    assert (found.done, found.failed) == (2, {})
    row = _rows(tmp_path / "rows.csv")[0]
    named = {"expect": "peak_busbw_bytes_per_s", "need": "reached", "compare": "recommended"}
    assert row[named[verb]]


def test_a_point_that_cannot_run_keeps_its_reason(study, tmp_path):
    study.write_text((STUDY % "predict").replace("[2, 4, 8]", "[2, -1]"))
    asked, documents = load_study(study)
    found = run_study(asked, documents, tmp_path / "rows.csv", workers=1)
    assert found.done == found.points == 8
    assert sum(found.failed.values()) == 4
    assert all("hosts" in reason for reason in found.failed)


def test_a_run_that_ended_early_is_gone_on_with(study, tmp_path):
    asked, documents = load_study(study)
    out = tmp_path / "rows.csv"
    whole = run_study(asked, documents, out, workers=1)
    expected = out.read_text()
    rows = list(csv.DictReader(expected.splitlines()))
    told = json.dumps({"study": fingerprint(asked, documents)})
    kept = [
        {"number": n, "row": {"step_s": 1.0, "step_s_low": 1.0, "step_s_high": 1.0}}
        for n in (0, 7)
    ]
    cut = '{"number": 3, "row": {"step'
    lines = [told, *map(json.dumps, kept), json.dumps(kept[1]), cut]
    journal_of(out).write_text("\n".join(lines))
    again = run_study(asked, documents, out, workers=1)
    assert (again.taken_over, again.done) == (2, whole.done)
    after = _rows(out)
    assert [row["step_s"] for row in after if row["point"] in {"0", "7"}] == ["1.0", "1.0"]
    assert after[3]["step_s"] == rows[3]["step_s"]


def test_the_journal_of_another_study_is_refused(study, tmp_path):
    asked, documents = load_study(study)
    out = tmp_path / "rows.csv"
    journal_of(out).write_text(json.dumps({"study": "other"}) + "\n")
    with pytest.raises(SpecError, match="another study"):
        run_study(asked, documents, out)
    assert run_study(asked, documents, out, workers=1, fresh=True).complete


def test_parquet_and_csv_hold_the_same(study, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    asked, documents = load_study(study)
    for name in ("rows.csv", "rows.parquet"):
        run_study(asked, documents, tmp_path / name, workers=1)
    found = pandas.read_parquet(tmp_path / "rows.parquet")
    other = pandas.read_csv(tmp_path / "rows.csv")
    assert list(found.columns) == list(other.columns)
    assert (found.step_s == other.step_s).all()


@pytest.mark.parametrize(("change", "message"), [
    (("samples: 2", "samples: 2000000"), "points"),
    (("uniform: [0.1, 0.4]", "uniform: [0.4, 0.1]"), "least value below"),
    (("uniform: [0.1, 0.4]", "lognormal: [0, 1]"), "above 0"),
    (("uniform: [0.1, 0.4]", "normal: [0, -1]"), "0 or more"),
    (("uniform: [0.1, 0.4]", "unit: m"), "needs one of"),
    (("verb: predict", "verb: guess"), "verb"),
    (("case.yaml", "none.yaml"), "none.yaml"),
])  # fmt: skip
def test_a_study_that_cannot_be_is_refused(study, tmp_path, change, message):
    study.write_text((STUDY % "predict").replace(*change))
    with pytest.raises(Exception, match=message) as error:
        run_study(*load_study(study), tmp_path / "rows.csv")
    assert error.value.exit_status in {2, 3}
    assert not (tmp_path / "rows.csv").exists()


def test_a_table_of_another_form_is_refused(study, tmp_path):
    with pytest.raises(SpecError, match=r"\.csv or \.parquet"):
        table.check(tmp_path / "rows.xls")
    with pytest.raises(SpecError, match="--address"):
        run_study(*load_study(study), tmp_path / "rows.csv", address="tcp://head:1")


def _lethal(marker):
    """Return a task that kills its worker once, in the middle."""

    def task(point):
        if point.number == 40 and not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return {"number": float(point.number)}

    return task


@pytest.mark.parametrize("backend", [
    BACKENDS["joblib"],
    pytest.param(BACKENDS["dask"], marks=[pytest.mark.slow, pytest.mark.tool]),
    pytest.param(BACKENDS["ray"], marks=[pytest.mark.slow, pytest.mark.tool]),
], ids=["joblib", "dask", "ray"])  # fmt: skip
def test_a_lost_worker_loses_no_point_and_none_is_counted_twice(backend, study, tmp_path):
    pytest.importorskip(backend.needs)
    asked = load_study(study, ["samples=20"])[0]
    marker = tmp_path / "killed"
    found = list(backend.run(_lethal(marker), points(asked), 2, None))
    assert marker.exists()
    assert sorted(point.number for point, _ in found) == list(range(120))
    assert all(row == {"number": float(point.number)} for point, row in found)


def test_estimates_are_three_columns():
    assert flat({"reached": "yes", "x": 2.0}) == {"reached": "yes", "x": 2.0}


def test_a_task_says_why_a_point_has_nothing(study):
    asked, documents = load_study(study)
    task = Task(verb="predict", documents=documents, operation="", fidelity="analytic")
    first = next(points(asked))
    broken = type(first)(number=0, values=(("no.such.key", "1"),))
    assert "no" in str(task(broken)["reason"])
