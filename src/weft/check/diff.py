"""What is planned against what is running, setting by setting."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from weft.errors import Unreadable
from weft.generate.plan import Plan
from weft.generate.plan import plan as plan_of
from weft.generate.target import render, suitable
from weft.inventory import table
from weft.lint import facts as facts_module
from weft.lint.facts import (
    Address,
    Fact,
    Mapped,
    Mark,
    Marking,
    Neighbor,
    Option,
    Pause,
    Port,
    Side,
    Speaker,
    Trust,
    Variable,
)
from weft.lint.files import collect
from weft.lint.lint import Read, description, facts_of, read
from weft.lint.text import Evidence, Text
from weft.results import Provenance
from weft.spec.cluster import Cluster

MOST_PLACES: Final = 3
UNSET: Final = "unset"


class Verdict(StrEnum):
    """What a comparison comes to."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNSEEN = "not seen"
    EXTRA = "not planned"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One setting of one device: planned, running, and whether it matters."""

    device: str
    setting: str
    where: tuple[str, ...]
    """Ports that it is about; empty where it is not about ports."""
    planned: str
    running: str
    verdict: Verdict
    critical: bool
    """Whether losslessness, or reaching one another at all, depends on it."""
    rule: str
    """The rule of lint that knows the harm."""
    why: str
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """How what is running differs from what is planned."""

    cluster: str
    verdict: Verdict
    """Different; or critical settings not seen; or equal."""
    rows: tuple[Row, ...]
    """What differs, was not seen, or was not planned; what matters most first."""
    equal: int
    """Settings that are as planned."""
    devices: tuple[str, ...]
    """Switches of which something was seen."""
    unseen_devices: int
    """Switches of the plan of which nothing was seen."""
    files: tuple[Read, ...]
    provenance: Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """How one kind of fact is compared."""

    name: str
    identity: tuple[str, ...]
    values: tuple[str, ...]
    rule: str
    critical: bool = False
    roaming: bool = False
    """Whether any device may show it: hosts and jobs are all alike."""


def _kind(row: Mapping[str, Any]) -> _Kind:
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in row.items()
        if name != "of"
    }
    return _Kind(**given)


_TABLE: Final[Any] = table.rows("weft.check", "diff.yaml")
_KINDS: Final[Mapping[type, _Kind]] = {
    getattr(facts_module, row["of"]): _kind(row) for row in _TABLE["kinds"]
}
_CRITICAL: Final = frozenset(_TABLE["critical"])
"""Values that losslessness depends on, where their kind is critical."""
_SIDES: Final = frozenset(side.value for side in Side)
_PROGRAMS: Final = frozenset(_TABLE["programs"])
_NAMES: Final[Mapping[str, str]] = _TABLE["names"]


@dataclass(frozen=True, slots=True)
class _Key:
    """What a value is the value of."""

    device: str
    kind: type
    identity: tuple[str, ...]
    port: str
    field: str


Values = dict[_Key, list[tuple[str, Fact]]]


def diff(cluster: Cluster, paths: Sequence[Path]) -> Drift:
    """Compare files of what is running with what would be rendered for a cluster."""
    planned = plan_of(cluster)
    facts, files, _ = read(collect(paths))
    if not files:
        named = ", ".join(map(str, paths))
        raise Unreadable(f"{named}: no file there is one that weft can read")
    readers = {name for file in files for name in file.readers}
    rendered = list(_rendered(planned, readers))
    known = {fact.device for fact in rendered if isinstance(fact, Speaker)}
    seen = {fact.device for fact in facts if fact.device in known}
    ours = _values(fact for fact in rendered if fact.device not in known - seen)
    theirs = _values(facts)
    rows = [*_compared(ours, theirs), *_extra(ours, theirs, seen), *_unseen(planned, facts)]
    shown = _merged([row for row in rows if row.verdict is not Verdict.EQUAL])
    return Drift(
        cluster=planned.names.cluster.text(),
        verdict=_verdict(shown),
        rows=tuple(shown),
        equal=sum(row.verdict is Verdict.EQUAL for row in rows),
        devices=tuple(sorted(seen)),
        unseen_devices=len(known - seen),
        files=tuple(files),
        provenance=planned.provenance,
    )


def _rendered(planned: Plan, readers: set[str]) -> Iterator[Fact]:
    """Yield the settings of a plan, in the formats that were also seen."""
    for file in render(planned, suitable(planned)).files:
        names, facts = facts_of(Text(name=file.path, content=file.text))
        if readers.intersection(names):
            yield from facts


def _verdict(rows: Iterable[Row]) -> Verdict:
    found = list(rows)
    if any(row.verdict is Verdict.DIFFERENT for row in found):
        return Verdict.DIFFERENT
    missing = any(row.verdict is Verdict.UNSEEN and row.critical for row in found)
    return Verdict.UNSEEN if missing else Verdict.EQUAL


def _values(facts: Iterable[Fact]) -> Values:
    """Return every value by what it is the value of, port by port."""
    found: Values = {}
    for fact in facts:
        kind = _KINDS.get(type(fact))
        if kind is None or (isinstance(fact, Option) and fact.program not in _PROGRAMS):
            continue
        given = (getattr(fact, name) for name in kind.identity)
        identity = tuple(_text(item) for item in given if item is not None)
        for port in _ports(fact):
            for field in kind.values:
                value = getattr(fact, field)
                if value is not None and value not in ("", ()):
                    device = "" if kind.roaming else fact.device
                    key = _Key(device, type(fact), identity, port, field)
                    found.setdefault(key, []).append((_text(value), fact))
    return found


def _ports(fact: Fact) -> tuple[str, ...]:
    """Return the ports a setting is compared on; NICs are planned alike, whatever called."""
    if getattr(fact, "side", None) is Side.HOST:
        return ("",)
    return getattr(fact, "ports", ()) or ("",)


def _text(value: Any) -> str:  # noqa: ANN401 - any value of a fact
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float | int):
        return f"{value:.15g}"
    if isinstance(value, tuple):
        return ", ".join(_text(item) for item in value)
    return str(value).strip()


def _compared(ours: Values, theirs: Values) -> Iterator[Row]:
    shown = {_subject(key) for key in theirs}
    for key, planned in ours.items():
        wanted = {value for value, _ in planned}
        found = theirs.get(key)
        if found is None:
            if _subject(key) in shown:
                yield _row(key, wanted, (), Verdict.UNSEEN)
            continue
        wrong = [(value, fact) for value, fact in found if value not in wanted]
        yield _row(key, wanted, wrong or found, Verdict.DIFFERENT if wrong else Verdict.EQUAL)


def _subject(key: _Key) -> tuple[object, ...]:
    """Return what a value is about: nothing is missed of what was not looked at."""
    side = key.identity[0] if key.identity and key.identity[0] in _SIDES else ""
    return key.device, key.kind, side


def _extra(ours: Values, theirs: Values, seen: set[str]) -> Iterator[Row]:
    """Yield what runs and is not planned; a variable of NCCL is then planned to be unset."""
    for key, found in theirs.items():
        if key in ours:
            continue
        if key.kind is Variable and key.identity[0].startswith("NCCL_"):
            yield _row(key, {UNSET}, found, Verdict.DIFFERENT)
        elif key.device in seen and key.kind in {Pause, Mapped, Marking, Neighbor}:
            yield _row(key, {UNSET}, found, Verdict.EXTRA)


def _row(
    key: _Key, wanted: set[str], found: Sequence[tuple[str, Fact]], verdict: Verdict
) -> Row:
    kind = _KINDS[key.kind]
    shown = verdict is not Verdict.EQUAL
    return Row(
        device=key.device,
        setting=_setting(kind, key),
        where=_where(key),
        planned=" or ".join(sorted(wanted)),
        running=" and ".join(sorted({value for value, _ in found})) or "not seen",
        verdict=verdict,
        critical=kind.critical and key.field in _CRITICAL,
        rule=kind.rule,
        why=description(kind.rule)[0] if shown else "",
        evidence=tuple(
            dict.fromkeys(fact.at.evidence() for _, fact in found[:MOST_PLACES])
        ) if shown else (),
    )  # fmt: skip


def _where(key: _Key) -> tuple[str, ...]:
    """Return the port: of a row of ports its name is the identity."""
    if key.kind in {Port, Address} and key.identity:
        return (key.identity[-1],)
    return (key.port,) if key.port else ()


def _setting(kind: _Kind, key: _Key) -> str:
    hidden = {Side.SWITCH.value, *_where(key)}
    words = [text for text in key.identity if text and text not in hidden]
    field = _NAMES.get(key.field, key.field)
    return " ".join([kind.name, *words, *([field] if field else [])])


def _merged(rows: Sequence[Row]) -> list[Row]:
    """Make one row of those that differ in the port alone; what matters most first."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        key = (row.device, row.setting, row.planned, row.running, row.verdict, row.rule)
        groups.setdefault(key, []).append(row)
    merged = [
        replace(group[0], where=tuple(port for row in group for port in row.where))
        for group in groups.values()
    ]
    order = list(Verdict)
    merged.sort(key=lambda row: (order.index(row.verdict), not row.critical, row.device))
    return merged


