"""Dashboards as rows: which of them, and which of their panels, a plan can fill."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weft.generate.alert import names_in, quantities
from weft.generate.expected_busbw import EXPECTED
from weft.generate.plan import Plan
from weft.inventory.table import rows


@dataclass(frozen=True, slots=True)
class Board:
    """One dashboard: its title and the rows of its panels."""

    title: str
    panels: Sequence[Mapping[str, Any]]


def known(plan: Plan) -> dict[str, str]:
    """Return the quantities of a plan that panels speak of, as text, by name."""
    found = quantities(plan)
    return found | {"expected": EXPECTED} if "short" in found else found


def boards(plan: Plan) -> Iterator[Board]:
    """Yield the dashboards of a plan with the panels that are for its kind of fabric."""
    names = known(plan).keys()

    def fits(row: Mapping[str, Any]) -> bool:
        kinds = row.get("fabrics", ())
        fabric = not kinds or plan.cluster.fabric.kind in kinds
        return fabric and names_in(row.get("expr", "")) <= names

    for row in rows("weft.generate", "dashboards/dashboards.yaml"):
        panels = [panel for panel in row["panels"] if fits(panel)]
        if panels and fits(row):
            yield Board(row["dashboard"], panels)
