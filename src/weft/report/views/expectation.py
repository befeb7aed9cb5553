"""`weft expect`: the curve of nccl-tests, in the layout of nccl-tests.

The header, the columns and the last lines are those of nccl-tests 2.13 to 2.16, so that the
tools that read its output read this; all that weft adds is in lines that begin with ``#``.
"""

from collections.abc import Iterator

from weft.advise.wording import figure
from weft.engines.engine import CollectiveTime
from weft.predict.collective import FLOAT_BYTES, Expectation, Measured, busbw
from weft.report.numbers import band, collective_rate, figures, show_rate, show_size
from weft.report.page import (
    Block,
    Columns,
    Drawing,
    Facts,
    Sentences,
    Table,
    View,
    footer,
    listed,
    table,
)
from weft.results import Estimate
from weft.traffic.collective import Operation

MOST_SIZES = 11
"""Rows of the first screen."""
MOST_OUTSIDE = 6
LEAST_RATE = 1e7
"""Bytes a second below which a bus bandwidth says nothing that the time does not."""
_REST = "every size in the layout of nccl-tests, reasons, assumptions"
_REDUCING = frozenset({Operation.ALL_REDUCE, Operation.REDUCE, Operation.REDUCE_SCATTER})
_ROOTED = frozenset({Operation.BROADCAST, Operation.REDUCE})
_SPLIT = frozenset({Operation.ALL_GATHER, Operation.REDUCE_SCATTER, Operation.ALL_TO_ALL})
"""Operations whose count column is that of one rank."""


def _text(result: Expectation) -> str:
    return "\n".join(_lines(result)) + "\n"


def _lines(result: Expectation) -> Iterator[str]:
    first, last = result.points[0], result.points[-1]
    yield (
        f"# nThread 1 nGpus 1 minBytes {first.size_bytes:.0f} maxBytes {last.size_bytes:.0f} "
        f"step: {_factor(result):g}(factor) warmup iters: 0 iters: 0 agg iters: 1 "
        "validation: 0 graph: 0"
    )
    yield "#"
    yield f"# weft expects: {result.operation.value}_perf, predicted, not measured"
    yield from (f"# {name}: {value}" for name, value in _facts(result))
    yield "#"
    yield "#                                                              out-of-place                       in-place          "  # noqa: E501 - one line of another tool
    yield "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong"  # noqa: E501 - as above
    yield "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       "  # noqa: E501 - as above
    yield from (_row(point) for point in result.points)
    yield "# Out of bounds values : 0 OK"
    yield f"# Avg bus bandwidth    : {result.mean_busbw_bytes_per_s / 1e9:g} "
    yield "#"
    yield from _comments(result)


def _factor(result: Expectation) -> float:
    if len(result.points) == 1:
        return 2.0
    return result.points[1].size_bytes / result.points[0].size_bytes