def _unseen(planned: Plan, facts: Sequence[Fact]) -> Iterator[Row]:
    """Yield what losslessness needs and no file shows, whoever should have set it."""
    if planned.labels is None:
        return
    labels = planned.labels
    class_ = labels.traffic_class.text()
    marks = any(isinstance(fact, Mark) for fact in facts) or any(
        isinstance(fact, Variable) and fact.name == "NCCL_IB_TC" for fact in facts
    )
    if not marks:
        yield _absent("the job", "traffic class", class_, "qos_job_and_switch")
    for side in (Side.HOST, Side.SWITCH):
        for kind, setting, value, rule in (
            (Pause, "PFC priorities", labels.priority.text(), "qos_host_and_switch"),
            (Trust, "trust", "dscp", "trust_mode"),
        ):
            if not any(isinstance(fact, kind) and fact.side is side for fact in facts):
                yield _absent(side.value, setting, value, rule)
    if planned.marking is not None and not any(isinstance(fact, Marking) for fact in facts):
        kmin = f"Kmin {planned.marking.kmin_bytes.text()} B"
        yield _absent(Side.SWITCH.value, "ECN", kmin, "ecn_queue")


def _absent(device: str, setting: str, value: str, rule: str) -> Row:
    return Row(
        device=device, setting=setting, where=(), planned=value, running="not seen",
        verdict=Verdict.UNSEEN, critical=True, rule=rule, why=description(rule)[0], evidence=(),
    )  # fmt: skip
