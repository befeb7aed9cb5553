"""Grafana: dashboards over the series that the rules of the target prometheus record."""

import json
from typing import Final

from weft.generate.alert import filled, recorded
from weft.generate.dashboard import boards, known
from weft.generate.plan import Plan
from weft.generate.runbook import slug
from weft.generate.target import Files, declared
from weft.generate.template import manifests_of

COLUMNS: Final = 24
WIDTH: Final = 12
HEIGHT: Final = 8


def _files(plan: Plan) -> Files:
    cluster, quantities = plan.names.cluster.text(), known(plan)
    for title, panels in boards(plan):
        [document] = manifests_of(
            "grafana/dashboard.yaml.j2", cluster=cluster, title=title, panels=panels,
            width=WIDTH, height=HEIGHT, columns=COLUMNS,
            uid=slug(f"weft {cluster} {title}")[:40],
            query=lambda expr: recorded(filled(expr, quantities)),
        )  # fmt: skip
        yield f"{slug(title)}.json", json.dumps(document, indent=1) + "\n"


grafana = declared("grafana", files=_files)