def _facts(result: Expectation) -> Iterator[tuple[str, str]]:
    cluster, host = result.cluster, result.cluster.host
    hosts = -(-result.ranks // result.ranks_per_domain)
    yield "cluster", f"{cluster.name}, {host.gpu}, {cluster.fabric.kind}"
    yield "network", f"{host.nics} x {show_rate(host.nic_bytes_per_s)} per host"
    yield (
        "ranks",
        f"{result.ranks} on {figure(hosts, 'hosts')}, {result.ranks_per_domain} a host",
    )
    yield "NCCL", result.cluster.nccl.version
    yield "peak busbw", collective_rate(result.peak_busbw_bytes_per_s)
    yield "estimate", result.domain


def _row(point: CollectiveTime) -> str:
    elements = point.size_bytes / FLOAT_BYTES
    if point.operation in _SPLIT:
        elements /= point.group.ranks
    redop = "sum" if point.operation in _REDUCING else "none"
    root = 0 if point.operation in _ROOTED else -1
    measured = _half(point)
    return (
        f"{point.size_bytes:12.0f}  {int(elements):12d}  {'float':>8}  {redop:>6}  {root:6d}"
        f"{measured}{measured}"
    )


def _half(point: CollectiveTime) -> str:
    return (
        f"  {_fit(point.time_s.value * 1e6, 7)}"
        f"  {_fit(point.algbw_bytes_per_s / 1e9, 6)}"
        f"  {_fit(point.busbw_bytes_per_s / 1e9, 6)}    N/A"
    )


def _fit(value: float, width: int) -> str:
    """Write a number with as many decimals, 2 at most, as the column has room for."""
    for decimals in (2, 1, 0):
        text = f"{value:{width}.{decimals}f}"
        if len(text) <= width:
            return text
    return f"{value:{width}.1e}"


def _measured(result: Expectation) -> Iterator[str]:
    if result.measured:
        yield f"# {_verdict(result)}"
        for run in result.measured:
            shown = f"{figures(run.busbw_bytes_per_s / 1e9):>8} GB/s measured"
            yield f"# {show_size(run.size_bytes):>10}  {shown}, {_place(run)}"
        yield "#"


def _verdict(result: Expectation) -> str:
    inside = sum(run.inside for run in result.measured)
    return f"measured: {inside} of {len(result.measured)} sizes inside the 80 % band"


def _place(run: Measured) -> str:
    return "inside" if run.inside else "outside"


def _choice(point: CollectiveTime) -> str:
    """Write algorithm and protocol as NCCL's own messages do."""
    words = {"simple": "Simple", "ll": "LL", "ll128": "LL128", "nvls": "NVLS", "pat": "PAT"}
    name = f"{point.algorithm}_{point.protocol}"
    return " ".join(words.get(word.lower(), word.capitalize()) for word in name.split("_"))


def _comments(result: Expectation) -> Iterator[str]:
    yield "# Band of 80 %: one measurement in ten lies below, one above"
    yield f"# {'size':>10}  {'time (us)':>28}  {'busbw (GB/s)':>28}  choice"
    for point in result.points:
        yield (
            f"# {show_size(point.size_bytes):>10}"
            f"  {band(point.time_s, scale=1e-6):>28}"
            f"  {band(busbw(point), scale=1e9):>28}"
            f"  {_choice(point)}, {point.channels} channels; {point.limit}"
        )
    yield "#"
    yield from _measured(result)
    for title, lines in (
        ("reason", _reasons(result)),
        ("assumes", result.provenance.assumptions),
    ):
        yield from (f"# {title}: {line}" for line in lines)
    yield from (f"# {line}" for line in footer(result.provenance))


def _reasons(result: Expectation) -> tuple[str, ...]:
    return tuple(dict.fromkeys(line for point in result.points for line in point.reasons))


def _title(result: Expectation) -> str:
    peak = collective_rate(result.peak_busbw_bytes_per_s)
    name, gpus = result.operation.value, f"{result.ranks} GPUs of {result.cluster.name}"
    return f"{name} on {gpus}: peak busbw {peak}"


def _answer(result: Expectation) -> Iterator[Block]:
    yield Facts(pairs=tuple(_brief(result)))
    yield _screen(result)
    if result.measured:
        outside = [show_size(run.size_bytes) for run in result.measured if not run.inside]
        others = f"; outside: {listed(outside, MOST_OUTSIDE)}" if outside else ""
        yield Sentences(lines=(f"{_verdict(result)}{others}",))


def _brief(result: Expectation) -> Iterator[tuple[str, str]]:
    facts = dict(_facts(result))
    yield "cluster", f"{facts['cluster']}, {facts['network']}"
    yield "ranks", f"{facts['ranks']}; NCCL {facts['NCCL']}"
    yield "estimate", result.domain
    for answer in result.answers[:1]:
        before, after = map(_ends, (answer.before, answer.after))
        yield "to narrow it", f"state {answer.key}: band {before} becomes {after} GB/s"


def _ends(rate: Estimate) -> str:
    return f"{figures(rate.low / 1e9)}-{figures(rate.high / 1e9)}"


def _screen(result: Expectation) -> Table:
    """Show sizes evenly spaced in so many rows, the largest always."""
    step = -(-len(result.points) // MOST_SIZES)
    shown = result.points[::-1][::step][::-1]
    which = f", {len(shown)} of {len(result.points)} sizes" if step > 1 else ""
    return table(
        shown,
        {"size": "size_bytes", "time": "time_s", "busbw GB/s": _rate, "NCCL's choice": _choice},
        title=f"In brackets the 80 % band{which}",
        left=(3,),
    )


def _rate(point: CollectiveTime) -> str:
    """Show a bus bandwidth as nccl-tests does, whose two decimals end at 0.01 GB/s."""
    rate = busbw(point)
    return band(rate, scale=1e9) if rate.low >= LEAST_RATE else "< 0.01"


def _blocks(result: Expectation) -> Iterator[Block]:
    yield Facts(title="Ranks", pairs=tuple(_facts(result)))
    yield Drawing(
        chart="busbw_curve",
        title=f"Expected {result.operation.value} busbw on {result.ranks} GPUs",
        rows=tuple(map(_curve_row, result.points)),
        marks={"measured": [_measured_row(run) for run in result.measured]},
    )
    columns: Columns = {
        "size": "size_bytes", "time": "time_s",
        "algbw GB/s": lambda point: figures(point.algbw_bytes_per_s / 1e9),
        "busbw GB/s": lambda point: band(busbw(point), scale=1e9),
        "NCCL's choice": lambda point: f"{_choice(point)}, {point.channels} ch.",
        "limit": "limit",
    }  # fmt: skip
    note = "In brackets the 80 % band: one measurement in ten lies below, one above."
    title = "Expected size by size"
    yield table(result.points, columns, title=title, left=(4, 5), notes=(note,))
    if result.measured:
        measured: Columns = {
            "size": "size_bytes", "time": "time_s",
            "busbw GB/s": lambda run: figures(run.busbw_bytes_per_s / 1e9), "band": _place,
        }  # fmt: skip
        note = _verdict(result)
        yield table(result.measured, measured, title="Measured", left=(3,), notes=(note,))
    yield Sentences(title="Why", lines=_reasons(result))


def _curve_row(point: CollectiveTime) -> dict[str, object]:
    rate = busbw(point)
    return {
        "size_bytes": point.size_bytes,
        "busbw": rate.value / 1e9,
        "low": rate.low / 1e9,
        "high": rate.high / 1e9,
        "choice": _choice(point),
    }


def _measured_row(run: Measured) -> dict[str, object]:
    busbw = run.busbw_bytes_per_s / 1e9
    return {"size_bytes": run.size_bytes, "busbw": busbw, "what": "measured"}


expectation = View(
    shows="weft.predict.collective.Expectation", verb="expect", title=_title,
    answer=_answer, blocks=_blocks, assumes=True, rest=_REST, text=_text,
    charts=("busbw_curve",),
)  # fmt: skip
