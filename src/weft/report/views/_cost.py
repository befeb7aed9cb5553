"""Total cost of ownership as a table and as the rows of its chart."""

from collections.abc import Iterator, Mapping
from typing import Final

from weft.design.cost import TotalCost
from weft.report.numbers import money
from weft.report.page import Table

TITLES: Final = {
    "servers": "servers",
    "nics": "NICs",
    "switches": "switches",
    "optics": "optics and cables",
    "spares": "spares",
    "energy": "energy",
    "colocation": "colocation",
    "staff": "staff",
    "support": "support",
    "rental": "rental",
}


def parts_usd(cost: TotalCost) -> dict[str, float]:
    """Return the parts that cost anything, in the order of the table.

    NICs that come with their servers cost nothing of their own and are not in it.
    """
    known = {name: cost.parts[name].value for name in TITLES if name in cost.parts}
    rest = {name: part.value for name, part in cost.parts.items() if name not in TITLES}
    return {name: usd for name, usd in (known | rest).items() if usd > 0}


def cost_rows(costs: Mapping[str, TotalCost]) -> Iterator[dict[str, object]]:
    """Yield the rows of the chart, one bar a label."""
    order = list(TITLES)
    for label, cost in costs.items():
        for part, usd in parts_usd(cost).items():
            yield {
                "label": label,
                "part": TITLES.get(part, part),
                "place": order.index(part) if part in order else len(order),
                "usd": usd,
                "total": cost.total_usd.value,
            }


def cost_table(costs: Mapping[str, TotalCost], years: float) -> Table:
    """Return the bill over the years, one line a label."""
    parts = {label: parts_usd(cost) for label, cost in costs.items()}
    names = [name for name in TITLES if any(name in own for own in parts.values())]
    rows = (
        (
            label,
            *(money(parts[label][name]) if name in parts[label] else "-" for name in names),
            money(cost.total_usd),
            money(cost.usd_per_gpu_hour),
        )
        for label, cost in costs.items()
    )
    return Table(
        title=f"Total cost of ownership over {years:g} years",
        columns=("", *(TITLES[name] for name in names), "total", "per GPU-hour"),
        rows=tuple(rows),
    )
