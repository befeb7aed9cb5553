"""`weft bench judge`: the verdict, range by range, what fits the shape, the picture."""

from collections.abc import Iterator

from weft.bench.judge import LEAST_PROBABILITY, Judged, Judgement
from weft.bench.next_check import NextCheck
from weft.bench.shape import Candidate
from weft.bench.supposed import Supposition
from weft.bench.unseen import Unseen
from weft.bench.verdict import Outcome, RangeVerdict
from weft.report.numbers import (
    band,
    figures,
    noise,
    seconds,
    show_rate,
    show_size,
    signed_percent,
)
from weft.report.page import (
    Block,
    Cell,
    Columns,
    Drawing,
    Entries,
    Entry,
    Facts,
    Sentences,
    Table,
    View,
    listed,
    many,
    table,
)

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
_REST = "each size, each fault with what would confirm it, the assumptions"
_GAIN = "Gain: the uncertainty between the faults above that the check removes, in bits."
_MOST_FAULTS = 6
_MOST_FORMS = 4
_MOST_SYSTEMS = 3
_MOST_CHECKS = 3
_MOST_GOOD = 4
Row = dict[str, object]
"""Of a chart."""


def _title(result: Judgement) -> str:
    ranks = f" on {result.ranks} ranks" if result.ranks else ""
    return f"{result.outcome}: {_operations(result)}{ranks}: {_means(result)}"


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
    columns: dict[str, Cell] = {
        "probability": lambda fault: f"{fault.probability:.0%}",
        "fault": _formed,
    }
    yield table(_likely(result), columns, title="What fits the shape", left=(1,))
    for check in result.next_checks[:1]:
        yield Sentences(lines=(f"Next: {check.title}: {check.command}",))


def _likely(result: Judgement) -> list[Candidate]:
    return [fault for fault in result.candidates if fault.probability >= LEAST_PROBABILITY]


def _unseen_in_brief(result: Judgement) -> Iterator[Block]:
    """Yield what a PASS does not exclude."""
    if result.unseen and not result.suspect:
        faults = (f"{fault.name} ({fault.form}: {signed_percent(fault.slower_ratio)})"
                  for fault in result.unseen)  # fmt: skip
        yield Sentences(title="It would also pass with", lines=(f"{'; '.join(faults)}.",))


def _supposed_in_brief(result: Judgement) -> Iterator[Table]:
    """Yield the systems that the run may be of, by the verdict on each."""
    found: dict[str, list[str]] = {}
    for supposition in result.suppositions:
        found.setdefault(_verdict(supposition), []).append(supposition.system)
    if found:
        yield Table(
            title="Verdict by system",
            columns=("verdict", "if the system is"),
            rows=tuple((verdict, _few(names)) for verdict, names in found.items()),
            left=(0, 1),
        )


def _few(systems: list[str]) -> str:
    return listed(systems, _MOST_SYSTEMS, between="; ")


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
    tables = dict.fromkeys(point.test for point in result.points if point.test)
    several = result.what == "collective" and tables
    return ", ".join(tables) if several else result.operation


def _means(result: Judgement) -> str:
    if result.suspect:
        return "it is inside the band at every size, but its shape is that of a fault."
    slow = any(sizes.outcome is Outcome.FAIL for sizes in result.ranges)
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
        network: dict[str, Cell] = {"network of a host": "network"} if own else {}
        columns: dict[str, Cell] = {f"if the {'system' if own else 'link'} is": "system"}
        columns |= network | {"verdict": _verdict, "largest sizes": _slower}
        left = (0, 1, 2) if own else (0, 1)
        title = "What the verdict would be"
        yield table(result.suppositions, columns, title=title, left=left, notes=(_SUPPOSING,))


def _verdict(supposition: Supposition) -> str:
    return "too fast for it" if supposition.too_fast else str(supposition.outcome)


def _slower(compared: Supposition | Unseen | RangeVerdict) -> str:
    return signed_percent(compared.slower_ratio)


