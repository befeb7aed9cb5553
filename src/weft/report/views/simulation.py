"""`weft simulate`: completions with their tails, links, curves over time."""

from collections.abc import Iterator
from math import inf

from weft.predict.simulation import (
    ClassOutcome,
    JobOutcome,
    LayerOutcome,
    LinkOutcome,
    Quantiles,
    Simulation,
    Skipped,
    TrafficOutcome,
)
from weft.report.numbers import collective_rate, count, figures, percent, seconds, show_rate
from weft.report.page import Block, Drawing, Facts, Page, Sentences, Table, View, rows_of
from weft.report.views._provenance import footer
from weft.report.views._seeds import SPREAD_COLUMNS, SPREAD_NOTE, spread_rows
from weft.units import SECONDS, gbit_from_rate

SHOWN_LINKS, SHOWN_VICTIMS, SHOWN_TRAFFIC = 10, 6, 2
UNLIMITED_BYTES = 1 << 40
EXACT_BELOW_BYTES = 10_000
_SIZES = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0))


def _page(result: Simulation) -> Page:
    blocks: tuple[Block, ...] = (
        *_jobs(result),
        *_drawings(result),
        _layers(result),
        *_classes(result),
        *_pauses(result),
        *_spread(result),
        _seeds(result),
        Facts(title="Settings", pairs=tuple(_settings(result))),
        Sentences(title="Assumptions", lines=result.provenance.assumptions),
    )
    return Page(
        title=_title(result),
        answer=(Facts(pairs=tuple(_facts(result))), _traffic(result), _links(result)),
        blocks=blocks,
        footer=footer(result.provenance),
    )


def _title(result: Simulation) -> str:
    ended = [one for one in result.traffic if one.completion_s is not None]
    times = ", ".join(
        f"{one.name} takes {seconds(one.completion_s)}"
        for one in ended[:SHOWN_TRAFFIC]
        if one.completion_s is not None
    )
    return f"Simulation of {result.scenario.name}{': ' if times else ''}{times}"


def _facts(result: Simulation) -> Iterator[tuple[str, str]]:
    cluster = result.scenario.cluster
    host = cluster.host
    yield "cluster", f"{cluster.name}, {cluster.hosts} hosts, {cluster.fabric.kind}"
    yield (
        "network",
        (f"{cluster.topology.kind}, {host.nics} x {show_rate(host.nic_bytes_per_s)} a host"),
    )
    named = (result.settings.get(key) for key in ("flow_control", "congestion", "balancing"))
    yield "set up", ", ".join(str(one) for one in named if one is not None)
    if result.scenario.faults:
        yield "faults", ", ".join(result.scenario.faults)
    yield "seeds", ", ".join(str(one.seed) for one in result.seeds)
    if not result.complete:
        yield "complete", _why(result)
    if result.skipped is not None:
        yield "skipped", _skipped(result.skipped)


def _skipped(one: Skipped) -> str:
    """Say what was not simulated, and the error."""
    if one.refused is not None:
        return f"nothing: {one.refused}"
    if one.states == one.runs == 0:
        return "nothing: no state was steady for long, and no run was like two before it"
    error = "error not measured (skip_check: true)"
    if one.error_ratio is not None and one.flow_error_ratio is not None:
        error = (
            f"error {one.error_ratio:+.2%} at the end, below {one.flow_error_ratio:.2%} for "
            "99 of 100 flows"
        )
    return f"{percent(one.bytes_ratio)} of the bytes, {one.runs} whole runs; {error}"


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
        rows=rows_of(*(_traffic_cells(one) for one in result.traffic)),
        notes=tuple(_notes(result)),
        least=(4, 6, 9, 10, 1, 7),
    )  # fmt: skip


def _notes(result: Simulation) -> Iterator[str]:
    yield (
        "Completion: from the begin of a run to its last flow; in brackets four of five runs "
        "and seeds."
    )
    yield "Slowdown: time of a flow over its time alone. Fairness: Jain's index, 1 is fair."
    for one in result.traffic:
        if one.unfinished:
            yield f"{one.name}: {one.unfinished} flows did not end; they are not counted."


def _traffic_cells(one: TrafficOutcome) -> tuple[str, ...]:
    return (
        one.name,
        str(one.flows),
        "-" if one.completion_s is None else seconds(one.completion_s),
        "-" if one.busbw_bytes_per_s is None else collective_rate(one.busbw_bytes_per_s.value),
        *(_three(one.flow_s, time=True)),
        *(_three(one.slowdown_ratio, time=False)),
        "-" if one.fairness_ratio is None else figures(one.fairness_ratio),
    )


def _three(one: Quantiles | None, *, time: bool) -> tuple[str, str, str]:
    if one is None:
        return "-", "-", "-"
    show = seconds if time else figures
    return show(one.p50), show(one.p99), show(one.p999)


