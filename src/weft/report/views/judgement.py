"""`weft bench judge`: the verdict, range by range, what fits the shape, the picture."""

from collections.abc import Iterator

from weft.bench.judge import LEAST_PROBABILITY, Judged, Judgement
from weft.bench.next_check import NextCheck
from weft.bench.shape import Candidate
from weft.bench.supposed import Supposition
from weft.bench.unseen import Unseen
from weft.bench.verdict import Outcome, RangeVerdict
from weft.report.numbers import band, figures, seconds, show_rate, show_size, signed_percent
from weft.report.page import (
    Block,
    Drawing,
    Entries,
    Entry,
    Facts,
    Page,
    Sentences,
    Table,
    View,
    rows_of,
)
from weft.report.views._provenance import footer

_MEANS = {
    Outcome.PASS: "the run is as fast as this cluster should be.",
    Outcome.FAIL: "the run is slower than this cluster should be.",
    Outcome.INCONCLUSIVE: "this run cannot tell.",
}
_BAND_OF_HEALTHY = "In brackets the 80 % band of healthy clusters."
_BAND_OF_GOOD = "In brackets the band that one more run of the same cluster falls into."
_SUPPOSING = (
    "Largest sizes: their time against what is expected there. Too fast: some range of sizes "
    "is faster than all but one such system in a hundred."
)
_HIDING = (
    "These lie within the band of healthy clusters; that of a run known to be good (--good "
    "RUN) is narrower."
)
_MOST_FAULTS = 6
_MOST_FORMS = 4
_MOST_CHECKS = 3
_MOST_GOOD = 4
_HUNDRED = 100


def _page(result: Judgement) -> Page:
    return Page(
        title=f"Judgement of {_operations(result)}",
        blocks=tuple(_blocks(result)),
        footer=footer(result.provenance),
    )


def _blocks(result: Judgement) -> Iterator[Block]:
    yield Sentences(lines=(f"{result.outcome}: {_means(result)}", *_unknown(result)))
    yield Facts(pairs=tuple(_facts(result)))
    yield from _supposed(result)
    if result.points:
        yield _ranges(result)
        yield from _faults(result)
        yield from _unseen(result)
        yield _ratio_chart(result)
        if result.what != "latency":
            yield _rate_chart(result)
        yield _sizes(result)
    if result.findings:
        yield Sentences(title="What the output itself shows", lines=result.findings)
    if result.said:
        yield Sentences(title="Remarks", lines=result.said)
    if result.assumed:
        yield Sentences(title="Assumed", lines=result.assumed)


def _operations(result: Judgement) -> str:
    tables = dict.fromkeys(one.test for one in result.points if one.test)
    several = result.what == "collective" and tables
    return ", ".join(tables) if several else result.operation


def _means(result: Judgement) -> str:
    if result.suspect:
        return "it is inside the band at every size, but its shape is that of a fault."
    slow = any(one.outcome is Outcome.FAIL for one in result.ranges)
    if result.outcome is Outcome.FAIL and not slow:
        return "its results are wrong, whatever the speed."
    return _MEANS[result.outcome]


def _unknown(result: Judgement) -> Iterator[str]:
    for one in result.unknown:
        yield f"not known: {one}"
    if result.supposed is not None and result.cluster is not None:
        yield f"if it is {_system(result)}, as assumed below: {result.supposed}"


def _system(result: Judgement) -> str:
    assert result.cluster is not None
    host, kind = result.cluster.host, result.cluster.fabric.kind
    return f"{result.cluster.name} with {host.nics} x {show_rate(host.nic_bytes_per_s)} {kind}"


def _supposed(result: Judgement) -> Iterator[Table]:
    if result.suppositions:
        own = result.what == "collective"
        what, network = ("system", ("network of a host",)) if own else ("link", ())
        yield Table(
            title="What the verdict would be",
            columns=(f"if the {what} is", *network, "verdict", "largest sizes"),
            rows=rows_of(*(_supposition(one, network=own) for one in result.suppositions)),
            left=(0, 1, 2) if own else (0, 1),
            notes=(_SUPPOSING,),
        )  # fmt: skip


def _supposition(one: Supposition, *, network: bool) -> tuple[str, ...]:
    verdict = "too fast: it is not this" if one.too_fast else str(one.outcome)
    middle = (one.network,) if network else ()
    return one.system, *middle, verdict, signed_percent(one.slower_ratio)


