"""`weft compare` of an inference service: networks side by side, and which to take."""

from weft.advise.serving import ServiceComparison, ServiceLine
from weft.predict.inference import spread_text
from weft.report.numbers import count, figures, money, percent, seconds, show_rate
from weft.report.page import Facts, Page, Sentences, Table, View, rows_of
from weft.report.views._cost import cost_table
from weft.report.views._provenance import footer

SCREEN_LINES = 40
"""Of the text without ``--full``; the first 24 hold the answer."""


def _page(result: ServiceComparison) -> Page:
    left_out = tuple(f"{one.name}: {one.reason}" for one in result.left_out)
    objections = tuple(
        f"{line.name}: {reason}" for line in result.lines for reason in line.objections
    )
    return Page(
        title=result.sentence,
        answer=(
            _table(result),
            _found(result),
            Sentences(title="Not recommended", lines=objections),
            Sentences(title="Left out", lines=left_out),
        ),
        blocks=(
            Facts(title="Question", pairs=_question(result)),
            _bands(result),
            cost_table({one.name: one.prediction.cost for one in result.lines}, result.years),
            Sentences(title="Assumptions", lines=_assumptions(result)),
        ),
        footer=footer(result.provenance),
    )


def _table(result: ServiceComparison) -> Table:
    return Table(
        columns=("network", "$ per 1M", "more", "a token", "waits", "network", "verdict"),
        rows=rows_of(*(_cells(line) for line in result.lines)),
        left=(0, 6),
        notes=("waits: share of a decode step in which GPUs wait for the scale-out network",),
    )


def _cells(line: ServiceLine) -> tuple[str, ...]:
    more, found = line.cost_ratio.value - 1, line.prediction
    return (
        line.name,
        money(found.usd_per_1m_tokens.value),
        percent(more) if more > 0 else "",
        seconds(found.token_s.value),
        percent(found.network_ratio.value),
        money(found.cost.network_usd.value),
        str(line.verdict.value),
    )


def _found(result: ServiceComparison) -> Table:
    return Table(
        title="Found",
        columns=("network", "parallelism", "NICs of a host", "topology"),
        rows=rows_of(*(_chosen(line) for line in result.lines)),
        left=(0, 1, 2, 3),
    )


def _chosen(line: ServiceLine) -> tuple[str, ...]:
    host, topology = line.prediction.cluster.host, line.prediction.cluster.topology
    spread = spread_text(line.prediction.service)
    if not host.nics:
        return (line.name, spread, "none", "none")
    nics = f"{host.nics} x {show_rate(host.nic_bytes_per_s)} {host.nic}"
    ratio = topology.oversubscription
    kind = topology.kind.replace("_", " ") + (f", {ratio:g}:1" if ratio > 1 else "")
    return (line.name, spread, nics, kind)


def _question(result: ServiceComparison) -> tuple[tuple[str, str], ...]:
    service, cluster = result.service, result.cluster
    shape = f"{service.prompt_tokens} tokens in, {service.output_tokens} out"
    return (
        ("cluster", f"{cluster.hosts} hosts of {cluster.host.gpus} {cluster.host.gpu}"),
        ("service", f"{service.model.name}, {service.precision}"),
        ("requests", f"{service.sequences} at once, {shape}"),
    )


def _bands(result: ServiceComparison) -> Table:
    rows = (
        (
            line.name,
            seconds(line.prediction.first_token_s),
            seconds(line.prediction.token_s),
            count(line.prediction.tokens_per_s, "tokens/s"),
            money(line.prediction.usd_per_1m_tokens),
            f"{figures(line.cost_ratio.low)}-{figures(line.cost_ratio.high)}",
        )
        for line in result.lines
    )
    return Table(
        title="With 80 % bands",
        columns=("network", "first token", "a token", "throughput", "$ per 1M", "ratio"),
        rows=rows_of(*rows),
        notes=("ratio: cost of a token over the cheapest, errors that both share cancelled",),
    )


def _assumptions(result: ServiceComparison) -> tuple[str, ...]:
    every = (a for line in result.lines for a in line.prediction.provenance.assumptions)
    return tuple(dict.fromkeys((*result.provenance.assumptions, *every)))


service_comparison = View(
    shows="weft.advise.serving.ServiceComparison",
    verb="compare",
    page=_page,
    screen_lines=SCREEN_LINES,
    charts=(),
)