def _jobs(result: Simulation) -> Iterator[Table]:
    """Show runs where there are several of one traffic, or what they take alone."""
    if all(one.runs <= len(result.seeds) and one.alone_s is None for one in result.jobs):
        return
    yield Table(
        title="Runs",
        columns=("traffic", "runs", "p50", "p99", "alone p50", "p99", "slowdown p50", "p99"),
        rows=rows_of(*(_job_cells(one) for one in result.jobs)),
        notes=(
            "A run: one repetition, or one collective of a job; all seeds.",
            "Slowdown: time of a run over that of the same run with no other traffic (alone).",
        ),
    )


def _job_cells(one: JobOutcome) -> tuple[str, ...]:
    return (
        one.name,
        str(one.runs),
        *_three(one.run_s, time=True)[:2],
        *_three(one.alone_s, time=True)[:2],
        *_three(one.slowdown_ratio, time=False)[:2],
    )


def _size(size_bytes: float) -> str:
    """Show an amount of buffer in powers of ten, as switches count it.

    >>> _size(1_234_567), _size(0)
    ('1.23 MB', '0 B')
    """
    if size_bytes < EXACT_BELOW_BYTES:
        return f"{size_bytes:.0f} B"
    unit, scale = next(u for u in _SIZES if size_bytes >= u[1])
    return f"{figures(size_bytes / scale)} {unit}"


def _layers(result: Simulation) -> Table:
    head = ("layer", "links", "mean use", "busiest / mean")
    more = ("longest queue", "paused", "marks") if _queues(result) else ()
    return Table(
        title="Links by layer",
        columns=(*head, *more),
        rows=rows_of(*(_layer_cells(result, one) for one in result.layers)),
        notes=(_paused_note(result),),
    )  # fmt: skip


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
        *(c.flow_control for c in result.classes),
    }


def _layer_cells(result: Simulation, one: LayerOutcome) -> tuple[str, ...]:
    return (
        one.name,
        str(one.links),
        percent(one.utilisation_ratio),
        figures(one.imbalance_ratio),
        *_queue_cells(
            one.largest_queue_bytes,
            percent(one.paused_ratio or 0.0) if _pauses_links(result) else "-",
            one.marks,
        ),
    )


def _queue_cells(queue_bytes: int | None, paused: str, *counts: int | None) -> tuple[str, ...]:
    """Show what happened in a queue; nothing where there are none."""
    if queue_bytes is None:
        return ()
    return (_size(queue_bytes), paused, *(str(count) for count in counts))


def _queues(result: Simulation) -> bool:
    """Whether the engine had queues to look at."""
    return all(one.largest_queue_bytes is not None for one in result.layers)


def _links(result: Simulation) -> Block:
    if not _queues(result):
        return Table(
            title="Busiest links",
            columns=("link", "use"),
            rows=rows_of(*(_link_cells(result, one) for one in result.links[:SHOWN_LINKS])),
            notes=("Use: of their rate, from begin to end of all traffic.",),
        )
    frame = float(result.settings["mtu_bytes"] or 0) + float(
        result.settings["header_bytes"] or 0
    )
    suffered = [
        one for one in result.links if (one.largest_queue_bytes or 0) > 2 * frame or one.pauses
    ]
    if not suffered:
        return Sentences(
            title="Links that suffered most",
            lines=("None: no queue held more than two packets, and nothing had to wait.",),
        )
    return Table(
        title="Links that suffered most",
        columns=("link", "use", "longest queue", "paused", "pauses", "marks"),
        rows=rows_of(*(_link_cells(result, one) for one in suffered[:SHOWN_LINKS])),
        notes=(
            "Pauses count waits for credit too; a paused link holds back the end it leaves.",
        ),
    )


def _classes(result: Simulation) -> Iterator[Table]:
    if result.classes:
        yield Table(
            title="Traffic classes",
            columns=(
                "class", "set up", "priority", "weight", "longest queue", "paused", "pauses",
                "marks", "drops",
            ),
            rows=rows_of(*(_class_cells(one) for one in result.classes)),
            left=(0, 1),
            notes=("Over all links. A queue is that of one class at one port.",),
        )  # fmt: skip


def _class_cells(one: ClassOutcome) -> tuple[str, ...]:
    return (
        one.name,
        f"{one.flow_control}, {one.congestion}",
        str(one.priority),
        figures(one.weight),
        _size(one.largest_queue_bytes),
        seconds(one.paused_s),
        str(one.pauses),
        str(one.marks),
        str(one.drops),
    )


def _link_cells(result: Simulation, one: LinkOutcome) -> tuple[str, ...]:
    return (
        one.name,
        percent(one.utilisation_ratio),
        *_queue_cells(
            one.largest_queue_bytes,
            seconds(one.paused_s or 0.0) if _pauses_links(result) else "-",
            one.pauses,
            one.marks,
        ),
    )


