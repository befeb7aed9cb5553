"""`weft predict`: one cluster, one job."""

from collections.abc import Iterator

from weft.predict.training import Prediction
from weft.report.numbers import band, binary_size, count, money, percent, seconds, show_size
from weft.report.page import Block, Columns, Drawing, Facts, Sentences, Table, View, table
from weft.report.views._job import STEP_TITLES, breakdown_rows, brief, cost_table, defaults

SMALLEST_SHARE = 0.0005
"""Parts of a step below this are not listed."""
BAR = 30
TITLE = "Where the time of a step goes"


def _title(result: Prediction) -> str:
    name = f"{result.job.model.name} on {result.cluster.name}"
    return f"{name}: {seconds(result.step_s)} a step, {percent(result.mfu_ratio)} MFU"


def _answer(result: Prediction) -> Iterator[Block]:
    question = brief(result.cluster, result.job)
    yield Facts(pairs=(*question, *_figures(result)))
    yield from defaults(result.provenance)
    yield _breakdown(result)


def _figures(result: Prediction) -> Iterator[tuple[str, str]]:
    yield "exposed communication", percent(result.exposed_ratio)
    yield "throughput", count(result.tokens_per_s, "tokens/s")
    yield "cost", f"{money(result.usd_per_1t_tokens)} per 1T tokens"
    if result.run_s is not None:
        yield "whole run", seconds(result.run_s)
    if result.failed:
        yield "failed", "; ".join(result.failed)
    yield "estimate", result.domain


def _breakdown(result: Prediction) -> Table:
    whole = result.step.step_s.value
    by_size = sorted(result.step.breakdown_s.items(), key=lambda part: -part[1])
    rows = (
        (STEP_TITLES.get(name, name.replace("_", " ")), seconds(part_s),
         percent(part_s / whole), "█" * round(BAR * part_s / whole))
        for name, part_s in by_size if part_s / whole >= SMALLEST_SHARE
    )  # fmt: skip
    columns = ("part", "time", "share", "")
    return Table(title=TITLE, columns=columns, rows=tuple(rows), left=(0, 3))


def _blocks(result: Prediction) -> Iterator[Block]:
    yield Facts(
        title="Goodput, energy, HFU",
        pairs=(
            ("HFU", percent(result.hfu_ratio)),
            ("throughput of a GPU", count(result.tokens_per_s.value / result.gpus, "tokens/s")),
            ("goodput", percent(result.goodput_ratio)),
            ("energy", band(result.energy_j_per_token, "J per token")),
        ),
    )
    steps = breakdown_rows(result.step, result.cluster.fabric.kind)
    yield Drawing(chart="step_breakdown", title=TITLE, rows=tuple(steps))
    if result.step.traffic:
        columns: Columns = {
            "dimension": lambda flow: flow.dimension.upper(), "operation": "operation",
            "ranks": "group.ranks", "size": lambda flow: _size(flow.size_bytes),
            "calls": lambda flow: f"{flow.calls:,.0f}", "time": "total_s",
            "exposed": "exposed_s", "on the fabric": "fabric_ratio",
        }  # fmt: skip
        yield table(result.step.traffic, columns, title="Communication of one GPU", left=(0, 1))
    yield _memory(result)
    yield cost_table({result.cluster.name: result.cost}, result.cost.years)
    yield Sentences(title="Warnings", lines=result.cost.warnings)
    yield Sentences(title="Why", lines=result.step.reasons)


def _size(size_bytes: float) -> str:
    exact = size_bytes < 1 << 10
    return show_size(round(size_bytes)) if exact else binary_size(size_bytes)


def _memory(result: Prediction) -> Table:
    parts = {part: size for part, size in result.step.memory_bytes.items() if size > 0}
    parts["sum"] = sum(parts.values())
    rows = tuple((part, binary_size(size)) for part, size in parts.items())
    return Table(title="Memory of the fullest GPU", columns=("part", "size"), rows=rows)


prediction = View(
    shows="weft.predict.training.Prediction", verb="predict", title=_title, answer=_answer,
    blocks=_blocks, assumes=True, charts=("step_breakdown",),
)  # fmt: skip
