"""`weft bench load`: what is carried at each multiple of the peak, and where it breaks."""

from collections.abc import Iterator

from weft.bench.load import LoadStep, LoadTest
from weft.report.numbers import figures, seconds, show_rate
from weft.report.page import Block, Columns, Drawing, Facts, Sentences, View, table
from weft.units import gbit_from_rate


def _answer(result: LoadTest) -> Iterator[Block]:
    yield Facts(pairs=tuple(_facts(result)))
    columns: Columns = {
        "times the peak": lambda step: f"{step.multiple:.3g}",
        "offered Gb/s": lambda step: _gbit(step.carried.offered_bytes_per_s),
        "delivered Gb/s": lambda step: _gbit(step.carried.delivered_bytes_per_s),
        "delivered": lambda step: f"{step.delivered_ratio:.0%}",
        "tail": _tail,
        "why broken": "why",
    }
    yield table(
        result.steps,
        columns,
        title="Step by step",
        left=(5,),
        notes=("Rates are of one host. Tail: p99 of a transfer, or the round trip of TCP.",),
        least=(4, 2),
    )


def _gbit(bytes_per_s: float) -> str:
    return figures(gbit_from_rate(bytes_per_s))


def _tail(step: LoadStep) -> str:
    return "" if step.carried.tail_s is None else seconds(step.carried.tail_s)


def _blocks(result: LoadTest) -> Iterator[Block]:
    yield Drawing(
        chart="load_curve",
        title=_verdict(result),
        rows=tuple(
            {
                "multiple": step.multiple,
                "offered": gbit_from_rate(step.carried.offered_bytes_per_s),
                "delivered": gbit_from_rate(step.carried.delivered_bytes_per_s),
            }
            for step in result.steps
        ),
        marks={"breaking": result.breaking_multiple},
    )
    yield Sentences(title="Remarks", lines=result.said)


def _verdict(result: LoadTest) -> str:
    if result.breaking_multiple is None:
        return f"Carried up to {result.sound_multiple:.2g} times the peak; nothing broke."
    why = next(step.why for step in result.steps if step.multiple == result.breaking_multiple)
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


load_test = View(
    shows="weft.bench.load.LoadTest", verb="bench", title=_verdict, answer=_answer,
    blocks=_blocks, charts=("load_curve",),
    held_by=lambda result: result if result.provenance.models else None,
)  # fmt: skip
