"""`weft simulate`: completions with their tails, links, curves over time."""

from collections.abc import Iterator
from math import inf

import numpy as np

from weft.predict.simulation import Quantiles, Simulation, Skipped, TrafficOutcome
from weft.report.numbers import (
    amount,
    collective_rate,
    count,
    figures,
    percent,
    seconds,
    show_rate,
    size_unit,
)
from weft.report.page import Block, Columns, Drawing, Facts, Sentences, Table, View, table
from weft.units import SECONDS, gbit_from_rate

SHOWN_LINKS, SHOWN_VICTIMS, SHOWN_TRAFFIC = 10, 6, 2
COMPLETION = (
    "Completion: from the begin of a run to its last flow; in brackets four of five runs and "
    "seeds."
)
UNLIMITED_BYTES = 1 << 40
SPREAD_COLUMNS = ("runs", "completion p50", "p99", "least", "most", "most / least")
SPREAD_NOTE = (
    "Completions of all runs and seeds: with few of them the 99th of 100 lies near the most."
)


def _title(result: Simulation) -> str:
    ended = {own.name: own.completion_s for own in result.traffic if own.completion_s}
    times = [f"{name} takes {seconds(time)}" for name, time in ended.items()][:SHOWN_TRAFFIC]
    return f"Simulation of {result.scenario.name}{': ' if times else ''}{', '.join(times)}"


def _answer(result: Simulation) -> Iterator[Block]:
    yield Facts(pairs=tuple(_facts(result)))
    yield _traffic(result)
    yield _links(result)


def _blocks(result: Simulation) -> Iterator[Block]:
    yield from _jobs(result)
    yield from _drawings(result)
    yield _layers(result)
    yield from _classes(result)
    yield from _pauses(result)
    rows = tuple(spread_rows(result))
    if len(result.seeds) > 1 and rows:
        columns = ("traffic", *SPREAD_COLUMNS)
        yield Table(title="Spread over seeds", columns=columns, rows=rows, notes=(SPREAD_NOTE,))
    yield _seeds(result)
    yield Facts(title="Settings", pairs=tuple(_settings(result)))


def _facts(result: Simulation) -> Iterator[tuple[str, str]]:
    cluster, host = result.scenario.cluster, result.scenario.cluster.host
    yield "cluster", f"{cluster.name}, {cluster.hosts} hosts, {cluster.fabric.kind}"
    rate = show_rate(host.nic_bytes_per_s)
    yield "network", f"{cluster.topology.kind}, {host.nics} x {rate} a host"
    named = (result.settings.get(key) for key in ("flow_control", "congestion", "balancing"))
    yield "set up", ", ".join(str(setting) for setting in named if setting is not None)
    if result.scenario.faults:
        yield "faults", ", ".join(result.scenario.faults)
    yield "seeds", ", ".join(str(run.seed) for run in result.seeds)
    if not result.complete:
        yield "complete", _why(result)
    if result.skipped is not None:
        yield "skipped", _skipped(result.skipped)


def _skipped(part: Skipped) -> str:
    """Say what was not simulated, and the error."""
    if part.refused is not None:
        return f"nothing: {part.refused}"
    if part.states == part.runs == 0:
        return "nothing: no state was steady for long, and no run was like two before it"
    error = "error not measured (skip_check: true)"
    if part.error_ratio is not None and part.flow_error_ratio is not None:
        error = (
            f"error {part.error_ratio:+.2%} at the end, below {part.flow_error_ratio:.2%} for "
            "99 of 100 flows"
        )
    return f"{percent(part.bytes_ratio)} of the bytes, {part.runs} whole runs; {error}"


def _why(result: Simulation) -> str:
    if result.interrupted:
        return "no: it was interrupted; what follows happened until then"
    return f"no: some traffic had not ended at the limit of {seconds(result.scenario.until_s)}"


def _traffic(result: Simulation) -> Table:
    return Table(
        title="Traffic",
        columns=(
            "traffic", "flows", "completion", "busbw", "flow p50", "p99", "p99.9",
            "slowdown p50", "p99", "p99.9", "fairness",
        ),
        rows=tuple(map(_traffic_cells, result.traffic)),
        notes=(
            COMPLETION,
            "Slowdown: time of a flow over its time alone. Fairness: Jain's index, 1 is fair.",
            *(
                f"{own.name}: {own.unfinished} flows did not end; they are not counted."
                for own in result.traffic if own.unfinished
            ),
        ),
        least=(4, 6, 9, 10, 1, 7),
    )  # fmt: skip


def _traffic_cells(own: TrafficOutcome) -> tuple[str, ...]:
    rate = own.busbw_bytes_per_s
    return (
        own.name,
        str(own.flows),
        "-" if own.completion_s is None else seconds(own.completion_s),
        "-" if rate is None else collective_rate(rate.value),
        *_times(own.flow_s),
        *_ratios(own.slowdown_ratio),
        "-" if own.fairness_ratio is None else figures(own.fairness_ratio),
    )


