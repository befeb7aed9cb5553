"""Grafana: dashboards over the series that the rules of the target prometheus record."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from weft.generate.alert import filled, recorded
from weft.generate.dashboard import Board, boards, known
from weft.generate.plan import Feature, Plan
from weft.generate.runbook import slug
from weft.generate.target import Files, Proof, Target

SCHEMA_VERSION: Final = 39
"""Of dashboards as Grafana 10 and newer read them."""
COLUMNS: Final = 24
WIDTH: Final = 12
HEIGHT: Final = 8
SOURCE: Final = {"type": "prometheus", "uid": "${datasource}"}


def _files(plan: Plan) -> Files:
    for board in boards(plan):
        yield f"{slug(board.title)}.json", _text(plan, board)


def _text(plan: Plan, board: Board) -> str:
    title = board.title
    cluster = plan.names.cluster.text()
    document = {
        "uid": slug(f"weft {cluster} {title}")[:40],
        "title": f"{title}, {cluster}",
        "tags": ["weft", cluster],
        "schemaVersion": SCHEMA_VERSION,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [
            {"name": "datasource", "type": "datasource", "query": "prometheus"}]},
        "panels": list(_panels(board.panels, known(plan))),
    }  # fmt: skip
    return json.dumps(document, indent=1) + "\n"


def _panels(
    panels: Sequence[Mapping[str, Any]], quantities: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield panels two a row, each with its query."""
    for number, row in enumerate(panels):
        across = number * WIDTH
        yield {
            "id": number + 1,
            "title": row["title"],
            "type": row["kind"],
            "datasource": SOURCE,
            "gridPos": {"x": across % COLUMNS, "y": across // COLUMNS * HEIGHT,
                        "w": WIDTH, "h": HEIGHT},
            "fieldConfig": {"defaults": {"unit": row["unit"]}, "overrides": []},
            "targets": [{"refId": "A", "datasource": SOURCE,
                         "expr": recorded(filled(row["expr"], quantities)),
                         "legendFormat": row["legend"]}],
        }  # fmt: skip


grafana = Target(
    title="Grafana: fabric, rails, host, job, RoCE, cost",
    supports=frozenset(Feature) - {Feature.RACK},
    configures=False,
    files=_files,
    proofs={
        f"{name}.json": Proof.GOLDEN
        for name in (
            "fabric-overview",
            "rail-heat-map",
            "host",
            "job",
            "roce-health",
            "cost-of-step-and-token",
        )
    },
)
