"""Every kind of result that the verbs give: its document, its pages, its charts."""

import json
import tempfile
from functools import cache
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from weft import api, plugins, report
from weft.bench.history import History, series
from weft.bench.load import simulated_load
from weft.bench.run import BenchRun
from weft.bench.sweep import Timing
from weft.errors import Infeasible
from weft.predict.grid import axis, grid
from weft.readers.trace import read_job
from weft.report import charts, frames, schema
from weft.report.charts.judged_sweep import judged_sweep
from weft.report.page import Drawing
from weft.report.plain import kind_of

from .conftest import an_expectation

INCAST = {
    "cluster": {"preset": "hgx_h100_roce", "hosts": 4},
    "traffic": [{"incast": {"senders": 3, "size_bytes": "1MiB"}}],
}
DOWN = Path(__file__).parents[2] / "samples" / "rules" / "link_degraded" / "fires"
RUN = Path(__file__).parents[2] / "samples" / "calibrate" / "two_hosts.txt"
DDP = DOWN.parents[2] / "traces" / "ddp"
JOB = DOWN.parents[2] / "lint" / "nccl_forced_algorithm" / "fires"

SLOW = Path(__file__).parents[3] / "examples" / "runs" / "all_reduce_h100_slow.txt"


@cache
def _case():
    cluster = api.preset("dgx_h100", hosts=8)
    job = api.load_job(
        {"model": "llama3_8b", "global_batch": 128, "parallelism": {"sharding": "zero1"}}
    )
    return cluster, job


def _service():
    cluster = api.preset("dgx_h200", hosts=4)
    service = api.load_inference(
        {"model": "deepseek_v3", "precision": "fp8", "sequences": 1024, "token_s": "1ms"}
    )
    return cluster, service


def _studied():
    """Two points of a study, whose table goes into a folder that is removed."""
    case = [
        {"apiVersion": "weft/v1", "kind": "Cluster",
         "spec": {"preset": "dgx_h100", "hosts": 8}},
        {"apiVersion": "weft/v1", "kind": "Job",
         "spec": {"model": "llama3_8b", "global_batch": 128}},
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "case.yaml").write_text(yaml.safe_dump_all(case))
        study = Path(folder) / "study.yaml"
        spec = {"verb": "predict", "documents": ["case.yaml"], "keys": {"hosts": [4, 8]}}
        study.write_text(
            yaml.safe_dump({"apiVersion": "weft/v1", "kind": "Study", "spec": spec})
        )
        return api.run_study(*api.load_study(study), Path(folder) / "rows.csv", workers=1)


def _small():
    """An incast over stock settings, which cut rates and are slow to raise them."""
    traffic = [{"incast": {"senders": 3, "size_bytes": "2MiB"}}]
    network = {"preset": "roce_default"}
    return api.load_scenario({**INCAST, "traffic": traffic, "network": network})


def _swept(*keys):
    """Three sizes, and networks where keys name them; the smallest cannot run."""

    def run(point):
        cluster = api.preset("dgx_h100", hosts=int(point["hosts"]))
        if cluster.hosts == 1:
            raise Infeasible("too small")
        found = api.predict(cluster, _case()[1])
        return "llama3_8b", {"step_s": found.step_s, "name": point["hosts"]}, found.provenance

    return grid("predict", [axis(one) for one in ("hosts=1,8,16", *keys)], run)


