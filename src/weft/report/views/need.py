"""`weft need`: how much network a target asks for, and where more stops to pay."""

from weft.advise.need import Need, Requirement
from weft.advise.wording import figure
from weft.report.numbers import figures, money, percent, seconds, tokens_per_s
from weft.report.page import Drawing, Facts, Page, Sentences, Table, View, rows_of
from weft.report.views._provenance import defaults, footer
from weft.report.views._question import brief
from weft.units import gbit_from_rate

_METRICS = {
    "mfu_of_max": "MFU, as a share of what unlimited bandwidth gives",
    "mfu": "MFU",
    "tokens_per_s": "tokens per second",
    "step_s": "step time",
}


def _page(result: Need) -> Page:
    bandwidth = next((one for one in result.requirements if one.name == "bandwidth"), None)
    marks = {
        "knee": gbit_from_rate(result.knee.bytes_per_s_per_gpu),
        "today": gbit_from_rate(result.cluster.nic_bytes_per_s_per_gpu),
        "need": bandwidth.need if bandwidth else None,
    }
    return Page(
        title=result.sentence,
        answer=(
            Facts(pairs=brief(result.cluster, result.job, result.cluster.gpus)),
            *defaults(result.provenance),
            _cheapest(result),
            _requirements(result),
            Facts(title="Target", pairs=_target(result)),
        ),
        blocks=(
            Drawing(
                chart="mfu_bandwidth",
                title="How much network is enough",
                rows=tuple(
                    {
                        "gbit_per_s": gbit_from_rate(point.bytes_per_s_per_gpu),
                        "mfu": point.mfu_ratio * 100,
                        "low": point.mfu_ratio * 100,
                        "high": point.mfu_ratio * 100,
                    }
                    for point in result.curve
                ),
                marks=marks,
            ),
            _curve(result),
            Sentences(title="Assumptions", lines=result.provenance.assumptions),
        ),
        footer=footer(result.provenance),
    )


def _cheapest(result: Need) -> Sentences:
    title = "Cheapest network that reaches it (* pinned)"
    least = result.cheapest
    if least is None:
        return Sentences(title=title, lines=("No network reaches the target.",))
    cost = least.prediction.cost
    parts = ", ".join(one.value + "*" * one.pinned for one in least.chosen)
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


def _requirements(result: Need) -> Table:
    return Table(
        title="What the target needs, one thing at a time",
        columns=("property", "have", "need", "met"),
        rows=rows_of(*(_requirement(one) for one in result.requirements)),
        left=(0, 3),
    )


def _requirement(one: Requirement) -> tuple[str, ...]:
    least = "at least " if one.at_least else "at most "
    need = "out of reach" if one.need is None else f"{least}{figure(one.need, one.unit)}"
    need += " (end of the search)" if one.bounded and one.need is not None else ""
    met = "yes" if one.met else "no"
    return (one.title, figure(one.have, one.unit), need, met)


def _curve(result: Need) -> Table:
    return Table(
        title="Speed against bandwidth",
        columns=("Gb/s per GPU", "MFU %", "tokens/s", "step"),
        rows=rows_of(
            *(
                (
                    figures(gbit_from_rate(point.bytes_per_s_per_gpu)),
                    figures(point.mfu_ratio * 100),
                    tokens_per_s(point.tokens_per_s).removesuffix(" tokens/s"),
                    seconds(point.step_s),
                )
                for point in result.curve
            )
        ),
        left=(),
        notes=(f"Knee: {result.knee.definition}.",),
    )


need = View(shows="weft.advise.need.Need", verb="need", page=_page)
