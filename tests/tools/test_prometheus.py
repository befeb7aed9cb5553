"""Prometheus reads the rules that are rendered, and every alert fires on its fault alone."""

import shutil
import subprocess
from functools import cache

import pytest

from weft.generate.alert import alerts
from weft.generate.plan import plan
from weft.generate.target import render
from weft.spec.load import preset

CLUSTERS = {
    "roce": lambda: preset("hgx_h100_roce", hosts=16),
    "infiniband": lambda: preset("dgx_h100", hosts=16),
    "efa": lambda: preset("aws_p5", hosts=16),
    "one host": lambda: preset("dgx_h100", hosts=1),
}
needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not installed; run scripts/tools.sh"
)
needs_amtool = pytest.mark.skipif(
    shutil.which("amtool") is None, reason="amtool is not installed; run scripts/tools.sh"
)
pytestmark = pytest.mark.tool


@cache
def _texts(name):
    found = render(plan(CLUSTERS[name]()), ["prometheus"]).files
    return {file.path.rpartition("/")[2]: file.text for file in found}


def _written(name, folder):
    for path, text in _texts(name).items():
        (folder / path).write_text(text)
    return folder


def _run(folder, *command):
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )


@needs_promtool
@pytest.mark.parametrize("name", CLUSTERS)
def test_prometheus_reads_the_rules_and_the_scrapes(name, tmp_path):
    _written(name, tmp_path)
    for command in (("rules", "weft.rules.yml"), ("config", "prometheus.yml")):
        done = _run(tmp_path, "promtool", "check", *command)
        assert done.returncode == 0, done.stdout + done.stderr


@needs_amtool
@pytest.mark.parametrize("name", CLUSTERS)
def test_alertmanager_reads_what_inhibits_what(name, tmp_path):
    done = _run(_written(name, tmp_path), "amtool", "check-config", "alertmanager.yml")
    assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
@pytest.mark.slow
@pytest.mark.parametrize("name", ["roce", "infiniband"])
@pytest.mark.proves(
    "prometheus",
    effect="every alert fires on its fault and not on health",
    tool="prometheus",
)
def test_every_alert_fires_on_its_fault_and_not_on_health_or_what_is_alike(name, tmp_path):
    folder = _written(name, tmp_path)
    text = (folder / "weft-1m.test.yml").read_text()
    for one in alerts(plan(CLUSTERS[name]())):
        assert text.count(f"name: '{one.name}: ") == 2 or one.interval != "1m"
    files = sorted(path.name for path in folder.glob("*.test.yml"))
    done = _run(folder, "promtool", "test", "rules", *files)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
@pytest.mark.parametrize(
    ("healthy", "broken"),
    [
        (':now{device=~"mlx5_0', ':now{device=~"other_0'),  # silent on its fault
        ("DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_OTHER"),
        ("== 79", "== 43"),  # fires on what is alike
    ],
)
def test_the_tests_notice_a_rule_that_is_wrong(healthy, broken, tmp_path):
    folder = _written("efa" if "79" in healthy or "DCGM" in healthy else "infiniband", tmp_path)
    rules = folder / "weft.rules.yml"
    text = rules.read_text()
    assert healthy in text
    rules.write_text(text.replace(healthy, broken))
    done = _run(folder, "promtool", "test", "rules", "weft-1m.test.yml")
    assert done.returncode != 0