def _unseen(result: Judgement) -> Iterator[Block]:
    if result.unseen and not result.suspect:
        columns: Columns = {
            "fault": "name", "form": "form", "costs": _slower, "sizes": "range_name",
            "look at": "command",
        }  # fmt: skip
        title = "What it would have passed with"
        yield table(result.unseen, columns, title=title, notes=(_HIDING,))


def _facts(result: Judgement) -> Iterator[tuple[str, str]]:
    yield "benchmark", f"{result.benchmark}, {_operations(result)}"
    if result.ranks:
        hosts = many(result.hosts, "host") if result.hosts else "hosts not named"
        yield "ranks", f"{result.ranks} on {hosts}"
    yield from _cluster(result)
    if result.good:
        yield "expected", f"as in {listed(result.good, _MOST_GOOD)}"
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


def _ranges(result: Judgement) -> Table:
    level = (
        "Time against what is expected. Passes to the edge of the 80 % band; fails from what "
        f"one healthy cluster in {round(1 / result.false_fail_ratio)} exceeds."
    )
    columns: dict[str, Cell] = {
        "sizes": _range, "verdict": "outcome", "time": _slower,
        "noise": lambda sizes: noise(sizes.noise_ratio),
        "passes to": lambda sizes: signed_percent(sizes.pass_below_ratio),
        "fails from": lambda sizes: signed_percent(sizes.fail_above_ratio),
    }  # fmt: skip
    notes = (*(_note(sizes) for sizes in result.ranges if sizes.reason), level)
    return table(result.ranges, columns, title="By range of sizes", left=(0, 1), notes=notes)


def _range(sizes: RangeVerdict) -> str:
    ends = dict.fromkeys((_shown(sizes.smallest_bytes), _shown(sizes.largest_bytes)))
    return f"{_named(sizes)}: {' to '.join(ends)}"


def _shown(size_bytes: float) -> str:
    """Show a size; what TCP moved in its time is no round number."""
    exact = show_size(size_bytes)
    return exact if "e" not in exact else f"{figures(size_bytes / 1e9)} GB"


def _note(sizes: RangeVerdict) -> str:
    repeats = f"; {sizes.repeats} runs would decide" if sizes.repeats else ""
    return f"{_named(sizes)}: {sizes.reason}{repeats}."


def _named(sizes: RangeVerdict) -> str:
    return f"{sizes.test}; {sizes.name}" if sizes.test else sizes.name


def _is_quiet(result: Judgement) -> bool:
    """Tell whether there is nothing to explain."""
    quiet = result.outcome is Outcome.PASS and not result.suspect
    return quiet or not result.candidates


def _faults(result: Judgement) -> Iterator[Block]:
    if _is_quiet(result):
        return
    shown, title = _likely(result), "Faults that fit the shape"
    if len(result.group) > 1:
        share = sum(fault.probability for fault in shown if fault.name in result.group)
        names = ", ".join(result.group)
        first = f"{share:.0%} one of {names}: this run cannot distinguish them."
        if shown[0].name not in result.group:
            first = f"{shown[0].probability:.0%} {shown[0].title}; {first}"
        yield Sentences(title=title, lines=(first,))
        title = ""
    yield Entries(title=title, items=tuple(map(_entry, shown[:_MOST_FAULTS])))
    if result.told:
        yield Sentences(title="What the log adds", lines=result.told)
    if result.next_checks:
        columns: Columns = {
            "check": "title", "gain, bits": lambda check: f"{check.gain_bits:.2f}",
            "would show": _shows, "command": "command",
        }  # fmt: skip
        yield table(
            result.next_checks[:_MOST_CHECKS],
            columns,
            title="Checks that would distinguish them",
            left=(0, 2, 3),
            notes=(_GAIN,),
        )


def _shows(check: NextCheck) -> str:
    shown = (f"{what}: {', '.join(names)}" for what, names in check.shows.items() if what)
    return "; ".join(shown)


