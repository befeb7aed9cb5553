"""`weft compare` of an inference service: networks side by side, and which to take."""

from collections.abc import Iterator

from weft.advise.serving import ServiceComparison, ServiceLine
from weft.predict.inference import spread_text
from weft.report.numbers import count, figures, money, percent, seconds, show_rate
from weft.report.page import Block, Columns, Facts, Sentences, Table, View, table
from weft.report.views._job import all_assumptions, cost_table

SCREEN_LINES = 40
"""Of the text without ``--full``; the first 24 hold the answer."""


def _answer(result: ServiceComparison) -> Iterator[Block]:
    yield Table(
        columns=("network", "$ per 1M", "more", "a token", "waits", "network", "verdict"),
        rows=tuple(map(_cells, result.lines)),
        left=(0, 6),
        notes=("waits: share of a decode step in which GPUs wait for the scale-out network",),
    )
    yield Table(
        title="Found",
        columns=("network", "parallelism", "NICs of a host", "topology"),
        rows=tuple(map(_chosen, result.lines)),
        left=(0, 1, 2, 3),
    )
    objections = (f"{line.name}: {why}" for line in result.lines for why in line.objections)
    yield Sentences(title="Not recommended", lines=tuple(objections))
    left_out = tuple(f"{network.name}: {network.reason}" for network in result.left_out)
    yield Sentences(title="Left out", lines=left_out)


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


def _blocks(result: ServiceComparison) -> Iterator[Block]:
    yield Facts(title="Question", pairs=_question(result))
    columns: Columns = {
        "network": "name", "first token": "prediction.first_token_s",
        "a token": "prediction.token_s",
        "throughput": lambda line: count(line.prediction.tokens_per_s, "tokens/s"),
        "$ per 1M": "prediction.usd_per_1m_tokens",
        "ratio": lambda line: f"{figures(line.cost_ratio.low)}-{figures(line.cost_ratio.high)}",
    }  # fmt: skip
    note = "ratio: cost of a token over the cheapest, errors that both share cancelled"
    yield table(result.lines, columns, title="With 80 % bands", notes=(note,))
    yield cost_table({line.name: line.prediction.cost for line in result.lines}, result.years)
    yield all_assumptions(result.provenance, (line.prediction for line in result.lines))


service_comparison = View(
    shows="weft.advise.serving.ServiceComparison", verb="compare",
    title=lambda result: result.sentence, answer=_answer, blocks=_blocks,
    screen_lines=SCREEN_LINES, charts=(),
)  # fmt: skip