def _pauses(result: Simulation) -> Iterator[Block]:
    if result.deadlock:
        yield Sentences(
            title="Deadlock",
            lines=("These links wait for one another and will for ever:", *result.deadlock),
        )
    if result.pause_roots:
        yield Table(
            title="Where pauses came from",
            columns=("queue of", "paused others", "links that stopped"),
            rows=rows_of(
                *((one.link, seconds(one.own_s), str(one.links)) for one in result.pause_roots)
            ),
            notes=("Time for which it was not paused itself, added over the links it paused.",),
        )
    if result.pause_victims:
        worst = result.pause_victims[:SHOWN_VICTIMS]
        yield Table(
            title="Victims",
            columns=("flow", "traffic", "slowdown"),
            rows=rows_of(
                *((one.name, one.traffic, figures(one.slowdown_ratio or inf)) for one in worst)
            ),
            left=(0, 1),
            notes=(_victims_note(result),),
        )


def _victims_note(result: Simulation) -> str:
    return (
        f"{result.victims} flows came from paused hosts and went elsewhere than to the worst "
        "queue above; the slowest are shown."
    )


def _spread(result: Simulation) -> Iterator[Table]:
    rows = tuple(spread_rows(result))
    if len(result.seeds) > 1 and rows:
        yield Table(
            title="Spread over seeds",
            columns=("traffic", *SPREAD_COLUMNS),
            rows=rows,
            notes=(SPREAD_NOTE,),
        )


def _seeds(result: Simulation) -> Table:
    names = [n for n in result.seeds[0].counts if any(one.counts[n] for one in result.seeds)]
    return Table(
        title="What was counted",
        columns=("seed", "end of all traffic", *(name.replace("_", " ") for name in names)),
        rows=rows_of(
            *(
                (
                    str(one.seed),
                    seconds(one.completion_s) + ("" if one.complete else " (not all)"),
                    *(count(float(one.counts[name])) for name in names),
                )
                for one in result.seeds
            )
        ),
    )


def _settings(result: Simulation) -> Iterator[tuple[str, str]]:
    for name, value in result.settings.items():
        if value is not None:
            yield _called(name), _setting(name, value)


def _setting(name: str, value: object) -> str:
    if name.endswith("_bytes") and isinstance(value, int | float):
        return _size(float(value)) if value < UNLIMITED_BYTES else "unlimited"
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
    unit, scale = _time_unit(max((one.end_s for one in result.bars), default=0.0))
    if result.bars:
        yield Drawing(
            chart="simulation_timeline",
            name="timeline",
            title=f"Flows of {title} (seed {result.seeds[0].seed})",
            rows=tuple(
                {
                    "flow": one.name,
                    "traffic": one.traffic,
                    "begin": one.begin_s / scale,
                    "end": one.end_s / scale,
                    "ended": one.ended,
                }
                for one in result.bars
            ),
            marks={"unit": unit, "flows": result.begun},
        )
    if result.queues:
        yield _queue_drawing(result, unit, scale)
    if any(one.slowdown_ratio for one in result.traffic):
        yield Drawing(
            chart="slowdown_tail",
            name="slowdown",
            title=f"Slowdown of the flows of {title}",
            rows=tuple(_slowdown_rows(result)),
        )


def _time_unit(longest_s: float) -> tuple[str, float]:
    return next(((u, SECONDS[u]) for u in ("s", "ms", "us") if longest_s >= SECONDS[u]),
                ("us", SECONDS["us"]))  # fmt: skip


def _queue_drawing(result: Simulation, unit: str, scale: float) -> Drawing:
    longest = max(max(curve.queue_bytes, default=0) for curve in result.queues)
    size_unit, size = next((u for u in _SIZES if longest >= u[1]), _SIZES[-1])
    times = [0.0, *(moment.time_s / scale for moment in result.moments)]
    rates = [moment.delivered_bytes_per_s for moment in result.moments]
    return Drawing(
        chart="queue_depth",
        name="queue",
        title=f"Longest queues of {result.scenario.name} (seed {result.seeds[0].seed})",
        rows=tuple(
            {"link": curve.link, "time": time, "queue": queue / size}
            for curve in result.queues
            for time, queue in zip(times, (0, *curve.queue_bytes), strict=True)
        ),
        marks={
            "unit": unit,
            "size_unit": size_unit,
            "rates": [
                {"time": time, "rate": gbit_from_rate(rate) / 1000}
                for time, rate in zip(times, (0.0, *rates), strict=True)
            ],
        },
    )


def _slowdown_rows(result: Simulation) -> Iterator[dict[str, object]]:
    for one in result.traffic:
        tail = one.slowdown_ratio
        if tail is not None:
            for point, value in (("p50", tail.p50), ("p99", tail.p99), ("p99.9", tail.p999)):
                yield {"traffic": one.name, "point": point, "slowdown": max(1.0, value)}


simulation = View(
    shows="weft.predict.simulation.Simulation",
    verb="simulate",
    page=_page,
    charts=("timeline", "slowdown", "queue"),
)