def _unseen(result: Judgement) -> Iterator[Block]:
    if result.unseen and not result.suspect:
        yield Table(
            title="What it would have passed with",
            columns=("fault", "form", "costs", "sizes", "look at"),
            rows=rows_of(*(_hidden(one) for one in result.unseen)),
            left=(0, 1, 3, 4),
            notes=(_HIDING,),
        )


def _hidden(one: Unseen) -> tuple[str, ...]:
    return one.name, one.form, signed_percent(one.slower_ratio), one.range_name, one.command


def _facts(result: Judgement) -> Iterator[tuple[str, str]]:
    yield "benchmark", f"{result.benchmark}, {_operations(result)}"
    if result.ranks:
        hosts = "1 host" if result.hosts == 1 else f"{result.hosts} hosts"
        yield "ranks", f"{result.ranks} on {hosts if result.hosts else 'hosts not named'}"
    yield from _cluster(result)
    if result.good:
        yield "expected", f"as in {_listed(result.good)}"
    yield "noise", result.noise_from


def _cluster(result: Judgement) -> Iterator[tuple[str, str]]:
    """Yield what was measured, each part with whether a file says it or it is assumed."""
    if result.cluster is None:
        return
    host, kind = result.cluster.host, result.cluster.fabric.kind
    if result.what != "collective":
        yield "link", f"{show_rate(host.nic_bytes_per_s)} {kind}"
        return
    server = "host" if result.guessed else "cluster"
    yield server, f"{_assumed('host', result)}{result.cluster.name}, {host.gpu}"
    if result.hosts and result.hosts > 1:
        text = f"{host.nics} x {show_rate(host.nic_bytes_per_s)} {kind} per host"
        yield "network", f"{_assumed('network', result)}{text}"


def _assumed(part: str, result: Judgement) -> str:
    return "assumed: " if part in result.guessed else ""


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_MOST_GOOD])
    more = len(names) - _MOST_GOOD
    return f"{shown} and {more} more" if more > 0 else shown


def _ranges(result: Judgement) -> Table:
    return Table(
        title="By range of sizes",
        columns=("sizes", "verdict", "time against expected", "noise", "passes", "fails"),
        rows=rows_of(*(_range(one) for one in result.ranges)),
        left=(0, 1),
        notes=(*(_note(one) for one in result.ranges if one.reason), _level(result)),
    )


def _level(result: Judgement) -> str:
    return (
        "Passes: the edge of the 80 % band. Fails: beyond what one healthy cluster in "
        f"{round(1 / result.false_fail_ratio)} shows."
    )


def _range(one: RangeVerdict) -> tuple[str, ...]:
    sizes = dict.fromkeys((_shown(one.smallest_bytes), _shown(one.largest_bytes)))
    return (
        f"{_tested(one.test)}{one.name}: {' to '.join(sizes)}",
        str(one.outcome),
        signed_percent(one.slower_ratio),
        f"±{one.noise_ratio * _HUNDRED:.1f} %",
        f"up to {signed_percent(one.pass_below_ratio)}",
        f"from {signed_percent(one.fail_above_ratio)}",
    )


def _shown(size_bytes: float) -> str:
    """Show a size; what TCP moved in its time is no round number."""
    exact = show_size(size_bytes)
    return exact if "e" not in exact else f"{figures(size_bytes / 1e9)} GB"


def _note(one: RangeVerdict) -> str:
    repeats = f"; {one.repeats} runs would decide" if one.repeats else ""
    return f"{_tested(one.test)}{one.name}: {one.reason}{repeats}."


def _tested(test: str) -> str:
    return f"{test}; " if test else ""


def _faults(result: Judgement) -> Iterator[Block]:
    quiet = result.outcome is Outcome.PASS and not result.suspect
    if quiet or not result.candidates:
        return
    shown = [one for one in result.candidates if one.probability >= LEAST_PROBABILITY]
    title = "What fits the shape"
    if len(result.group) > 1:
        share = sum(one.probability for one in shown if one.name in result.group)
        names = ", ".join(result.group)
        first = f"{share:.0%} one of {names}: this run cannot tell them apart."
        if shown[0].name not in result.group:
            first = f"{shown[0].probability:.0%} {shown[0].title}; {first}"
        yield Sentences(title=title, lines=(first,))
        title = ""
    yield Entries(title=title, items=tuple(_entry(one) for one in shown[:_MOST_FAULTS]))
    if result.told:
        yield Sentences(title="What the log says beside the curve", lines=result.told)
    if result.next_checks:
        yield _next(result)


def _next(result: Judgement) -> Table:
    return Table(
        title="What would tell them apart",
        columns=("check", "worth", "would show", "command"),
        rows=rows_of(*(_check(one) for one in result.next_checks[:_MOST_CHECKS])),
        left=(0, 2, 3),
        notes=("Worth: the doubt between the faults above that it removes, in bits.",),
    )


