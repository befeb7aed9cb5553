"""`weft report week` of a real Prometheus that holds an emulated day with two faults."""

import json
import shutil
import socket
import subprocess
import time
import urllib.request
from contextlib import contextmanager

import pytest
import yaml

from weft.cli import app
from weft.emulate.bundle import FIRST_S
from weft.generate.plan import plan
from weft.generate.target import render
from weft.spec.load import preset

HOURS = 12
WORDS = ["--preset", "hgx_h100_roce", "--hosts", "64"]
END = time.strftime("%Y-%m-%dT%H:%MZ", time.gmtime(FIRST_S + HOURS * 3600))
pytestmark = [
    pytest.mark.tool,
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(map(shutil.which, ("prometheus", "promtool"))),
        reason="prometheus or promtool is not installed; run scripts/tools.sh",
    ),
]


def _free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@contextmanager
def _prometheus(folder):
    """Serve the blocks of a folder."""
    (folder / "prometheus.yml").write_text("{}")
    address = f"http://127.0.0.1:{_free_port()}"
    with (folder / "prometheus.log").open("w") as log:
        process = subprocess.Popen(
            ["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=data",
             "--storage.tsdb.retention.time=100y",
             f"--web.listen-address={address.removeprefix('http://')}"],
            cwd=folder, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            _until_ready(address)
            yield address
        finally:
            process.terminate()
            process.wait(timeout=20)


def _until_ready(address):
    for _ in range(100):
        try:
            urllib.request.urlopen(f"{address}/-/ready", timeout=5).close()  # noqa: S310 - own
        except OSError:
            time.sleep(0.1)
        else:
            return


def _backfilled(folder, rules):
    """Evaluate recording rules over the whole time, as if they had been loaded."""
    (folder / "backfill.yml").write_text(yaml.safe_dump({"groups": [
        {"name": "backfill", "interval": "2m", "rules": rules}]}))  # fmt: skip
    with _prometheus(folder) as address:
        subprocess.run(
            ["promtool", "tsdb", "create-blocks-from", "rules", f"--start={FIRST_S}",
             f"--end={FIRST_S + HOURS * 3600}", "--output-dir=data", f"--url={address}",
             "backfill.yml"], cwd=folder, check=True, capture_output=True,
        )  # fmt: skip


def _history(folder, *faults):
    """Put an emulated time into blocks: exporters, then recorded series, then alerts."""
    texts = {one.path: one.text for one in render(
        plan(preset("hgx_h100_roce", hosts=64)), ["prometheus"]).files}  # fmt: skip
    groups = yaml.safe_load(texts["prometheus/weft.rules.yml"])["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    places = ["--metrics", str(folder / "day.prom"), "--out", str(folder / "bundle")]
    times = ["--for", f"{HOURS}h", "--every", "120s"]
    assert app.run(["emulate", *WORDS, *faults, *times, *places]) == 0
    subprocess.run(
        ["promtool", "tsdb", "create-blocks-from", "openmetrics", "day.prom", "data"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    recorded = [one for one in rules if "record" in one and "collective" not in one["record"]]
    _backfilled(folder, recorded)
    _backfilled(folder, [
        {"record": "ALERTS", "expr": one["expr"],
         "labels": {**one["labels"], "alertname": one["alert"], "alertstate": "firing"}}
        for one in rules if "alert" in one and "collective" not in one["expr"]
    ])  # fmt: skip


def _report(address, capsys, *more):
    words = ["report", "week", *WORDS, "--model", "llama3_70b", "--prometheus", address,
             "--for", f"{HOURS}h", "--until", END, *more]  # fmt: skip
    capsys.readouterr()
    assert app.run(words) == 0
    return capsys.readouterr().out


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    folder = tmp_path_factory.mktemp("week")
    _history(folder, "--fault", "pause-storm", "--fault", "gpu-ecc", "--at", "6h",
             "--until", "8h")  # fmt: skip
    with _prometheus(folder) as address:
        yield address


def test_each_fault_is_priced_for_the_time_that_it_lasted(faulty, capsys):
    told = json.loads(_report(faulty, capsys, "-o", "json"))
    losses = {one["alert"]: one for one in told["losses"]}
    storm, ecc = losses["WeftPauseStorm"], losses["WeftXidMemory"]
    assert storm["episodes"] == ecc["episodes"] == 1
    assert storm["lasted_s"] == pytest.approx(2 * 3600, rel=0.1)
    ratio = storm["lost_s"]["value"] / storm["lasted_s"]
    assert 0 < ratio < 0.5
    assert ecc["lost_s"]["value"] > 600
    assert told["usd"]["value"] == pytest.approx(sum(
        one["usd"]["value"] for one in losses.values() if one["usd"]))  # fmt: skip
    lost_s = sum(one["lost_s"]["value"] for one in losses.values() if one["lost_s"])
    assert told["goodput_ratio"]["value"] == pytest.approx(1 - lost_s / (HOURS * 3600))
    assert 0.8 < told["busy_ratio"] <= 1


def test_the_first_screen_names_alert_place_and_cost(faulty, capsys):
    said = _report(faulty, capsys)
    assert len(said.splitlines()) <= 24
    assert "WeftPauseStorm" in said
    assert "goodput" in said
    assert "$" in said


def test_a_healthy_time_costs_nothing(tmp_path, capsys):
    _history(tmp_path)
    with _prometheus(tmp_path) as address:
        told = json.loads(_report(address, capsys, "-o", "json"))
    assert told["losses"] == []
    assert told["usd"]["value"] == 0
    assert told["goodput_ratio"]["value"] == 1
