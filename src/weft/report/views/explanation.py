"""`weft explain`: tables by kind of fact, matrices of distances, rings, and unread lines."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

from weft.observe.explain import Explanation, Statement
from weft.observe.facts.reading import FileRead
from weft.report.numbers import by_unit, percent, show_size
from weft.report.page import Block, Page, Sentences, Table, View

_MOST_ROWS = 25
_MOST_COLUMNS = 9
_MOST_UNREAD = 12
_MOST_FILES = 60
_LONGEST_CELL = 60
_LONGEST_RING = 32
_MOST_VISITS = 8
_SHOWN_WITH_UNIT = ("_bytes_per_s", "_bytes", "_s", "_ratio")
_CONNECTIONS = (
    "NV: scale-up links; PIX, PXB: one or several PCI switches; "
    "PHB, NODE, SYS: through the processor, within a NUMA domain, between sockets"
)


def _page(result: Explanation) -> Page:
    return Page(title="What was understood", blocks=tuple(_blocks(result)))


def _blocks(result: Explanation) -> Iterator[Block]:
    yield _files(result.files)
    by_kind = sorted(result.facts, key=lambda fact: fact.kind)
    for kind, group in groupby(by_kind, key=lambda fact: fact.kind):
        if kind == "RingSeen":
            yield _rings_over(list(group), _places(result.facts), _ways(result.facts))
        else:
            yield _PICTURES.get(kind, _table)(kind, list(group))
    unread = [line for file in result.files for line in file.first_unread][:_MOST_UNREAD]
    if unread:
        yield Sentences(
            title="Lines not understood, the first of them",
            lines=tuple(f"{one.file}:{one.line}: {_cell(one.text)}" for one in unread),
        )


def _files(files: Sequence[FileRead]) -> Table:
    """Show how much of each file was read; of many files, those first that were not."""
    shown = files
    if len(files) > _MOST_FILES:
        shown = sorted(files, key=lambda one: (not one.skipped, -one.unread))[:_MOST_FILES]
    rest = len(files) - len(shown)
    rows = tuple(
        (
            file.file,
            file.skipped or ", ".join(tool for tool, _ in file.tools),
            str(file.lines),
            str(file.unread),
            "" if file.skipped else percent(file.read_ratio),
        )
        for file in shown
    )
    columns = ("file", "read by", "lines", "not understood", "understood")
    notes = (f"{rest} more, read at least as well as these",) if rest else ()
    return Table(title="Files", columns=columns, rows=rows, left=(0, 1), notes=notes)


def _table(kind: str, facts: Sequence[Statement]) -> Table:
    """Show facts of a kind: a row each, a column for everything that some of them say."""
    names = list(dict.fromkeys(name for fact in facts for name in fact.says))[:_MOST_COLUMNS]
    rows = tuple(
        (*(_said(name, fact.says.get(name, "")) for name in names), f"{fact.file}:{fact.line}")
        for fact in facts[:_MOST_ROWS]
    )
    more = len(facts) - len(rows)
    return Table(
        title=_words(kind),
        columns=(*map(_heading, names), "line"),
        rows=rows,
        left=tuple(range(len(names) + 1)),
        notes=(f"{more} more",) if more else (),
    )


def _matrix(kind: str, facts: Sequence[Statement]) -> Table:
    """Show how the devices of a host are joined, as a matrix."""
    del kind
    sources = list(dict.fromkeys(str(fact.says["source"]) for fact in facts))
    named = dict.fromkeys(str(fact.says["target"]) for fact in facts)
    targets = sorted(named, key=lambda one: sources.index(one) if one in sources else 1 << 20)
    cells = {(f.says["source"], f.says["target"]): str(f.says["connection"]) for f in facts}
    rows = tuple(
        (source, *(cells.get((source, target), "·") for target in targets))
        for source in sources[:_MOST_ROWS]
    )
    return Table(
        title="How devices are joined",
        columns=("", *targets),
        rows=rows,
        left=tuple(range(len(targets) + 1)),
        notes=(_CONNECTIONS,),
    )


def _rings_over(
    facts: Sequence[Statement], hosts: Mapping[str, str], ways: Mapping[tuple[str, str], str]
) -> Sentences:
    """Show rings over hosts and rails: who lies on which host, and which NET leads on."""
    channels: dict[str, list[str]] = {}
    for fact in facts:
        channels.setdefault(str(fact.says.get("ranks", "")), []).append(
            str(fact.says["channel"])
        )
    lines = []
    for ring, numbers in list(channels.items())[:_MOST_ROWS]:
        ranks = ring.split()
        known = all(rank in hosts for rank in ranks)
        shown = _over_hosts(ranks, hosts, ways) if known and ranks else _in_a_row(ranks)
        lines.append(f"channels {', '.join(numbers)}: {shown}")
    return Sentences(title="Rings", lines=tuple(lines))


def _in_a_row(ranks: Sequence[str]) -> str:
    shown = " → ".join(ranks[:_LONGEST_RING])
    rest = len(ranks) - _LONGEST_RING
    end = f" → … ({rest} more)" if rest > 0 else f" → {ranks[0]}" if ranks else ""
    return f"{shown}{end}"


def _over_hosts(
    ranks: Sequence[str], hosts: Mapping[str, str], ways: Mapping[tuple[str, str], str]
) -> str:
    """Write a ring host by host: ``a [0 1] =NET 0=> b [2 3] =NET 1=> a``."""
    parts: list[str] = []
    visits = [list(group) for _, group in groupby(ranks, key=lambda rank: hosts[rank])]
    for place, visit in enumerate(visits[:_MOST_VISITS]):
        after = visits[(place + 1) % len(visits)][0]
        way = ways.get((visit[-1], after), "")
        parts.append(f"{hosts[visit[0]]} [{' '.join(visit)}] ={way}=>")
    rest = len(visits) - _MOST_VISITS
    return " ".join([*parts, f"… ({rest} more hosts)" if rest > 0 else hosts[ranks[0]]])


def _places(facts: Sequence[Statement]) -> dict[str, str]:
    """Return the host of each rank, where its lines name it."""
    return {
        str(fact.says["rank"]): str(fact.says["host"])
        for fact in facts
        if fact.kind == "CommunicatorRank" and {"rank", "host"} <= fact.says.keys()
    }


def _ways(facts: Sequence[Statement]) -> dict[tuple[str, str], str]:
    """Return how a rank reaches another over the network."""
    return {
        (str(fact.says["source"]), str(fact.says["target"])): (
            f"NET {fact.says.get('device', '?')}"
        )
        for fact in facts
        if fact.kind == "ChannelPath" and fact.says.get("transport") == "NET"
    }


def _words(kind: str) -> str:
    """Return a class name as a heading."""
    spaced = "".join(f" {c.lower()}" if c.isupper() else c for c in kind).strip()
    return spaced[:1].upper() + spaced[1:]


def _heading(name: str) -> str:
    """Return the name of a column; units stand beside the values."""
    end = next((end for end in _SHOWN_WITH_UNIT if name.endswith(end)), "")
    return name.removesuffix(end).replace("_", " ")


def _said(name: str, value: object) -> str:
    """Show what a line says: answers in words, keys in hex, quantities with their unit."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int | float):
        return _cell(value)
    if name == "key":
        return f"{value:#06x}" if isinstance(value, int) else _cell(value)
    if name.endswith("_bytes") and isinstance(value, int):
        return show_size(value)
    if any(name.endswith(end) for end in _SHOWN_WITH_UNIT):
        return by_unit(name, float(value))
    return _cell(value)


def _cell(value: object) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _LONGEST_CELL else f"{text[: _LONGEST_CELL - 1]}…"


_PICTURES: Mapping[str, Callable[[str, Sequence[Statement]], Block]] = {
    "Distance": _matrix,
}
explanation = View(shows="weft.observe.explain.Explanation", verb="explain", page=_page)
