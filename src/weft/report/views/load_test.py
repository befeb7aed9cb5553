"""`weft bench load`: what is carried at each multiple of the peak, and where it breaks."""

from collections.abc import Iterator

from weft.bench.load import LoadStep, LoadTest
from weft.report.numbers import figures, seconds, show_rate
from weft.report.page import Block, Drawing, Facts, Page, Sentences, Table, View, rows_of
from weft.report.views._provenance import footer
from weft.units import gbit_from_rate


def _page(result: LoadTest) -> Page:
    return Page(
        title=_verdict(result),
        answer=(Facts(pairs=tuple(_facts(result))), _steps(result)),
        blocks=tuple(_blocks(result)),
        footer=footer(result.provenance) if result.provenance.models else (),
    )


def _steps(result: LoadTest) -> Table:
    return Table(
        title="Step by step",
        columns=(
            "times the peak",
            "offered Gb/s",
            "delivered Gb/s",
            "delivered",
            "tail",
            "why broken",
        ),
        rows=rows_of(*(_step(one) for one in result.steps)),
        left=(5,),
        notes=("Rates are of one host. Tail: p99 of a transfer, or the round trip of TCP.",),
        least=(4, 2),
    )


def _blocks(result: LoadTest) -> Iterator[Block]:
    yield Drawing(
        chart="load_curve",
        title=_verdict(result),
        rows=tuple(
            {
                "multiple": one.multiple,
                "offered": gbit_from_rate(one.carried.offered_bytes_per_s),
                "delivered": gbit_from_rate(one.carried.delivered_bytes_per_s),
            }
            for one in result.steps
        ),
        marks={"breaking": result.breaking_multiple},
    )
    yield Sentences(title="Remarks", lines=result.said)


def _verdict(result: LoadTest) -> str:
    if result.breaking_multiple is None:
        return f"Carried up to {result.sound_multiple:.2g} times the peak; nothing broke."
    why = next(one.why for one in result.steps if one.multiple == result.breaking_multiple)
    return (
        f"Breaks at {result.breaking_multiple:.3g} times the peak: {why} "
        f"(carried up to {result.sound_multiple:.3g})."
    )


def _facts(result: LoadTest) -> Iterator[tuple[str, str]]:
    yield "way", result.way
    yield "hosts", f"{result.hosts}"
    yield "peak of a host", show_rate(result.peak_bytes_per_s)
    if result.line_bytes_per_s:
        yield "line of a host", show_rate(result.line_bytes_per_s)


def _step(one: LoadStep) -> tuple[str, ...]:
    tail = one.carried.tail_s
    return (
        f"{one.multiple:.3g}", figures(gbit_from_rate(one.carried.offered_bytes_per_s)),
        figures(gbit_from_rate(one.carried.delivered_bytes_per_s)),
        f"{one.delivered_ratio:.0%}", "" if tail is None else seconds(tail), one.why,
    )  # fmt: skip


load_test = View(
    shows="weft.bench.load.LoadTest", verb="bench", page=_page, charts=("load_curve",)
)
