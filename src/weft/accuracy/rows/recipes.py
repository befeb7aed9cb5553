"""What the published recipes of a benchmark say beyond the columns of its table.

Read from the benchmark configurations that a table names as its source, at the commit of the
table's release: Megatron Bridge (``scripts/performance/configs``, ``perf_recipes``) and the
UCCL-EP benchmark of Megatron-LM (``ep/bench/megatron/README.md``).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Release = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Settings of a mixture of experts that tables leave to their recipes."""

    graphs: bool = False
    """Whole iterations as CUDA graphs, with fused grouped products (cutedsl_fused_grouped_mlp).
    Graphs of attention and router alone leave the experts to the CPU."""
    overlap: bool = False
    """overlap_moe_expert_parallel_comm."""
    dispatch: Literal["copies", "hosts"] = "hosts"
    """moe_flex_dispatcher_backend: deepep and hybridep send once to a host."""
    precision: str | None = None
    recompute: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """The rows that a recipe is for: all patterns match, from one release on."""

    recipe: Recipe
    model: str = ""
    gpu: str = ""
    precision: str = ""
    since: Release = ()


FUSED: Final = Recipe(graphs=True, overlap=True)
UP: Final = "selective"
"""recompute_modules of mla_up_proj."""
# First match wins.
BRIDGE: Final = (
    Rule(model="qwen3_30b", gpu="GB200|GB300|B300", precision="MXFP8", since=(26, 6),
         recipe=FUSED),
    Rule(model="deepseekv3", gpu="GB200", precision="MXFP8", since=(26, 6),
         recipe=Recipe(graphs=True, overlap=True, recompute=UP)),
    Rule(model="qwen3_235b|deepseekv3|gpt oss", gpu="GB200|GB300", precision="MXFP8",
         since=(26, 6), recipe=FUSED),
    Rule(model="deepseekv3", gpu="DGX-B200", since=(26, 4, 1),
         recipe=Recipe(overlap=True, recompute=UP)),
    Rule(model="deepseekv3|kimi", recipe=Recipe(recompute=UP)),
    Rule(model="qwen3_235b", gpu="H100", recipe=Recipe(overlap=True)),
    Rule(model="qwen3_235b", gpu="DGX-B200", recipe=Recipe(dispatch="copies")),
    Rule(model="gpt oss", gpu="DGX-B300", since=(26, 2, 1), recipe=Recipe()),
    Rule(model="gpt oss", gpu="GB200", since=(26, 4),
         recipe=Recipe(overlap=True, dispatch="copies")),
    Rule(model="gpt oss", recipe=Recipe(dispatch="copies")),
    Rule(recipe=Recipe()),
)  # fmt: skip
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
    release = tuple(int(part) for part in found.group(1).split("."))
    return next(rule.recipe for rule in BRIDGE if _matches(rule, row, release))


def _matches(rule: Rule, row: Mapping[str, str], release: Release) -> bool:
    return release >= rule.since and all(
        re.search(pattern, row.get(column, ""), re.IGNORECASE)
        for column, pattern in (
            ("model", rule.model),
            ("gpu", rule.gpu),
            ("precision", rule.precision),
        )
    )


DOUBTS: Final = (
    # Column, pattern, why the source itself does not stand by the figure.
    ("source", r"bigscience.*experiments/gpt2\.md", "its source: the same test varies by 40 %"),
    ("other", r"UCCL-EP; NCCL_MAX_NCHANNELS=unset", "its source: to be set, too many channels"),
    ("notes", r"^footnoted$", "its source: a known regression of this release"),
)


def doubt(row: Mapping[str, str]) -> str | None:
    """Return why the source of a row says that the figure is not what the system does."""
    return next(
        (why for column, pattern, why in DOUBTS if re.search(pattern, row.get(column, ""))),
        None,
    )
