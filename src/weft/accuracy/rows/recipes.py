"""What the published recipes of a benchmark say beyond the columns of its table.

Read from the benchmark configurations that a table names as its source, at the commit of the
table's release: Megatron Bridge (``scripts/performance/configs``, ``perf_recipes``) and the
UCCL-EP benchmark of Megatron-LM (``ep/bench/megatron/README.md``).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from weft.accuracy.rows.words import read


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Settings of a mixture of experts that tables leave to their recipes."""

    graphs: bool = False
    overlap: bool = False
    dispatch: Literal["copies", "hosts"] = "hosts"
    precision: str | None = None
    recompute: str | None = None


UCCL: Final = Recipe(precision="fp8", recompute="full")
"""--fp8-format hybrid, --recompute-granularity full, and no overlap of dispatch."""
UCCL_NCCL: Final = Recipe(precision="fp8", recompute="full", dispatch="copies")


def recipe_of(row: Mapping[str, str]) -> Recipe | None:
    """Return the recipe that a row was run with, where its source publishes one.

    >>> recipe_of({"framework": "Megatron Bridge 26.06.01 NeMo Container", "gpu": "DGX-GB300",
    ...            "model": "Qwen3_30B_a3B", "precision": "MXFP8"}).graphs
    True
    """
    framework, other = row.get("framework", ""), row.get("other", "")
    if row.get("family", "").startswith("uccl"):
        return UCCL if "UCCL-EP" in other else UCCL_NCCL
    found = re.search(r"Megatron Bridge (\d+(?:\.\d+)+)", framework)
    if found is None:
        return None
    release = [int(part) for part in found.group(1).split(".")]
    rules = read("recipes")["rule"]
    return next(Recipe(**rule["recipe"]) for rule in rules if _matches(rule, row, release))


def _matches(rule: Mapping[str, Any], row: Mapping[str, str], release: list[int]) -> bool:
    return release >= rule.get("since", []) and all(
        re.search(rule.get(column, ""), row.get(column, ""), re.IGNORECASE)
        for column in ("model", "gpu", "precision")
    )


def doubt(row: Mapping[str, str]) -> str | None:
    """Return why the source of a row says that the figure is not what the system does."""
    for known in read("recipes")["doubt"]:
        if re.search(known["pattern"], row.get(known["column"], "")):
            return str(known["why"])
    return None