def _times(tail: Quantiles | None) -> tuple[str, ...]:
    return ("-",) * 3 if tail is None else tuple(map(seconds, (tail.p50, tail.p99, tail.p999)))


def _ratios(tail: Quantiles | None) -> tuple[str, ...]:
    return ("-",) * 3 if tail is None else tuple(map(figures, (tail.p50, tail.p99, tail.p999)))


def _jobs(result: Simulation) -> Iterator[Table]:
    """Show runs where there are several of one traffic, or what they take alone."""
    if all(job.runs <= len(result.seeds) and job.alone_s is None for job in result.jobs):
        return
    yield Table(
        title="Runs",
        columns=("traffic", "runs", "p50", "p99", "alone p50", "p99", "slowdown p50", "p99"),
        rows=tuple(
            (job.name, str(job.runs), *_times(job.run_s)[:2], *_times(job.alone_s)[:2],
             *_ratios(job.slowdown_ratio)[:2])
            for job in result.jobs
        ),
        notes=(
            "A run: one repetition, or one collective of a job; all seeds.",
            "Slowdown: time of a run over that of the same run with no other traffic (alone).",
        ),
    )  # fmt: skip


def _layers(result: Simulation) -> Table:
    pauses = _pauses_links(result)
    columns: Columns = {
        "layer": "name", "links": "links", "mean use": "utilisation_ratio",
        "busiest / mean": lambda layer: figures(layer.imbalance_ratio),
    }  # fmt: skip
    queues: Columns = {
        "longest queue": lambda layer: amount(layer.largest_queue_bytes),
        "paused": lambda layer: percent(layer.paused_ratio or 0.0) if pauses else "-",
        "marks": "marks",
    }
    every = {**columns, **queues} if _queues(result) else columns
    return table(result.layers, every, title="Links by layer", notes=(_paused_note(result),))


def _paused_note(result: Simulation) -> str:
    seed = f"Seed {result.seeds[0].seed}."
    if not _queues(result):
        return f"{seed} Flows have no queues, pauses or marks."
    if _pauses_links(result):
        return f"{seed} Paused: share of the time, mean over the links."
    return f"{seed} Nothing pauses links here; waits for credit are counted, not timed."


def _pauses_links(result: Simulation) -> bool:
    """Say whether the flow control of any class pauses links."""
    return "pfc" in {
        result.settings.get("flow_control"),
        *(own.flow_control for own in result.classes),
    }


def _queues(result: Simulation) -> bool:
    """Whether the engine had queues to look at."""
    return all(layer.largest_queue_bytes is not None for layer in result.layers)


def _links(result: Simulation) -> Block:
    columns: Columns = {"link": "name", "use": "utilisation_ratio"}
    if not _queues(result):
        note = "Use: of their rate, from begin to end of all traffic."
        return table(
            result.links[:SHOWN_LINKS], columns, title="Busiest links", notes=(note,)
        )  # fmt: skip
    frame = sum(float(result.settings[key] or 0) for key in ("mtu_bytes", "header_bytes"))
    suffered = [
        link for link in result.links
        if (link.largest_queue_bytes or 0) > 2 * frame or link.pauses
    ]  # fmt: skip
    title = "Links that suffered most"
    if not suffered:
        nothing = "None: no queue held more than two packets, and nothing had to wait."
        return Sentences(title=title, lines=(nothing,))
    pauses = _pauses_links(result)
    queues: Columns = {
        "longest queue": lambda link: amount(link.largest_queue_bytes),
        "paused": lambda link: seconds(link.paused_s or 0.0) if pauses else "-",
        "pauses": "pauses",
        "marks": "marks",
    }
    note = "Pauses count waits for credit too; a paused link holds back the end it leaves."
    shown = suffered[:SHOWN_LINKS]
    return table(shown, {**columns, **queues}, title=title, notes=(note,))


def _classes(result: Simulation) -> Iterator[Table]:
    if result.classes:
        columns: Columns = {
            "class": "name", "set up": lambda own: f"{own.flow_control}, {own.congestion}",
            "priority": "priority", "weight": "weight",
            "longest queue": lambda own: amount(own.largest_queue_bytes),
            "paused": "paused_s", "pauses": "pauses", "marks": "marks", "drops": "drops",
        }  # fmt: skip
        note = "Over all links. A queue is that of one class at one port."
        title = "Traffic classes"
        yield table(result.classes, columns, title=title, left=(0, 1), notes=(note,))


def _pauses(result: Simulation) -> Iterator[Block]:
    if result.deadlock:
        yield Sentences(
            title="Deadlock",
            lines=("These links wait for one another and will for ever:", *result.deadlock),
        )
    if result.pause_roots:
        roots = {"queue of": "link", "paused others": "own_s", "links that stopped": "links"}
        note = "Time for which it was not paused itself, added over the links it paused."
        yield table(result.pause_roots, roots, title="Where pauses came from", notes=(note,))
    if result.pause_victims:
        columns: Columns = {
            "flow": "name", "traffic": "traffic",
            "slowdown": lambda flow: figures(flow.slowdown_ratio or inf),
        }  # fmt: skip
        worst = result.pause_victims[:SHOWN_VICTIMS]
        yield table(worst, columns, title="Victims", notes=(_victims_note(result),))


