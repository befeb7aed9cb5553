"""`weft predict`: one cluster, one job."""

from weft.predict.training import Prediction
from weft.report.numbers import (
    band,
    count,
    figures,
    money,
    percent,
    seconds,
    show_size,
)
from weft.report.page import Drawing, Facts, Page, Sentences, Table, View, rows_of
from weft.report.views._cost import cost_table
from weft.report.views._provenance import defaults, footer
from weft.report.views._question import brief
from weft.report.views._step import TITLES, breakdown_rows

SMALLEST_SHARE = 0.0005
"""Parts of a step below this are not listed."""
BAR = 30


def _page(result: Prediction) -> Page:
    name = f"{result.job.model.name} on {result.cluster.name}"
    return Page(
        title=f"{name}: {seconds(result.step_s)} a step, {percent(result.mfu_ratio)} MFU",
        answer=(
            Facts(pairs=(*brief(result.cluster, result.job, result.gpus), *_answer(result))),
            *defaults(result.provenance),
            _breakdown(result),
        ),
        blocks=(
            Facts(title="Goodput, energy, HFU", pairs=_more(result)),
            Drawing(
                chart="step_breakdown",
                title="Where the time of a step goes",
                rows=tuple(breakdown_rows(result.step, result.cluster.fabric.kind)),
            ),
            *_traffic(result),
            _memory(result),
            cost_table({result.cluster.name: result.cost}, result.cost.years),
            Sentences(title="Warnings", lines=result.cost.warnings),
            Sentences(title="Why", lines=result.step.reasons),
            Sentences(title="Assumptions", lines=result.provenance.assumptions),
        ),
        footer=footer(result.provenance),
    )


def _answer(result: Prediction) -> tuple[tuple[str, str], ...]:
    pairs = [
        ("exposed communication", percent(result.exposed_ratio)),
        ("throughput", count(result.tokens_per_s, "tokens/s")),
        ("cost", f"{money(result.usd_per_1t_tokens)} per 1T tokens"),
    ]
    if result.run_s is not None:
        pairs.append(("whole run", seconds(result.run_s)))
    failed = (("failed", "; ".join(result.failed)),) if result.failed else ()
    return (*pairs, *failed, ("estimate", result.domain))


def _more(result: Prediction) -> tuple[tuple[str, str], ...]:
    return (
        ("HFU", percent(result.hfu_ratio)),
        ("throughput of a GPU", count(result.tokens_per_s.value / result.gpus, "tokens/s")),
        ("goodput", percent(result.goodput_ratio)),
        ("energy", band(result.energy_j_per_token, "J per token")),
    )


def _breakdown(result: Prediction) -> Table:
    whole = result.step.step_s.value
    by_size = sorted(result.step.breakdown_s.items(), key=lambda one: -one[1])
    parts = [
        (TITLES.get(part, part.replace("_", " ")), part_s, part_s / whole)
        for part, part_s in by_size
        if part_s / whole >= SMALLEST_SHARE
    ]
    return Table(
        title="Where the time of a step goes",
        columns=("part", "time", "share", ""),
        rows=rows_of(
            *(
                (name, seconds(s), percent(share), "█" * round(BAR * share))
                for name, s, share in parts
            )
        ),
        left=(0, 3),
    )


def _traffic(result: Prediction) -> tuple[Table, ...]:
    rows = [
        (
            flow.dimension.upper(),
            flow.operation.value,
            str(flow.group.ranks),
            show_size(round(flow.size_bytes))
            if flow.size_bytes < 2**10
            else _binary(flow.size_bytes),
            f"{flow.calls:,.0f}",
            seconds(flow.total_s),
            seconds(flow.exposed_s),
            percent(flow.fabric_ratio),
        )
        for flow in result.step.traffic
    ]
    columns = (
        "dimension",
        "operation",
        "ranks",
        "size",
        "calls",
        "time",
        "exposed",
        "on the fabric",
    )
    if not rows:
        return ()
    return (
        Table(
            title="Communication of one GPU", columns=columns, rows=rows_of(*rows), left=(0, 1)
        ),
    )


def _binary(size_bytes: float) -> str:
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size_bytes >= scale:
            return f"{figures(size_bytes / scale)} {unit}"
    return f"{size_bytes:.0f} B"


def _memory(result: Prediction) -> Table:
    parts = [(part, size) for part, size in result.step.memory_bytes.items() if size > 0]
    rows = [(part, _binary(size)) for part, size in parts]
    rows.append(("sum", _binary(sum(size for _, size in parts))))
    return Table(
        title="Memory of the fullest GPU", columns=("part", "size"), rows=rows_of(*rows)
    )


prediction = View(
    shows="weft.predict.training.Prediction",
    verb="predict",
    page=_page,
    charts=("step_breakdown",),
)
