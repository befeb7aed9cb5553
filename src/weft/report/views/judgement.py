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
    Outcome.INCONCLUSIVE: "the data do not decide.",
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
_MOST_SYSTEMS = 3
_MOST_CHECKS = 3
_MOST_GOOD = 4
_HUNDRED = 100


def _page(result: Judgement) -> Page:
    ranks = f" on {result.ranks} ranks" if result.ranks else ""
    return Page(
        title=f"{result.outcome}: {_operations(result)}{ranks}: {_means(result)}",
        answer=tuple(_answer(result)),
        blocks=tuple(_blocks(result)),
        footer=footer(result.provenance),
        rest="each size, each fault with what would confirm it, the assumptions",
    )


def _answer(result: Judgement) -> Iterator[Block]:
    unknown = tuple(_unknown(result))
    if unknown:  # ranges and faults are then those of an assumed system
        yield Sentences(lines=unknown)
        yield from _supposed_in_brief(result)
    elif result.points:
        yield _ranges(result)
    yield from _faults_in_brief(result)
    yield from _unseen_in_brief(result)


def _faults_in_brief(result: Judgement) -> Iterator[Block]:
    """Yield a line for each fault that fits, and the check that would tell most."""
    if _is_quiet(result):
        return
    shown = [one for one in result.candidates if one.probability >= LEAST_PROBABILITY]
    yield Table(
        title="What fits the shape",
        columns=("probability", "fault"),
        rows=rows_of(*((f"{one.probability:.0%}", _formed(one)) for one in shown)),
        left=(1,),
    )
    for check in result.next_checks[:1]:
        yield Sentences(lines=(f"Next: {check.title}: {check.command}",))


def _unseen_in_brief(result: Judgement) -> Iterator[Block]:
    """Yield what a PASS does not exclude."""
    if result.unseen and not result.suspect:
        faults = (f"{one.name} ({one.form}: {signed_percent(one.slower_ratio)})"
                  for one in result.unseen)  # fmt: skip
        yield Sentences(title="It would also pass with", lines=(f"{'; '.join(faults)}.",))


def _supposed_in_brief(result: Judgement) -> Iterator[Table]:
    """Yield the systems that the run may be of, by the verdict on each."""
    found: dict[str, list[str]] = {}
    for one in result.suppositions:
        found.setdefault(_supposition(one, network=False)[1], []).append(one.system)
    if found:
        yield Table(
            title="Verdict by system",
            columns=("verdict", "if the system is"),
            rows=rows_of(*((verdict, _few(names)) for verdict, names in found.items())),
            left=(0, 1),
        )


def _few(names: list[str]) -> str:
    more = len(names) - _MOST_SYSTEMS
    shown = "; ".join(names[:_MOST_SYSTEMS])
    return f"{shown} and {more} more" if more > 0 else shown


def _blocks(result: Judgement) -> Iterator[Block]:
    yield Facts(title="Judged", pairs=tuple(_facts(result)))
    yield from _supposed(result)
    if result.points:
        if any(_unknown(result)):
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
    if result.unknown:
        yield f"Unknown: {'; '.join(result.unknown)}."
    if result.supposed is not None and result.cluster is not None:
        yield f"If it is {_system(result)}: {result.supposed}."


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
    verdict = "too fast for it" if one.too_fast else str(one.outcome)
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
        columns=("sizes", "verdict", "time", "noise", "passes to", "fails from"),
        rows=rows_of(*(_range(one) for one in result.ranges)),
        left=(0, 1),
        notes=(*(_note(one) for one in result.ranges if one.reason), _level(result)),
    )


def _level(result: Judgement) -> str:
    return (
        "Time against what is expected. Passes to the edge of the 80 % band; fails from what "
        f"one healthy cluster in {round(1 / result.false_fail_ratio)} exceeds."
    )


def _range(one: RangeVerdict) -> tuple[str, ...]:
    sizes = dict.fromkeys((_shown(one.smallest_bytes), _shown(one.largest_bytes)))
    return (
        f"{_tested(one.test)}{one.name}: {' to '.join(sizes)}",
        str(one.outcome),
        signed_percent(one.slower_ratio),
        f"±{one.noise_ratio * _HUNDRED:.1f} %",
        signed_percent(one.pass_below_ratio),
        signed_percent(one.fail_above_ratio),
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


def _is_quiet(result: Judgement) -> bool:
    """Tell whether there is nothing to explain."""
    quiet = result.outcome is Outcome.PASS and not result.suspect
    return quiet or not result.candidates


def _faults(result: Judgement) -> Iterator[Block]:
    if _is_quiet(result):
        return
    shown = [one for one in result.candidates if one.probability >= LEAST_PROBABILITY]
    title = "Faults that fit the shape"
    if len(result.group) > 1:
        share = sum(one.probability for one in shown if one.name in result.group)
        names = ", ".join(result.group)
        first = f"{share:.0%} one of {names}: this run cannot distinguish them."
        if shown[0].name not in result.group:
            first = f"{shown[0].probability:.0%} {shown[0].title}; {first}"
        yield Sentences(title=title, lines=(first,))
        title = ""
    yield Entries(title=title, items=tuple(_entry(one) for one in shown[:_MOST_FAULTS]))
    if result.told:
        yield Sentences(title="What the log adds", lines=result.told)
    if result.next_checks:
        yield _next(result)


def _next(result: Judgement) -> Table:
    return Table(
        title="Checks that would distinguish them",
        columns=("check", "gain, bits", "would show", "command"),
        rows=rows_of(*(_check(one) for one in result.next_checks[:_MOST_CHECKS])),
        left=(0, 2, 3),
        notes=(
            "Gain: the uncertainty between the faults above that the check removes, in bits.",
        ),
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
    lines += [f"similar: {one.likeness}"] if one.likeness else []
    return Entry(
        head=f"{one.probability:.0%} {one.name}", text=_formed(one), lines=tuple(lines)
    )


def _formed(one: Candidate) -> str:
    return f"{one.title} ({one.form})" if one.form else one.title


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