def _entry(fault: Candidate) -> Entry:
    amounts = _amounts(fault) if len(fault.forms) > 1 else ""
    lines = {"how much": amounts, "look at": fault.check, "next": fault.command,
             "similar": fault.likeness}  # fmt: skip
    return Entry(
        head=f"{fault.probability:.0%} {fault.name}",
        text=_formed(fault),
        lines=tuple(f"{name}: {text}" for name, text in lines.items() if text),
    )


def _formed(fault: Candidate) -> str:
    return f"{fault.title} ({fault.form})" if fault.form else fault.title


def _amounts(fault: Candidate) -> str:
    """Say how probable each amount of a fault is, if it is that fault."""
    if fault.is_graded:
        return f"from '{fault.forms[0][0]}' to '{fault.forms[-1][0]}'"
    return ", ".join(f"{share:.0%} {form}" for form, share in fault.forms[:_MOST_FORMS])


def _sizes(result: Judgement) -> Table:
    columns: dict[str, Cell] = {
        "size": lambda point: _shown(point.size_bytes), "time": "time_s",
        "expected": lambda point: seconds(point.expected_s.value),
        "busbw GB/s" if result.what == "collective" else "GB/s": _rate,
        "expected GB/s": _expected_rate,
        "band": lambda point: "inside" if point.inside else "outside",
    }  # fmt: skip
    words = len(columns) - 1
    if any(point.test for point in result.points):
        columns["test"] = "test"
    notes = (_BAND_OF_GOOD if result.good else _BAND_OF_HEALTHY,)
    return table(
        result.points, columns, title="Size by size", notes=notes,
        left=tuple(range(words, len(columns))),
    )  # fmt: skip


def _rate(point: Judged) -> str:
    rate = point.rate_bytes_per_s
    return "-" if rate is None else figures(rate / 1e9)


def _expected_rate(point: Judged) -> str:
    rate = point.expected_rate_bytes_per_s
    return "-" if rate is None else band(rate, scale=1e9)


def _name(result: Judgement) -> str:
    assert result.curve is not None
    return f"{result.curve.name}: {result.curve.form}".replace("'", "")


def _ratio_chart(result: Judgement) -> Drawing:
    curve = result.curve
    rows = []
    for place, point in enumerate(result.points):
        expected = point.expected_s
        rows.append({
            "size_bytes": point.size_bytes, "test": point.test,
            "ratio": point.time_s / expected.value,
            "low": expected.low / expected.value, "high": expected.high / expected.value,
            **({"fault": curve.times_s[place] / expected.value} if curve else {}),
        })  # fmt: skip
    return Drawing(
        chart="judged_sweep",
        title=f"{result.outcome}: {_operations(result)}, measured over expected time",
        rows=tuple(rows),
        marks={"fault": _name(result)} if curve else {},
    )


def _rate_chart(result: Judgement) -> Drawing:
    rows, measured, fault = list[Row](), list[Row](), list[Row]()
    for place, point in enumerate(result.points):
        where: Row = {"size_bytes": point.size_bytes, "test": point.test}
        rate, own = point.expected_rate_bytes_per_s, point.rate_bytes_per_s
        if own is not None:
            measured.append(where | {"busbw": own / 1e9, "what": "measured"})
        if rate is None:
            continue
        ends = {"busbw": rate.value / 1e9, "low": rate.low / 1e9, "high": rate.high / 1e9}
        rows.append(where | ends | {"choice": ""})
        if result.curve:
            lost = result.curve.rates_bytes_per_s[place] / 1e9
            fault.append(where | {"busbw": lost, "what": _name(result)})
    return Drawing(
        chart="busbw_curve",
        title=f"{result.outcome}: {_operations(result)} on the expected band",
        rows=tuple(rows),
        marks={"measured": measured, "fault": fault},
    )


judgement = View(
    shows="weft.bench.judge.Judgement", verb="bench", title=_title, answer=_answer,
    blocks=_blocks, rest=_REST, charts=("judged_sweep", "busbw_curve"),
)  # fmt: skip
