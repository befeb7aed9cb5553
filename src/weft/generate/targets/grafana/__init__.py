"""Grafana: dashboards over the series that the rules of the target prometheus record."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from weft.generate.alert import filled, names_in, quantities, recorded
from weft.generate.expected_busbw import EXPECTED
from weft.generate.plan import Plan
from weft.generate.runbook import slug
from weft.generate.target import Files, declared
from weft.generate.template import manifests_of
from weft.inventory.table import rows

COLUMNS: Final = 24
WIDTH: Final = 12
HEIGHT: Final = 8


def _files(plan: Plan) -> Files:
    known = quantities(plan)
    if "short" in known:
        known["expected"] = EXPECTED
    for row in rows("weft.generate", "dashboards/dashboards.yaml"):
        panels = [one for one in row["panels"] if _fits(one, plan, known)]
        if panels and _fits(row, plan, known):
            title = row["dashboard"]
            yield f"{slug(title)}.json", _text(plan, title, panels, known)


def _fits(row: Mapping[str, Any], plan: Plan, known: Mapping[str, str]) -> bool:
    """Return whether a dashboard or panel is for this fabric and speaks of what it has."""
    kinds = row.get("fabrics", ())
    fabric = not kinds or plan.cluster.fabric.kind in kinds
    return fabric and names_in(row.get("expr", "")) <= known.keys()


def _text(
    plan: Plan, title: str, panels: Sequence[Mapping[str, Any]], known: Mapping[str, str]
) -> str:
    cluster = plan.names.cluster.text()
    [document] = manifests_of(
        "grafana/dashboard.yaml.j2", cluster=cluster, title=title, panels=panels, width=WIDTH,
        height=HEIGHT, columns=COLUMNS, uid=slug(f"weft {cluster} {title}")[:40],
        query=lambda expr: recorded(filled(expr, known)),
    )  # fmt: skip
    return json.dumps(document, indent=1) + "\n"


grafana = declared("grafana", files=_files)
