"""`weft simulate` of several scenarios: their completions over seeds, side by side."""

from collections.abc import Iterator

from weft.predict.simulation import Simulation, Sweep
from weft.report.numbers import collective_rate, figures
from weft.report.page import Block, Facts, Table, View
from weft.report.views.simulation import SPREAD_COLUMNS, SPREAD_NOTE, spread_cells


def _title(result: Sweep) -> str:
    names = ", ".join(simulation.scenario.name for simulation in result.simulations)
    return f"Simulations of {names}"


def _answer(result: Sweep) -> Iterator[Block]:
    yield Facts(pairs=tuple(_facts(result)))
    yield Table(
        title="Completions over seeds",
        columns=("scenario", "traffic", *SPREAD_COLUMNS, "busbw", "slowdown p99"),
        rows=tuple(row for own in result.simulations for row in _traffic(own)),
        left=(0, 1),
        notes=(SPREAD_NOTE,),
        least=(5, 7, 2, 8),
    )


def _facts(result: Sweep) -> Iterator[tuple[str, str]]:
    for own in result.simulations:
        seeds = ", ".join(str(run.seed) for run in own.seeds)
        how = [own.settings[key] for key in ("flow_control", "congestion", "balancing")]
        kind = own.scenario.cluster.fabric.kind
        yield own.scenario.name, f"{kind}: {', '.join(map(str, how))}; seeds {seeds}"
    if not result.complete:
        short = [own.scenario.name for own in result.simulations if not own.complete]
        missing = [f"{', '.join(short)} did not end"] if short else []
        if result.left_out:
            missing.append(f"{', '.join(result.left_out)} did not begin")
        yield "complete", f"no: {'; '.join(missing)}"


def _traffic(result: Simulation) -> Iterator[tuple[str, ...]]:
    for traffic in result.traffic:
        spread = spread_cells(traffic) if traffic.completions_s else ("0", *("-",) * 5)
        rate, slowdown = traffic.busbw_bytes_per_s, traffic.slowdown_ratio
        yield (
            result.scenario.name,
            traffic.name,
            *spread,
            "-" if rate is None else collective_rate(rate.value),
            "-" if slowdown is None else figures(slowdown.p99),
        )


sweep = View(
    shows="weft.predict.simulation.Sweep", verb="simulate", title=_title, answer=_answer,
    assumes=True, charts=(),
)  # fmt: skip
