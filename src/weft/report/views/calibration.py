"""`weft calibrate`: what the user's own numbers change, and by how much."""

from collections.abc import Iterator

from weft.calibrate.calibration import Calibration
from weft.calibrate.gpu import GpuMeasurement
from weft.report.numbers import count, figures, percent
from weft.report.page import Block, Facts, Page, Sentences, Table, View, rows_of
from weft.report.views._provenance import footer


def _page(result: Calibration) -> Page:
    return Page(
        title=f"{result.cluster.name} with your own measurements: {result.overlay.name}",
        answer=tuple(_answer(result)),
        blocks=tuple(_blocks(result)),
        footer=footer(result.provenance),
    )


def _answer(result: Calibration) -> Iterator[Block]:
    yield Facts(pairs=tuple(_facts(result)))
    if result.overlay.collectives:
        yield _collectives(result)
    if result.gpu is not None:
        yield _ratios(result)
    yield Sentences(
        lines=("Give the overlay to any verb with --overlay FILE; its result names it.",)
    )


def _blocks(result: Calibration) -> Iterator[Block]:
    yield _files(result)
    if result.gpu is not None:
        yield _products(result.gpu)


def _facts(result: Calibration) -> Iterator[tuple[str, str]]:
    yield "overlay", f"{result.overlay.name}@{result.overlay.sha256[:12]}"
    yield "readings", str(sum(one.readings for one in result.files))
    for when, error in (
        ("before", result.median_abs_error_before_ratio),
        ("after", result.median_abs_error_after_ratio),
    ):
        if error is not None:
            yield f"median |error| {when}", percent(error)
    if result.gpu is not None:
        yield "GPU measured", result.gpu.device


def _files(result: Calibration) -> Table:
    rows = ((one.file, one.benchmark, str(one.readings)) for one in result.files)
    return Table(
        title="Files read",
        columns=("file", "benchmark", "readings"),
        rows=rows_of(*rows),
        left=(0, 1),
    )


def _collectives(result: Calibration) -> Table:
    rows = (
        (
            name,
            str(one.rows),
            figures(one.fixed_ratio),
            figures(one.volume_ratio),
            f"{figures(one.low_ratio)}–{figures(one.high_ratio)}",  # noqa: RUF001 - a range
        )
        for name, one in sorted(result.overlay.collectives.items())
    )
    return Table(
        title="Measured over predicted time",
        columns=("class", "sizes", "start and steps", "volume", "band of the rest"),
        rows=rows_of(*rows),
        notes=("1 is as predicted; above 1 is slower.",),
    )


def _ratios(result: Calibration) -> Table:
    own = result.overlay
    rows = [(f"matrix products, {p}", figures(r)) for p, r in own.matrix_ratio.items()]
    rows += [
        ("attention", figures(own.attention_ratio)),
        ("memory bandwidth", figures(own.memory_ratio)),
    ]
    return Table(
        title="This GPU over a healthy one of its kind",
        columns=("what", "ratio"),
        rows=rows_of(*rows),
    )


def _products(measured: GpuMeasurement) -> Table:
    rows = (
        (
            one.precision,
            f"{one.rows} x {one.inner} x {one.columns}",
            count(one.flop_per_s, "FLOP/s"),
        )
        for one in measured.products
    )
    return Table(
        title="Matrix products measured",
        columns=("precision", "shape", "rate"),
        rows=rows_of(*rows),
        left=(0, 1),
    )


calibration = View(shows="weft.calibrate.calibration.Calibration", verb="calibrate", page=_page)