def _victims_note(result: Simulation) -> str:
    return (
        f"{result.victims} flows came from paused hosts and went elsewhere than to the worst "
        "queue above; the slowest are shown."
    )


def spread_rows(result: Simulation) -> Iterator[tuple[str, ...]]:
    """Yield a row for each traffic that ended at least once."""
    for traffic in result.traffic:
        if traffic.completions_s:
            yield (traffic.name, *spread_cells(traffic))


def spread_cells(traffic: TrafficOutcome) -> tuple[str, ...]:
    """Show middle, tail and ends of the completions of a traffic."""
    found = sorted(traffic.completions_s)
    least, most = found[0], found[-1]
    shown = (*map(float, np.quantile(found, (0.5, 0.99))), least, most)
    return (str(len(found)), *(seconds(time) for time in shown), figures(most / least))


def _seeds(result: Simulation) -> Table:
    names = [name for name in result.seeds[0].counts
             if any(run.counts[name] for run in result.seeds)]  # fmt: skip
    rows = (
        (
            str(run.seed),
            seconds(run.completion_s) + ("" if run.complete else " (not all)"),
            *(count(float(run.counts[name])) for name in names),
        )
        for run in result.seeds
    )
    return Table(
        title="What was counted",
        columns=("seed", "end of all traffic", *(name.replace("_", " ") for name in names)),
        rows=tuple(rows),
    )


def _settings(result: Simulation) -> Iterator[tuple[str, str]]:
    for name, value in result.settings.items():
        if value is not None:
            yield _called(name), _setting(name, value)


def _setting(name: str, value: object) -> str:
    if name.endswith("_bytes") and isinstance(value, int | float):
        return amount(value) if value < UNLIMITED_BYTES else "unlimited"
    if name.endswith("_ps") and isinstance(value, int | float):
        return seconds(float(value) * SECONDS["ps"])
    if isinstance(value, bool):
        return "yes" if value else "no"
    return figures(value) if isinstance(value, float) else str(value)


def _called(name: str) -> str:
    """Return a field's name without its unit, which its value shows."""
    for end in ("_bytes", "_ps", "_ratio"):
        name = name.removesuffix(end)
    return name.replace("_", " ")


def _drawings(result: Simulation) -> Iterator[Drawing]:
    title = result.scenario.name
    longest_s = max((bar.end_s for bar in result.bars), default=0.0)
    unit = next((unit for unit in ("s", "ms") if longest_s >= SECONDS[unit]), "us")
    if result.bars:
        yield Drawing(
            chart="simulation_timeline",
            name="timeline",
            title=f"Flows of {title} (seed {result.seeds[0].seed})",
            rows=tuple(
                {"flow": bar.name, "traffic": bar.traffic, "begin": bar.begin_s / SECONDS[unit],
                 "end": bar.end_s / SECONDS[unit], "ended": bar.ended}
                for bar in result.bars
            ),
            marks={"unit": unit, "flows": result.begun},
        )  # fmt: skip
    if result.queues:
        yield _queue_drawing(result, unit)
    if any(own.slowdown_ratio for own in result.traffic):
        yield Drawing(
            chart="slowdown_tail",
            name="slowdown",
            title=f"Slowdown of the flows of {title}",
            rows=tuple(_slowdown_rows(result)),
        )


def _queue_drawing(result: Simulation, unit: str) -> Drawing:
    longest = max(max(curve.queue_bytes, default=0) for curve in result.queues)
    size_name, size = size_unit(longest)
    times = [0.0, *(moment.time_s / SECONDS[unit] for moment in result.moments)]
    rates = [0.0, *(gbit_from_rate(m.delivered_bytes_per_s) / 1000 for m in result.moments)]
    received = [{"time": time, "rate": rate} for time, rate in zip(times, rates, strict=True)]
    return Drawing(
        chart="queue_depth",
        name="queue",
        title=f"Longest queues of {result.scenario.name} (seed {result.seeds[0].seed})",
        rows=tuple(
            {"link": curve.link, "time": time, "queue": queue / size}
            for curve in result.queues
            for time, queue in zip(times, (0, *curve.queue_bytes), strict=True)
        ),
        marks={"unit": unit, "size_unit": size_name, "rates": received},
    )


def _slowdown_rows(result: Simulation) -> Iterator[dict[str, object]]:
    for own in result.traffic:
        if tail := own.slowdown_ratio:
            for point, value in (("p50", tail.p50), ("p99", tail.p99), ("p99.9", tail.p999)):
                yield {"traffic": own.name, "point": point, "slowdown": max(1.0, value)}


simulation = View(
    shows="weft.predict.simulation.Simulation", verb="simulate", title=_title,
    answer=_answer, blocks=_blocks, assumes=True, charts=("timeline", "slowdown", "queue"),
)  # fmt: skip
