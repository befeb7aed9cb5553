"""`weft need`: how much network a target asks for, and where more stops to pay."""

from collections.abc import Iterator

from weft.advise.need import Need, Requirement
from weft.advise.wording import figure
from weft.report.numbers import count, figures, money, percent, seconds, tokens_per_s
from weft.report.page import Block, Columns, Drawing, Facts, Sentences, View, table
from weft.report.views._job import brief, defaults
from weft.units import gbit_from_rate

_METRICS = {
    "mfu_of_max": "MFU, as a share of what unlimited bandwidth gives",
    "mfu": "MFU",
    "tokens_per_s": "tokens per second",
    "step_s": "step time",
}


def _answer(result: Need) -> Iterator[Block]:
    yield Facts(pairs=brief(result.cluster, result.job))
    yield from defaults(result.provenance)
    yield _cheapest(result)
    columns: Columns = {
        "property": "title", "have": lambda found: figure(found.have, found.unit),
        "need": _needed, "met": "met",
    }  # fmt: skip
    title = "What the target needs, one thing at a time"
    yield table(result.requirements, columns, title=title, left=(0, 3))
    yield Facts(title="Target", pairs=_target(result))


def _cheapest(result: Need) -> Sentences:
    title = "Cheapest network that reaches it (* pinned)"
    least = result.cheapest
    if least is None:
        return Sentences(title=title, lines=("No network reaches the target.",))
    cost = least.prediction.cost
    parts = ", ".join(choice.value + "*" * choice.pinned for choice in least.chosen)
    line = (
        f"{least.title}: {money(cost.network_usd.value)} over {cost.years:g} years, "
        f"{seconds(least.prediction.step_s)} a step; {parts}."
    )
    return Sentences(title=title, lines=(line,))


def _target(result: Need) -> tuple[tuple[str, str], ...]:
    def show(value: float) -> str:
        if result.target.metric == "step_s":
            return seconds(value)
        return tokens_per_s(value) if result.target.metric == "tokens_per_s" else percent(value)

    asked = result.target.value
    share = percent(asked) if result.target.metric == "mfu_of_max" else show(asked)
    return (
        ("metric", _METRICS[result.target.metric]),
        ("target", share),
        ("wanted", show(result.wanted)),
        ("now", show(result.now)),
        ("with unlimited bandwidth", show(result.most)),
        ("reached", "yes" if result.reached else "no"),
    )


def _needed(found: Requirement) -> str:
    if found.need is None:
        return "out of reach"
    end = " (end of the search)" if found.bounded else ""
    return f"at {'least' if found.at_least else 'most'} {figure(found.need, found.unit)}{end}"


def _blocks(result: Need) -> Iterator[Block]:
    needs = {found.name: found.need for found in result.requirements}
    percents = [point.mfu_ratio * 100 for point in result.curve]
    rates = [gbit_from_rate(point.bytes_per_s_per_gpu) for point in result.curve]
    yield Drawing(
        chart="mfu_bandwidth",
        title="How much network is enough",
        rows=tuple(
            {"gbit_per_s": rate, "mfu": mfu, "low": mfu, "high": mfu}
            for rate, mfu in zip(rates, percents, strict=True)
        ),
        marks={
            "knee": gbit_from_rate(result.knee.bytes_per_s_per_gpu),
            "today": gbit_from_rate(result.cluster.nic_bytes_per_s_per_gpu),
            "need": needs.get("bandwidth"),
        },
    )
    columns: Columns = {
        "Gb/s per GPU": lambda point: figures(gbit_from_rate(point.bytes_per_s_per_gpu)),
        "MFU %": lambda point: figures(point.mfu_ratio * 100),
        "tokens/s": lambda point: count(point.tokens_per_s), "step": "step_s",
    }  # fmt: skip
    yield table(
        result.curve, columns, title="Speed against bandwidth", left=(),
        notes=(f"Knee: {result.knee.definition}.",),
    )  # fmt: skip


need = View(
    shows="weft.advise.need.Need", verb="need", title=lambda result: result.sentence,
    answer=_answer, blocks=_blocks, assumes=True,
)  # fmt: skip
