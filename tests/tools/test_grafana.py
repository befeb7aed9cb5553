"""Dashboards: every panel reads recorded series and returns data on a healthy fabric."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from weft.generate.plan import plan
from weft.generate.target import render
from weft.spec.load import preset

SCHEMA = Path(sys.prefix) / "grafana" / "node_modules"
TYPES = "@grafana/schema/dist/esm/raw/dashboard/x/dashboard_types.gen"
STRICT = ("--noEmit", "--strict", "--skipLibCheck", "--moduleResolution", "node", "--target",
          "es2022", "--module", "esnext")  # fmt: skip
CLUSTERS = {
    "roce": preset("hgx_h100_roce", hosts=16), "infiniband": preset("dgx_h100", hosts=16),
    "efa": preset("aws_p5", hosts=16),
}  # fmt: skip


def _rendered(name):
    found = render(plan(CLUSTERS[name]), ["grafana", "prometheus"]).files
    texts = {file.path: file.text for file in found}
    boards = {path: json.loads(text) for path, text in texts.items() if path.endswith(".json")
              and path.startswith("grafana/")}  # fmt: skip
    return texts, boards


def _queries(boards):
    return [(board["title"], panel["title"], panel["targets"][0]["expr"])
            for board in boards.values() for panel in board["panels"]]  # fmt: skip


@pytest.mark.parametrize("name", CLUSTERS)
def test_panels_read_what_the_rules_record_and_do_not_overlap(name):
    texts, boards = _rendered(name)
    rules = yaml.safe_load(texts["prometheus/weft.rules.yml"])["groups"]
    known = {rule["record"] for group in rules for rule in group["rules"] if "record" in rule}
    assert len(boards) >= 3
    assert len({board["uid"] for board in boards.values()}) == len(boards)
    for _, panel, expr in _queries(boards):
        assert "[[" not in expr
        assert {*re.findall(r"weft:\w+:\w+", expr)} <= known, panel
    for board in boards.values():
        places = [(one["gridPos"]["x"], one["gridPos"]["y"]) for one in board["panels"]]
        assert len(set(places)) == len(places)


@pytest.mark.tool
@pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not installed; run scripts/tools.sh"
)
@pytest.mark.parametrize("name", CLUSTERS)
@pytest.mark.proves(
    "grafana", effect="every query returns data on a healthy fabric", tool="prometheus"
)
def test_every_query_returns_data_on_a_healthy_fabric(name, tmp_path):
    texts, boards = _rendered(name)
    (tmp_path / "weft.rules.yml").write_text(texts["prometheus/weft.rules.yml"])
    document = yaml.safe_load(texts["prometheus/weft-1m.test.yml"])
    healthy = document["tests"][0]
    healthy["promql_expr_test"] = [
        {"expr": f"count({expr}) > bool 0", "eval_time": "80m",
         "exp_samples": [{"labels": "{}", "value": 1}]}
        for _, _, expr in _queries(boards)
    ]  # fmt: skip
    document["tests"] = [healthy]
    (tmp_path / "panels.test.yml").write_text(yaml.safe_dump(document))
    done = subprocess.run(["promtool", "test", "rules", "panels.test.yml"], cwd=tmp_path,
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.tool
@pytest.mark.skipif(
    not (SCHEMA / ".bin" / "tsc").exists() or shutil.which("node") is None,
    reason="@grafana/schema is not installed; run scripts/tools.sh",
)
@pytest.mark.proves(
    "grafana",
    effect="is a dashboard by the types that Grafana publishes",
    tool="grafana-schema",
)
def test_dashboards_have_the_types_that_grafana_publishes(tmp_path):
    """TypeScript refuses fields that the schema does not have, and values of another type."""
    boards = [text for name in CLUSTERS for text in _rendered(name)[1].values()]
    assert len(boards) >= 9
    assert _typed(tmp_path / "good", boards) == []
    strange = {**boards[0], "timezones": "utc"}
    wrong = {**boards[0], "panels": [{**boards[0]["panels"][0], "id": "one"}]}
    said = _typed(tmp_path / "bad", [strange, wrong])
    assert "timezones" in said[0]
    assert any("not assignable to type 'number'" in line for line in said)


def _typed(folder, boards):
    """Return what the compiler says of dashboards as values of Grafana's type."""
    folder.mkdir()
    (folder / "node_modules").symlink_to(SCHEMA)
    lines = [f'import type {{ Dashboard }} from "{TYPES}";']
    lines += [f"export const board{number}: Dashboard = {json.dumps(board)};"
              for number, board in enumerate(boards)]  # fmt: skip
    (folder / "boards.ts").write_text("\n".join(lines) + "\n")
    words = [str(SCHEMA / ".bin" / "tsc"), *STRICT, "boards.ts"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()