def _check(one: NextCheck) -> tuple[str, ...]:
    shows = "; ".join(
        f"{what}: {', '.join(names)}" for what, names in one.shows.items() if what
    )
    return one.title, f"{one.gain_bits:.2f}", shows, one.command


def _entry(one: Candidate) -> Entry:
    lines = [f"how much: {_amounts(one)}"] if len(one.forms) > 1 else []
    lines += [f"look at: {one.check}"] if one.check else []
    lines += [f"next: {one.command}"] if one.command else []
    lines += [f"alike: {one.likeness}"] if one.likeness else []
    form = f" ({one.form})" if one.form else ""
    return Entry(
        head=f"{one.probability:.0%} {one.name}", text=f"{one.title}{form}", lines=tuple(lines)
    )


def _amounts(one: Candidate) -> str:
    """Say how probable each amount of a fault is, if it is that fault."""
    if one.is_graded:
        return f"from '{one.forms[0][0]}' to '{one.forms[-1][0]}'"
    shown = one.forms[:_MOST_FORMS]
    return ", ".join(f"{share:.0%} {form}" for form, share in shown)


def _sizes(result: Judgement) -> Table:
    rate = "busbw GB/s" if result.what == "collective" else "GB/s"
    test = ("test",) if any(one.test for one in result.points) else ()
    columns = ("size", "time", "expected", rate, "expected GB/s", "band", *test)
    return Table(
        title="Size by size",
        columns=columns,
        rows=rows_of(*((*_size(one), one.test)[: len(columns)] for one in result.points)),
        left=tuple(range(columns.index("band"), len(columns))),
        notes=(_BAND_OF_GOOD if result.good else _BAND_OF_HEALTHY,),
    )


def _size(one: Judged) -> tuple[str, ...]:
    rate = one.expected_rate_bytes_per_s
    return (
        _shown(one.size_bytes),
        seconds(one.time_s),
        seconds(one.expected_s.value),
        "-" if one.rate_bytes_per_s is None else figures(one.rate_bytes_per_s / 1e9),
        "-" if rate is None else band(rate, scale=1e9),
        "inside" if one.inside else "outside",
    )


def _name(result: Judgement) -> str:
    assert result.curve is not None
    return f"{result.curve.name}: {result.curve.form}".replace("'", "")


def _ratio_chart(result: Judgement) -> Drawing:
    curve = result.curve
    rows = []
    for place, one in enumerate(result.points):
        row = {
            "size_bytes": one.size_bytes,
            "test": one.test,
            "ratio": one.time_s / one.expected_s.value,
            "low": one.expected_s.low / one.expected_s.value,
            "high": one.expected_s.high / one.expected_s.value,
        }
        if curve:
            row["fault"] = curve.times_s[place] / one.expected_s.value
        rows.append(row)
    return Drawing(
        chart="judged_sweep",
        title=f"{result.outcome}: {_operations(result)}, measured over expected time",
        rows=tuple(rows),
        marks={"fault": _name(result)} if curve else {},
    )


def _rate_chart(result: Judgement) -> Drawing:
    shown = [
        (place, one, one.expected_rate_bytes_per_s, one.rate_bytes_per_s)
        for place, one in enumerate(result.points)
    ]
    rows = tuple(
        {
            "size_bytes": one.size_bytes,
            "busbw": rate.value / 1e9,
            "low": rate.low / 1e9,
            "high": rate.high / 1e9,
            "choice": "",
            "test": one.test,
        }
        for _, one, rate, _ in shown
        if rate is not None
    )
    measured = [
        {
            "size_bytes": one.size_bytes,
            "busbw": own / 1e9,
            "what": "measured",
            "test": one.test,
        }
        for _, one, _, own in shown
        if own is not None
    ]
    curve = result.curve
    fault = [
        {"size_bytes": one.size_bytes, "busbw": curve.rates_bytes_per_s[place] / 1e9,
         "what": _name(result), "test": one.test}
        for place, one, rate, _ in shown if rate is not None
    ] if curve else []  # fmt: skip
    return Drawing(
        chart="busbw_curve",
        title=f"{result.outcome}: {_operations(result)} on the expected band",
        rows=rows,
        marks={"measured": measured, "fault": fault},
    )


judgement = View(
    shows="weft.bench.judge.Judgement",
    verb="bench",
    page=_page,
    charts=("judged_sweep", "busbw_curve"),
)
