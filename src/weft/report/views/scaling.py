"""`weft predict --sweep`: one job as the cluster grows."""

from collections.abc import Iterator

from weft.predict.scaling import Point, Scaling
from weft.predict.training import Prediction
from weft.report.numbers import band, count, figures, percent
from weft.report.page import Block, Columns, Drawing, Facts, Sentences, View, table
from weft.report.views._job import brief
from weft.spec.workload import Job, Parallelism


def _title(result: Scaling) -> str:
    last = result.points[-1]
    return (
        f"{result.job.model.name} on {result.cluster.name}, {result.points[0].gpus} to "
        f"{last.gpus} GPUs: a GPU keeps {percent(last.efficiency_ratio.value)} of its speed"
    )


def _answer(result: Scaling) -> Iterator[Block]:
    yield Facts(pairs=brief(result.cluster, result.job))
    columns: Columns = {
        "GPUs": "gpus", "step": "prediction.step_s",
        "MFU %": lambda point: band(point.prediction.mfu_ratio, scale=0.01),
        "exposed %": lambda point: figures(point.prediction.exposed_ratio.value * 100),
        "tokens/s": lambda point: count(point.prediction.tokens_per_s),
        "per GPU": lambda point: count(point.prediction.tokens_per_s.value / point.gpus),
        "efficiency %": lambda point: figures(point.efficiency_ratio.value * 100),
        "$ per 1T tokens": "prediction.usd_per_1t_tokens.value",
        "parallelism": lambda point: _ranks(point.prediction.job),
    }  # fmt: skip
    yield table(
        result.points,
        columns,
        title="Size by size",
        left=(8,),
        least=(4, 3, 8),
        notes=(
            "The batch grows in step with the GPUs.",
            "Efficiency: tokens per second and GPU, against the smallest size.",
        ),
    )
    left_out = tuple(f"{size.gpus} GPUs: {size.reason}" for size in result.skipped)
    yield Sentences(title="Sizes left out", lines=left_out)


def _ranks(job: Job) -> str:
    how = job.parallelism
    assert isinstance(how, Parallelism)
    ranks = {"TP": how.tp, "CP": how.cp, "PP": how.pp, "EP": how.ep, "DP": how.dp or 1}
    return " ".join(f"{name}{count}" for name, count in ranks.items() if count > 1)


def _first(result: Scaling) -> Prediction:
    return result.points[0].prediction


def _blocks(result: Scaling) -> Iterator[Block]:
    yield Drawing(
        chart="scaling_curve",
        title=f"{result.job.model.name} as the cluster grows",
        rows=tuple(map(_chart_row, result.points)),
    )


def _chart_row(point: Point) -> dict[str, float]:
    tokens, mfu = point.prediction.tokens_per_s, point.prediction.mfu_ratio
    return {
        "gpus": point.gpus,
        "tokens_per_s": tokens.value, "tokens_low": tokens.low, "tokens_high": tokens.high,
        "mfu": mfu.value * 100, "mfu_low": mfu.low * 100, "mfu_high": mfu.high * 100,
    }  # fmt: skip


scaling = View(
    shows="weft.predict.scaling.Scaling", verb="predict", title=_title, answer=_answer,
    blocks=_blocks, assumes=True, held_by=_first, charts=("scaling_curve",),
)  # fmt: skip