@cache
def _result(kind):
    make = {
        "expectation": an_expectation,
        "prediction": lambda: api.predict(*_case()),
        "service_comparison": lambda: api.compare_service(*_service()),
        "service_prediction": lambda: api.predict_service(*_service()),
        "scaling": lambda: api.scaling(*_case(), [16, 32, 64]),
        "grid": lambda: _swept("fabric.kind=roce,tcp"),
        "comparison": lambda: api.compare(*_case(), ["infiniband", "roce_tuned", "tcp"]),
        "claims": lambda: api.claims(*_case()),
        "what_if": lambda: api.whatif(*_case()),
        "replay": lambda: api.replay({"ddp": read_job([DDP])}, _case()[0]),
        "need": lambda: api.need(*_case()),
        "calibration": lambda: api.calibrate(_case()[0], [RUN]),
        "simulation": lambda: api.simulate(api.load_scenario(INCAST)),
        "sweep": lambda: api.sweep([api.load_scenario(INCAST), _small()]),
        "tuned": lambda: api.tune([_small()], knobs=["minimum_rate_ratio"], trials=4, seeds=1),
        "plan": lambda: api.plan(_case()[0]),
        "configuration": lambda: api.render(api.plan(_case()[0]), ["nccl", "opensm"]),
        "checklist": lambda: api.check([DOWN], _case()[0]),
        "runbooks": lambda: api.runbook(api.plan(_case()[0])),
        "diagnosis": lambda: api.diagnose([DOWN]),
        "linted": lambda: api.lint([JOB]),
        "drift": lambda: api.diff(_case()[0], [JOB]),
        "judgement": lambda: api.judge([SLOW], api.preset("dgx_h100", hosts=2)),
        "load_test": lambda: simulated_load(
            api.preset("hgx_h100_roce", hosts=2), 120e9, size_bytes=1 << 16
        ),
        "studied": _studied,
        "scoreboard": lambda: api.accuracy(None, ["topology"]),
    }
    return make[kind]()


