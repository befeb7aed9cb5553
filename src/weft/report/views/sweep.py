"""`weft simulate` of several scenarios: their completions over seeds, side by side."""

from collections.abc import Iterator

from weft.predict.simulation import Simulation, Sweep
from weft.report.numbers import collective_rate, figures
from weft.report.page import Facts, Page, Sentences, Table, View, rows_of
from weft.report.views._provenance import footer
from weft.report.views._seeds import SPREAD_COLUMNS, SPREAD_NOTE, spread_cells


def _page(result: Sweep) -> Page:
    names = ", ".join(one.scenario.name for one in result.simulations)
    return Page(
        title=f"Simulations of {names}",
        answer=(
            Facts(pairs=tuple(_facts(result))),
            Table(
                title="Completions over seeds",
                columns=("scenario", "traffic", *SPREAD_COLUMNS, "busbw", "slowdown p99"),
                rows=rows_of(*_rows(result)),
                left=(0, 1),
                notes=(SPREAD_NOTE,),
                least=(5, 7, 2, 8),
            ),
        ),
        blocks=(Sentences(title="Assumptions", lines=result.provenance.assumptions),),
        footer=footer(result.provenance),
    )


def _facts(result: Sweep) -> Iterator[tuple[str, str]]:
    for one in result.simulations:
        seeds = ", ".join(str(s.seed) for s in one.seeds)
        how = one.settings
        yield (
            one.scenario.name,
            (
                f"{one.scenario.cluster.fabric.kind}: {how['flow_control']}, "
                f"{how['congestion']}, {how['balancing']}; seeds {seeds}"
            ),
        )
    if not result.complete:
        yield "complete", _why(result)


def _why(result: Sweep) -> str:
    short = [one.scenario.name for one in result.simulations if not one.complete]
    said = [f"{', '.join(short)} did not end"] if short else []
    if result.left_out:
        said.append(f"{', '.join(result.left_out)} did not begin")
    return f"no: {'; '.join(said)}"


def _rows(result: Sweep) -> Iterator[tuple[str, ...]]:
    for one in result.simulations:
        yield from _traffic(one)


def _traffic(result: Simulation) -> Iterator[tuple[str, ...]]:
    for one in result.traffic:
        spread = spread_cells(one) if one.completions_s else ("0", *("-",) * 5)
        rate = one.busbw_bytes_per_s
        yield (
            result.scenario.name,
            one.name,
            *spread,
            "-" if rate is None else collective_rate(rate.value),
            "-" if one.slowdown_ratio is None else figures(one.slowdown_ratio.p99),
        )


sweep = View(shows="weft.predict.simulation.Sweep", verb="simulate", page=_page, charts=())
