"""Every attribute that a table reads and an expectation knows: found where it deviates.

The outputs are written from the rows themselves, for every tool and spelling: a value that is
as expected on all elements is silence, and one that is not is found. What a row does not print
but an expectation asks (that the port is active, what it can do) is put beside it.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from weft.doctor.diagnose import case_of, diagnose
from weft.doctor.verdict import Verdict
from weft.expectations.compare import differs
from weft.expectations.derive import derive
from weft.expectations.expectation import Expectation, Expected, expectations
from weft.expectations.known import Known
from weft.inventory.entity import Entity, attribute, kind
from weft.inventory.evidence import Evidence
from weft.inventory.inventory import Inventory
from weft.inventory.values import Value, typed
from weft.readers.column import Columns
from weft.readers.engine import Format, engine
from weft.readers.read import read
from weft.readers.rows import FACTORS, Row, bare
from weft.readers.tree import ObjectRow
from weft.readers.tree import rows as object_rows
from written_from import within, written

HOSTS = 5
ODD = 3
BY_ATTRIBUTE: dict[str, list[Expectation]] = {}
for _one in expectations():
    if list(_one.sources) == ["configured"]:
        continue  # an output alone does not show it: tests/unit/doctor/test_configurations.py
    BY_ATTRIBUTE.setdefault(_one.attribute, []).append(_one)
NAMES = (
    "{n}", "n{n}", "mlx5_{n}", "Ethernet{n}", "Ethernet1/{n}", "Eth1/{n}", "Et{n}", "swp{n}",
    "et-0/0/{n}", "ens{n}", "0000:0{n}:00.0", "0{n}:00.0", "00000000:0{n}:00.0", "0x{n}",
    "10.0.0.{n}", "/a{n}", "worker-{n}", "a.b/c{n}", "/data{n}", "LINK_TYPE_P{n}",
    "NUM_OF_VFS", "RDMA_Write BW", "nvme{n}n1", "nvidia_peermem",
)  # fmt: skip
TEXTS = (
    "1", "2", "3", "4", "5", "8", "16", "31", "32", "64", "100", "256", "512", "1000", "1500",
    "4096", "9000", "400000", "4000000", "900000000", "9900000000", "0.5", "1.5", "16.0",
    "31.5", "64.0", "99.5", "400.0", "-40.00", "-3.25", "0.01", "0.99", "400G", "100G", "0x0",
    "0x4", "alpha1", "beta2", "up", "down", "yes", "no", "1 0 0 0 0 0 0 0", "0 0 0 1 0 0 0 0",
    "550.54.14", "535.10.1", "failed", "NotReady", "Ready", "/a{n}", "0", "0.0",
)  # fmt: skip
NUMBERED = {
    "host", "adapter", "port", "index", "interface", "slot", "gpu", "switch", "queue",
    "priority", "lane", "disk", "sensor", "link", "pod", "resource", "module", "service",
    "neighbor", "area",
}  # fmt: skip
"""Groups that tell one element from another."""
UNSAID = {"job.state", "host.reason", "rank.last_enqueued"}
"""Attributes whose rows state faults alone, or whose entity the front of a line names."""
PROMPTS = {
    **dict.fromkeys(
        ("mlxlink", "mlxlink_operational", "mlxlink_counters", "mlxlink_module"),
        "$ mlxlink -d mlx5_{n} -m -c",
    ),
    **dict.fromkeys(
        ("nvue_pfc", "nvue_buffers"), "cumulus@leaf1:~$ nv show interface swp{n} counters qos"
    ),
    "sonic_pg_drops": "Ingress PG dropped packets:",
}
"""Commands whose output does not name the element."""
GOOD = ("active", "up", "operational")
"""States that are good where another could be the usual one too."""


@dataclass(frozen=True)
class Shown:
    """A row that shows an attribute: how an output of one element is written."""

    tool: str
    path: str
    expectation: Expectation
    write: Callable[[int, str, int], str]
    """Return the output of an element with a text for the attribute, on a host."""
    own: str
    """The pattern that the text must match as a whole."""
    words: tuple[str, ...]
    """Texts that the row maps to others."""
    typed: Callable[[str], Value | None]

    def __str__(self) -> str:
        return f"{self.tool}: {self.path}"


def shown() -> Iterator[Shown]:
    """Yield every row that shows an attribute that is expected, of every table."""
    messages = engine().messages
    for row in messages:
        yield from _of_row(row, "", messages)
    for one in engine().formats:
        if isinstance(one, Format):
            for row in one.rows:
                yield from _of_row(row, one.opens[0], (*one.rows, *messages))
        elif isinstance(one, Columns):
            yield from _of_columns(one)
    for each in object_rows():
        yield from _of_object(each)


def _expected(path: str, beside: Mapping[str, str]) -> Expectation | None:
    """Return what is expected of an attribute, unless its line says that it is wrong."""
    row = next(iter(BY_ATTRIBUTE.get(path, ())), None)
    if row is None or path in UNSAID:
        return None
    best = f"{row.kind}.{row.sources.get('capable', {}).get('attribute', '')}"
    return None if best in beside and "{" not in beside[best] else row


def _of_row(row: Row, opens: str, among: Sequence[Row]) -> Iterator[Shown]:
    for path, template in row.sets.items():
        expected = _expected(path, row.sets)
        found = re.search(r"\{(\w+)\}", template)
        if expected is None or found is None:
            continue
        before = tuple({id(r): r for r in _entering(row, among)}.values())

        def write(number: int, text: str, host: int, group: str = found[1],
                  before: Sequence[Row] = before) -> str:  # fmt: skip
            prompt = PROMPTS.get(row.tool, "").format(n=number)
            lines = [one for one in (prompt, written(opens, {}) if opens else "") if one]
            lines += [written(one.match, groups_of(one, number, host)) for one in before]
            groups = {**groups_of(row, number, host), group: text}
            return "\n".join([*lines, written(row.match, groups)]) + "\n"

        yield Shown(
            row.tool, path, expected, write, within(row.match, found[1]), tuple(row.values),
            lambda text, path=path, group=found[1]: row.value(  # type: ignore[misc]
                path, {group: text}),
        )  # fmt: skip


def _of_columns(one: Columns) -> Iterator[Shown]:
    for pattern, told in one.cells.items():
        path, _, unit = told.partition(" ")
        expected = _expected(path, {})
        if expected is None:
            continue

        def write(number: int, text: str, host: int, wanted: str = pattern) -> str:
            given = {"queue": "3"}
            titles = [written(each, given).strip("^$") for each in (*one.key, *one.cells)]
            named = [*one.key.values()]
            keys = [_named(name, host if name == "host" else number) for name in named]
            cells = [text if each == wanted else _usual(at) for each, at in one.cells.items()]
            gap = f"{one.split} " if one.split else "   "
            lines = [PROMPTS[one.name].format(n=number)] if one.name in PROMPTS else []
            head = gap.join(titles)
            return "\n".join([*lines, head, gap.join([*keys, *cells])]) + "\n"

        def typed_as(text: str, path: str = path, unit: str = unit) -> Value | None:
            said = one.values.get(text.lower(), text)
            said = bare(said) if attribute(path).type in {"number", "counter"} else said
            return typed(path, said, FACTORS.get(unit or one.unit, 1.0))

        if re.search(one.header, write(1, "1", 1), re.MULTILINE):
            yield Shown(one.name, path, expected, write, r"\S+", tuple(one.values), typed_as)


def _usual(told: str) -> str:
    return "up" if attribute(told.partition(" ")[0]).type == "text" else "N/A"


def _named(field: str, number: int) -> str:
    """Return the text of a field of the key of an element."""
    known = {"port": f"Ethernet{number}", "gpu": str(number), "neighbor": f"10.0.0.{number}"}
    return {**known, "switch": "leaf"}.get(field, f"{field}-{number}")


def _of_object(one: ObjectRow) -> Iterator[Shown]:
    plain = [*one.key.values(), *one.sets.values()]
    if one.each or one.where or any(mark in path for path in plain for mark in ("..", "~")):
        return
    for told, route in one.sets.items():
        path, _, unit = told.partition(" ")
        expected = _expected(path, {})
        if expected is None:
            continue

        def write(number: int, text: str, host: int, route: str = route) -> str:
            found: dict[str, Any] = dict.fromkeys(one.has, "")
            name = ""
            for field, where in one.key.items():
                said = _named(field, host if field == "host" else number)
                name = said if where == "@" else name
                if where != "@":
                    _lay(found, where, said)
            _lay(found, route, text)
            prompt = PROMPTS.get(one.name, "").format(n=number)
            return f"{prompt}\n" * bool(prompt) + json.dumps({name: found} if name else found)

        def typed_as(text: str, path: str = path, unit: str = unit) -> Value | None:
            return one._value(path, [text], FACTORS.get(unit or one.unit, 1.0))  # noqa: SLF001

        words = tuple(one.values)
        yield Shown(f"{one.name} (object)", path, expected, write, ".+", words, typed_as)


def _lay(found: dict[str, Any], route: str, said: str) -> None:
    """Put a text at a path, of several the first."""
    *outer, last = route.split(" | ", maxsplit=1)[0].split("/")
    for step in outer:
        inner = found.get(step)
        found[step] = inner if isinstance(inner, dict) else {}
        found = found[step]
    if last == "@":
        return
    found[last] = said


def _entering(row: Row, among: Sequence[Row], deep: int = 3) -> Iterator[Row]:
    """Yield the rows that enter what a row needs, and what those need."""
    for field in (*row.needs, *_key_fields(row)):
        near = [one for one in among if one.tool == row.tool or field in row.needs]
        found = next((one for one in near if field in one.enters and one is not row), None)
        if found is not None and deep:
            yield from _entering(found, among, deep - 1)
            yield found


def _key_fields(row: Row) -> set[str]:
    owners = {path.partition(".")[0] for path in row.sets}
    found = {field for one in owners for field in kind(one).key}
    return found - set(names(row))


def names(row: Row) -> list[str]:
    """Return the named groups of the pattern of a row."""
    return re.findall(r"\(\?P<(\w+)>", row.match)


def groups_of(row: Row, number: int, host: int = 1) -> dict[str, str]:
    """Return texts of the groups of a row that name an element."""
    found = {}
    for name in names(row):
        own = within(row.match, name)
        which = host if name == "host" else number if name in NUMBERED else 1
        fits = (one.format(n=which) for one in NAMES)
        text = next((one for one in fits if re.fullmatch(own, one)), None)
        if text is not None:
            found[name] = text
    return found


def values_of(one: Shown) -> tuple[str, str, Value] | None:
    """Return a text that is as expected, one that is not, and the value of the former."""
    words = re.findall(r"[A-Za-z_]\w*(?: \w+)*", one.own)
    listed = [*words, *(text for word in one.words for text in (word, word.upper()))]
    mapped = [text for text in listed if text.lower() in one.words]
    is_text = attribute(one.path).type in {"text", "flag"}
    listed = mapped if mapped and is_text else [*words, *TEXTS]
    texts = [text for text in listed if re.fullmatch(one.own, text)]
    known = [(text, value) for text in texts if (value := one.typed(text)) is not None]
    known.sort(key=lambda pair: pair[1] not in GOOD)
    worst_first = known
    if one.expectation.compare == "at_most":
        worst_first = sorted(known, key=lambda pair: isinstance(pair[1], float) and -pair[1])
    for good, first in known:
        for bad, second in worst_first:
            if _is_pair(one.expectation, first, second):
                return good, bad, first
    return None


def _is_pair(row: Expectation, good: Value, bad: Value) -> bool:
    standard = row.sources.get("standard", {})
    limit = standard.get("value", standard.get("growth"))
    if limit is not None:
        wanted = tuple(limit) if isinstance(limit, list) else limit
        if differs(row, good, Expected(value=wanted, source="standard", basis="")):
            return False
        return differs(row, bad, Expected(value=wanted, source="standard", basis=""))
    meets = all(
        _meets(good, bad, told) for path, told in row.when.items() if path == row.attribute
    )
    return meets and differs(row, bad, Expected(value=good, source="peers", basis=""))


def _meets(good: Value, bad: Value, told: str) -> bool:
    if told.startswith(">="):
        return all(isinstance(one, float) and one >= float(told[2:]) for one in (good, bad))
    return all(re.search(told[1:], str(one)) for one in (good, bad))


def gathered(one: Shown, values: Sequence[str], *, by_host: bool) -> Inventory:
    """Return what is read of an output on several hosts, or of several elements in one file."""
    standard = one.expectation.sources.get("standard", {})
    before = "growth" in standard and "value" not in standard
    with TemporaryDirectory() as folder:
        for number, value in enumerate(values):
            host, name = (number, "out.txt") if by_host else (0, f"out{number}.txt")
            moments = {"sample_2_at_1780000060/": value}
            if before:
                moments["sample_1_at_1780000000/"] = "0"
            for sample, text in moments.items():
                path = Path(folder) / f"hosts/n{host}/{sample if before else ''}{name}"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(one.write(1 if by_host else number, text, host))
        inventory = read(Path(folder))
    assert not [file.notes for file in inventory.files if file.notes]
    _complete(inventory, one)
    return inventory


def _complete(inventory: Inventory, one: Shown) -> None:
    """Add what the expectation asks beside the attribute."""
    row = one.expectation
    wanted: Mapping[str, Value] = {
        path: told[0] if isinstance(told, list) else told for path, told in row.when.items()
    }
    for entity, found in list(inventory.of(row.kind)):
        if row.name not in found:
            continue
        for path, value in wanted.items():
            _put(inventory, entity, path, _wished(value))
        best = row.sources.get("capable", {}).get("attribute")
        if best:
            found_values = values_of(one)
            good = found_values[2] if found_values else None
            if isinstance(good, float | str):
                _put(inventory, entity, best if "." in best else f"{row.kind}.{best}", good)


def _wished(told: Value) -> Value:
    """Return a value that meets a condition of an expectation."""
    text = str(told)
    if text.startswith(">="):
        return float(text[2:])
    return "QSFP-DD" if text.startswith("~") else told


def _put(inventory: Inventory, entity: Entity, path: str, value: Value) -> None:
    owner, _, name = path.partition(".")
    at = entity if owner == entity.kind else Entity(owner, entity.key[: len(kind(owner).key)])
    if not inventory.all(at, name):
        inventory.record(at, name, value, Evidence("put", 1, "put"))


def is_found(inventory: Inventory, one: Shown) -> bool:
    """Return whether the attribute deviates and the verdict says so."""
    derive(inventory)
    differs_somewhere = one.path in case_of(Known(inventory)).deviations
    return differs_somewhere and diagnose(inventory).verdict is not Verdict.NONE


SHOWN = [one for one in shown() if values_of(one)]


def test_most_rows_can_be_written() -> None:
    assert len(SHOWN) > 300, len(SHOWN)


@pytest.mark.parametrize("one", SHOWN, ids=str)
def test_what_deviates_is_found_and_what_agrees_is_silence(one: Shown) -> None:
    found = values_of(one)
    assert found
    good, bad, _ = found
    odd = [bad if number == ODD else good for number in range(HOSTS)]
    seen = [is_found(gathered(one, odd, by_host=by_host), one) for by_host in (True, False)]
    assert any(seen), one.write(ODD, bad, 1)
    for by_host in (True, False):
        assert not is_found(gathered(one, [good] * HOSTS, by_host=by_host), one), one.write(
            1, good, 1
        )
