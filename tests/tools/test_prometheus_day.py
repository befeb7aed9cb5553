"""A day of metrics of a busy, healthy fabric: no alert fires; with one fault in it, one does.

promtool evaluates the rules as they are rendered, minute by minute over the emulated day, and a
real Prometheus takes the file that `weft emulate --metrics` writes.
"""

import json
import shutil
import subprocess
from collections import defaultdict

import pytest

from weft.cli import app
from weft.emulate.bundle import emulate
from weft.emulate.metrics import Timeline
from weft.emulate.ordinary import ordinary
from weft.generate.plan import plan
from weft.generate.target import render
from weft.spec.load import preset

MADE = {"roce": plan(preset("hgx_h100_roce", hosts=64)),
        "infiniband": plan(preset("dgx_h100", hosts=64))}  # fmt: skip
MINUTES = 24 * 60
FIRED = 'count by (alertname) (max_over_time(ALERTS{alertstate="firing"}[24h]))'
FAULT_S = 20 * 3600
pytestmark = [
    pytest.mark.tool,
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("promtool") is None,
        reason="promtool is not installed; run scripts/tools.sh",
    ),
]


def _series(made, words):
    sound = emulate(made, (), hosts=2, seed=1)
    faulty = emulate(made, words, hosts=2, seed=1)
    timeline = Timeline(healthy=sound, faulty=faulty, at_s=FAULT_S, events=ordinary())
    values = defaultdict(list)
    for minute in range(MINUTES + 1):
        for number, host in enumerate(sound.hosts):
            for line in timeline.metrics_text(number, 60 * minute).splitlines():
                name, _, value = line.rpartition(" ")
                values[name.replace("{", f'{{instance="{host.name}",', 1)].append(value)
    up = {
        f'up{{instance="{one.name}",job="node"}}': ["1"] * (MINUTES + 1) for one in sound.hosts
    }
    return {name: " ".join(told) for name, told in (values | up).items()}


def _fired(folder, made, words):
    """Return the alerts that fired at any minute of the day."""
    texts = {one.path: one.text for one in render(made, ["prometheus"]).files}
    (folder / "weft.rules.yml").write_text(texts["prometheus/weft.rules.yml"])
    document = {
        "rule_files": ["weft.rules.yml"],
        "evaluation_interval": "1m",
        "tests": [{
            "interval": "1m",
            "input_series": [{"series": name, "values": told}
                             for name, told in _series(made, words).items()],
            "promql_expr_test": [{
                "expr": FIRED,
                "eval_time": "24h", "exp_samples": [],
            }],
        }],
    }  # fmt: skip
    (folder / "day.test.yml").write_text(json.dumps(document))
    done = subprocess.run(["promtool", "test", "rules", "day.test.yml"], cwd=folder,
                          capture_output=True, text=True, check=False)  # fmt: skip
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("kind", MADE)
def test_a_healthy_day_raises_no_alert(kind, tmp_path):
    code, said = _fired(tmp_path, MADE[kind], ())
    assert code == 0, said[-2000:]


def test_the_same_day_with_a_fault_raises_its_alert(tmp_path):
    code, said = _fired(tmp_path, MADE["roce"], ("pause-storm",))
    assert code == 1
    assert "WeftPauseStorm" in said


def test_prometheus_takes_the_history_that_emulate_writes(tmp_path):
    words = ["emulate", "--preset", "hgx_h100_roce", "--hosts", "64", "--fault", "pause-storm",
             "--for", "3h", "--at", "2h", "--every", "60s"]  # fmt: skip
    assert app.run([*words, "--metrics", str(tmp_path / "day.prom"),
                    "--out", str(tmp_path / "bundle")]) == 0  # fmt: skip
    done = subprocess.run(
        ["promtool", "tsdb", "create-blocks-from", "openmetrics", "day.prom", "data"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "data").glob("*/meta.json"))


def test_no_two_events_stop_one_counter_at_the_same_time():
    for one in ordinary():
        for other in ordinary():
            if one is not other and {*one.stops} & {*other.stops}:
                both = [
                    s for s in range(0, 7 * 86400, 5) if one.lasts(0, s) and other.lasts(0, s)
                ]
                assert not both, (one.event, other.event)


def test_counters_of_a_busy_day_never_fall():
    series = _series(MADE["roce"], ())
    names = ("node_ethtool_", "rdma_", "node_infiniband_port_data")
    counters = [told for name, told in series.items() if name.startswith(names)]
    assert len(counters) > 50
    for told in counters:
        numbers = list(map(float, told.split()))
        assert numbers == sorted(numbers)