CHARTS = {
    "calibration": [],
    "plan": [],
    "configuration": [],
    "checklist": [],
    "runbooks": [],
    "studied": [],
    "expectation": ["busbw_curve"],
    "prediction": ["step_breakdown"],
    "service_comparison": [],
    "service_prediction": [],
    "scaling": ["scaling_curve"],
    "grid": ["sweep_map"],
    "comparison": ["decision", "step_breakdown", "cost_bars", "break_even"],
    "claims": [],
    "what_if": [],
    "replay": [],
    "need": ["mfu_bandwidth"],
    "simulation": ["timeline", "queue", "slowdown"],
    "sweep": [],
    "tuned": ["front", "knobs"],
    "diagnosis": [],
    "linted": [],
    "drift": [],
    "judgement": ["judged_sweep", "busbw_curve"],
    "load_test": ["load_curve"],
    "scoreboard": ["topology"],
}
KINDS = tuple(CHARTS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_document_fits_its_schema_and_carries_provenance(kind):
    result = _result(kind)
    document = json.loads(report.show(result, "json"))
    Draft202012Validator(schema.schema(kind)).validate(document)
    assert document["kind"] == kind == kind_of(type(result))
    assert document["schemaVersion"] == "1"
    holder = document["points"][0]["prediction"] if kind == "scaling" else document
    assert holder["provenance"]["catalogue_sha256"]


PACKETS = {"simulation", "sweep", "tuned", "load_test"}


def result_engine(kind):
    if kind == "what_if":
        return "flow"
    return "packet" if kind in PACKETS else "analytic"


@pytest.mark.parametrize("kind", KINDS)
def test_text_and_markdown_say_every_title_and_name_the_engine(kind):
    result = _result(kind)
    page = report.view_of(type(result)).page(result)
    for form in ("text", "md"):
        shown = report.show(result, form, width=120)
        assert f"{result_engine(kind)} engine" in " ".join(shown.split())
    shown = report.show(result, "md")
    assert page.title in shown
    for block in page.blocks:
        if block not in page.drawings and getattr(block, "lines", ("some",)):
            assert block.title in shown


@pytest.mark.parametrize("kind", KINDS)
def test_lines_of_prose_stay_narrow(kind):
    """Tables of numbers may be wide; titles and sentences may not."""
    shown = report.show(_result(kind), "text", width=80)
    prose = [line for line in shown.splitlines() if line.startswith(("- ", "  - "))]
    assert all(len(line) <= 80 for line in prose)


@pytest.mark.parametrize("kind", KINDS)
def test_the_charts_of_each_kind_are_there(kind):
    result = _result(kind)
    drawings = report.view_of(type(result)).page(result).drawings
    assert [drawing.name or drawing.chart for drawing in drawings] == CHARTS[kind]


@pytest.mark.parametrize(
    ("kind", "chart"), [(kind, chart) for kind, charts in CHARTS.items() for chart in charts]
)
def test_a_chart_is_drawn_with_its_axes_labelled(kind, chart):
    svg = report.picture(_result(kind), chart, "svg").decode()
    assert svg.startswith("<svg")
    labels = {
        "busbw_curve": ("busbw, GB/s", "message size"),
        "judged_sweep": ("measured over expected time", "message size", "80 % band"),
        "load_curve": ("times the projected peak", "delivered", "offered"),
        "decision": ("USD per 1T tokens", "seconds per step", "recommended"),
        "step_breakdown": ("seconds per step", "compute"),
        "scaling_curve": ("tokens/s", "MFU, %", "GPUs"),
        "cost_bars": ("USD over", "switches"),
        "break_even": ("change of the cost", "changes the recommendation"),
        "mfu_bandwidth": ("MFU, %", "Gb/s", "knee", "today"),
        "topology": ("measured", "predicted"),
        "sweep_map": ("hosts", "fabric.kind", "step time, s"),
        "timeline": ("time, us", "host1.nic0 to host0.nic0"),
        "queue": ("queue, MB", "received, Tb/s", "leaf0 to host0.nic0"),
        "front": ("time of the traffic over that", "99th of 100 flows", "roce_tuned", "best"),
        "knobs": ("time lost when the knob alone goes back, %",),
        "slowdown": ("time of a flow over its time alone", "p99.9"),
    }
    for label in labels[chart]:
        assert label in svg


def test_a_png_is_a_png(expectation):
    assert report.picture(expectation, None, "png").startswith(b"\x89PNG")


def _kept():
    """A history of two runs: a listing, which no verb makes."""
    run = BenchRun(
        tool="nccl-tests", operation="all_reduce", launcher="mpirun", hosts=("a", "b"),
        ranks=16, ranks_per_host=8, versions=(), options=(), began="2026-11-21T10:00:00Z",
        timings=(Timing(size_bytes=2.0**30, time_s=1.0, noise_ratio=0.01),),
        what="collective", commands=(), output="",
    )  # fmt: skip
    return History(url="sqlite:///h", runs=2, series=(series([run, run]),))


def test_every_chart_is_used_by_a_view():
    results = [*(_result(kind) for kind in KINDS), _kept(), _swept()]
    pages = [report.view_of(type(one)).page(one) for one in results]
    used = {drawing.chart for page in pages for drawing in page.drawings}
    assert used == set(plugins.names(charts))


def test_every_kind_of_result_of_the_verbs_is_tried_here():
    """Listings of the catalogue and the like have tests of their own."""
    assert {k for k, v in schema.kinds().items() if v in api.VERBS.values()} == set(KINDS)


def test_a_frame_has_a_row_for_each_point_and_inside_numbers(expectation):
    frame = frames.to_frame(expectation)
    assert len(frame) == len(expectation.points)
    assert frame["time_s.value"].iloc[0] == expectation.points[0].time_s.value
    assert frame["busbw_bytes_per_s"].iloc[-1] == expectation.points[-1].busbw_bytes_per_s


def test_a_frame_of_one_prediction_is_one_row():
    assert len(frames.to_frame(_result("prediction"))) >= 1


def test_without_pandas_the_message_says_what_to_install(expectation, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(frames.NoPandas, match=r"weft\[frames\]"):
        frames.to_frame(expectation)


def test_a_notebook_shows_the_report_without_its_frame(expectation):
    shown = frames.repr_html(expectation)
    assert shown.startswith("<main>")
    assert "<html" not in shown
    assert "<svg" in shown


def test_a_lone_size_is_drawn_as_points_on_a_bar_that_can_be_seen():
    rows = [{"size_bytes": 65536, "test": name, "ratio": 1.1, "low": 1.0, "high": 1.4}
            for name in ("write bandwidth, mlx5_0", "write bandwidth, mlx5_1")]  # fmt: skip
    drawing = Drawing(chart="judged_sweep", title="t", rows=tuple(rows), marks={})
    picture = judged_sweep(drawing).to_dict()
    assert picture["layer"][0]["mark"]["type"] == "rule"
    x = picture["layer"][0]["encoding"]["x"]
    assert x["scale"]["domain"] == [32768, 131072]
    assert x["axis"]["values"] == [65536]
