"""`weft calibrate`: what the user's own numbers change, and by how much."""

from collections.abc import Iterator

from weft.calibrate.calibration import Calibration
from weft.report.numbers import count, figures, percent
from weft.report.page import Block, Columns, Facts, Sentences, Table, View, table


def _title(result: Calibration) -> str:
    return f"{result.cluster.name} with your own measurements: {result.overlay.name}"


def _answer(result: Calibration) -> Iterator[Block]:
    yield Facts(pairs=tuple(_facts(result)))
    if result.overlay.collectives:
        yield _collectives(result)
    if result.gpu is not None:
        yield _ratios(result)
    yield Sentences(
        lines=("Give the overlay to any verb with --overlay FILE; its result names it.",)
    )


def _facts(result: Calibration) -> Iterator[tuple[str, str]]:
    yield "overlay", f"{result.overlay.name}@{result.overlay.sha256[:12]}"
    yield "readings", str(sum(file.readings for file in result.files))
    for when, error in (
        ("before", result.median_abs_error_before_ratio),
        ("after", result.median_abs_error_after_ratio),
    ):
        if error is not None:
            yield f"median |error| {when}", percent(error)
    if result.gpu is not None:
        yield "GPU measured", result.gpu.device


def _collectives(result: Calibration) -> Table:
    rows = (
        (
            name, str(found.rows), figures(found.fixed_ratio), figures(found.volume_ratio),
            f"{figures(found.low_ratio)}–{figures(found.high_ratio)}",  # noqa: RUF001 - a range
        )
        for name, found in sorted(result.overlay.collectives.items())
    )  # fmt: skip
    return Table(
        title="Measured over predicted time",
        columns=("class", "sizes", "start and steps", "volume", "band of the rest"),
        rows=tuple(rows),
        notes=("1 is as predicted; above 1 is slower.",),
    )


def _ratios(result: Calibration) -> Table:
    own = result.overlay
    ratios = {f"matrix products, {name}": ratio for name, ratio in own.matrix_ratio.items()}
    ratios |= {"attention": own.attention_ratio, "memory bandwidth": own.memory_ratio}
    return Table(
        title="This GPU over a healthy one of its kind",
        columns=("what", "ratio"),
        rows=tuple((name, figures(ratio)) for name, ratio in ratios.items()),
    )


def _blocks(result: Calibration) -> Iterator[Block]:
    files = {"file": "file", "benchmark": "benchmark", "readings": "readings"}
    yield table(result.files, files, title="Files read")
    if result.gpu is not None:
        products: Columns = {
            "precision": "precision",
            "shape": lambda product: f"{product.rows} x {product.inner} x {product.columns}",
            "rate": lambda product: count(product.flop_per_s, "FLOP/s"),
        }
        title = "Matrix products measured"
        yield table(result.gpu.products, products, title=title, left=(0, 1))


calibration = View(
    shows="weft.calibrate.calibration.Calibration", verb="calibrate", title=_title,
    answer=_answer, blocks=_blocks,
)  # fmt: skip
