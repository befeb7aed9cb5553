"""`weft predict --sweep`: one job as the cluster grows."""

from weft.predict.scaling import Point, Scaling
from weft.report.numbers import band, money, percent, seconds, tokens_per_s
from weft.report.page import Drawing, Facts, Page, Sentences, Table, View, rows_of
from weft.report.views._provenance import footer
from weft.report.views._question import brief
from weft.spec.workload import Job, Parallelism


def _page(result: Scaling) -> Page:
    first = result.points[0].prediction
    return Page(
        title=_title(result),
        answer=(
            Facts(pairs=brief(result.cluster, result.job, result.cluster.gpus)),
            _table(result),
            Sentences(
                title="Sizes left out",
                lines=tuple(f"{one.gpus} GPUs: {one.reason}" for one in result.skipped),
            ),
        ),
        blocks=(
            Drawing(
                chart="scaling_curve",
                title=f"{result.job.model.name} as the cluster grows",
                rows=tuple(_chart_row(point) for point in result.points),
            ),
            Sentences(title="Assumptions", lines=first.provenance.assumptions),
        ),
        footer=footer(first.provenance),
    )


def _title(result: Scaling) -> str:
    last = result.points[-1]
    return (
        f"{result.job.model.name} on {result.cluster.name}, {result.points[0].gpus} to "
        f"{last.gpus} GPUs: a GPU keeps {percent(last.efficiency_ratio.value)} of its speed"
    )


def _table(result: Scaling) -> Table:
    return Table(
        title="Size by size",
        columns=(
            "GPUs", "step", "MFU %", "exposed %", "tokens/s", "per GPU", "efficiency %",
            "$ per 1T tokens", "parallelism",
        ),
        rows=rows_of(*(_cells(point) for point in result.points)),
        left=(8,),
        least=(4, 3, 8),
        notes=(
            "The batch grows in step with the GPUs.",
            "Efficiency: tokens per second and GPU, against the smallest size.",
        ),
    )  # fmt: skip


def _cells(point: Point) -> tuple[str, ...]:
    one = point.prediction
    return (
        str(point.gpus),
        seconds(one.step_s),
        band(one.mfu_ratio, scale=0.01),
        percent(one.exposed_ratio.value).removesuffix(" %"),
        tokens_per_s(one.tokens_per_s).removesuffix(" tokens/s"),
        tokens_per_s(one.tokens_per_s.value / point.gpus).removesuffix(" tokens/s"),
        percent(point.efficiency_ratio.value).removesuffix(" %"),
        money(one.usd_per_1t_tokens.value),
        _ranks(one.job),
    )


def _ranks(job: Job) -> str:
    how = job.parallelism
    assert isinstance(how, Parallelism)
    ranks = {"TP": how.tp, "CP": how.cp, "PP": how.pp, "EP": how.ep, "DP": how.dp or 1}
    return " ".join(f"{name}{count}" for name, count in ranks.items() if count > 1)


def _chart_row(point: Point) -> dict[str, float]:
    one = point.prediction
    return {
        "gpus": point.gpus,
        "tokens_per_s": one.tokens_per_s.value,
        "tokens_low": one.tokens_per_s.low,
        "tokens_high": one.tokens_per_s.high,
        "mfu": one.mfu_ratio.value * 100,
        "mfu_low": one.mfu_ratio.low * 100,
        "mfu_high": one.mfu_ratio.high * 100,
    }


scaling = View(
    shows="weft.predict.scaling.Scaling", verb="predict", page=_page, charts=("scaling_curve",)
)
