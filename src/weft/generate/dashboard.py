"""Dashboards as rows: which of them, and which of their panels, a plan can fill."""

from collections.abc import Iterator, Mapping
from typing import Any

from weft.generate.alert import names_in, quantities
from weft.generate.expected_busbw import EXPECTED
from weft.generate.plan import Plan
from weft.inventory.table import rows


def known(plan: Plan) -> dict[str, str]:
    """Return the quantities of a plan that panels speak of, as text, by name."""
    found = quantities(plan)
    return found | {"expected": EXPECTED} if "short" in found else found


def boards(plan: Plan) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """Yield the title and the panels of each dashboard that is for the fabric of a plan."""
    names = known(plan).keys()

    def fits(row: Mapping[str, Any]) -> bool:
        kind = plan.cluster.fabric.kind
        return kind in row.get("fabrics", [kind]) and names_in(row.get("expr", "")) <= names

    for row in filter(fits, rows("weft.generate", "dashboards/dashboards.yaml")):
        if panels := [panel for panel in row["panels"] if fits(panel)]:
            yield row["dashboard"], panels


def expressions(plan: Plan) -> list[str]:
    """Return what the panels of a plan ask."""
    return [panel["expr"] for _, panels in boards(plan) for panel in panels]
