"""Whatever attribute is not as expected, the finding follows; where all agree there is silence.

Every expectation of the tables is tried, on an inventory made for it: entities that agree, and
the same with one that differs. No tool's output is involved, so nothing is tuned to a wording.
"""

import re
from collections.abc import Iterator
from itertools import chain, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.doctor.cause import causes
from weft.doctor.diagnose import diagnose
from weft.doctor.verdict import Verdict
from weft.expectations.expectation import Expectation, expectations
from weft.inventory.entity import Entity, kind
from weft.inventory.evidence import Evidence
from weft.inventory.inventory import Inventory
from weft.inventory.values import Value

BY_LIMIT = [row for row in expectations() if "standard" in row.sources]
BY_PEERS = [row for row in expectations() if "peers" in row.sources]
BY_CAPABILITY = [row for row in expectations() if "capable" in row.sources]
OF_TABLES = {"port.mtu"}
"""Attributes whose good value is not any value: MTU 1024 is small by itself."""


def entity(row: Expectation, number: int) -> Entity:
    fields = kind(row.kind).key
    same = (row.sources.get("peers") or {}).get("same", ())
    if fields[-1] in same:  # entities of one name, as on different hosts
        differs = next(name for name in fields if name not in same)
        return Entity(row.kind, tuple(f"n{number}" if n == differs else "x" for n in fields))
    return Entity(row.kind, (*("n1" for _ in fields[:-1]), str(number)))


def put(inventory: Inventory, at: Entity, row: Expectation, value: Value, line: int) -> None:
    """Record a value, and what the row asks of the entity before it compares."""
    inventory.record(at, row.name, value, Evidence("f", line, "seen"))
    for path, wanted in row.when.items():
        owner, _, name = path.partition(".")
        fields = kind(owner).key
        holder = at if owner == at.kind else Entity(owner, at.key[: len(fields)])
        first = wanted[0] if isinstance(wanted, list) else wanted
        if name not in inventory.readings.get(holder, {}):
            inventory.record(holder, name, wished(first), Evidence("f", line + 1, "seen"))


def wished(condition: Value) -> Value:
    """Return a value that meets a condition of a row."""
    text = str(condition)
    if text.startswith(">="):
        return float(text[2:]) * 2
    return "QSFP-DD" if text.startswith("~") else condition


def ids(rows: list[Expectation]) -> Iterator[str]:
    return (row.attribute for row in rows)


def matching(wanted: str) -> str:
    """Return a text that a value of a row refuses: itself, or a word of its pattern."""
    if not wanted.startswith("~"):
        return wanted
    words = [*re.findall(r"[A-Za-z_]{2,}", wanted), "0/1", "1/2", "2/3", "3/4"]
    pairs = (" ".join(pair) for pair in product(words, repeat=2))
    return next(one for one in chain(words, pairs) if re.search(wanted[1:], one))


def beyond(row: Expectation, limit: Value, factor: float) -> Value:
    """Return a value on the wrong side of a limit."""
    if isinstance(limit, bool):
        return not limit
    if isinstance(limit, list | tuple):
        if row.compare == "not":
            return matching(str(limit[0]))
        return limit[:1] if isinstance(limit, tuple) else f"{limit[0]}x"
    if isinstance(limit, str):
        return limit if row.compare == "not" else f"{limit}x"
    assert isinstance(limit, int | float)
    if row.compare == "at_least":
        return limit / factor if limit > 0 else limit * factor
    return max(limit * factor, limit + factor)


def named(inventory: Inventory, row: Expectation, at: Entity) -> bool:
    """Return whether a finding is about the attribute or a cause that it points to."""
    found = diagnose(inventory).findings
    pointed = {cause.name for cause in causes()
               if any(clue.attribute == row.attribute for clue in cause.clues)}  # fmt: skip
    return any(
        str(at) in one.entities
        or one.cause in {row.attribute, *pointed}
        or any(str(at) in text for text in one.deviations)
        for one in found
    )


@pytest.mark.parametrize("row", BY_LIMIT, ids=ids(BY_LIMIT))
@settings(max_examples=5, deadline=None)
@given(factor=st.floats(1.5, 1000.0), number=st.integers(0, 99))
def test_a_value_beyond_a_limit_is_found(row: Expectation, factor: float, number: int) -> None:
    told = row.sources["standard"]
    if "value" not in told:
        return
    inventory, at = Inventory(), entity(row, number)
    put(inventory, at, row, beyond(row, told["value"], factor), 1)
    assert named(inventory, row, at)


@pytest.mark.parametrize("row", BY_PEERS, ids=ids(BY_PEERS))
@settings(max_examples=5, deadline=None)
@given(peers=st.integers(3, 40), odd=st.integers(0, 2), factor=st.floats(2.0, 100.0))
def test_one_that_differs_from_its_peers_is_found(
    row: Expectation, peers: int, odd: int, factor: float
) -> None:
    inventory, good = Inventory(), sample(row)
    share = (row.sources["peers"] or {}).get("share", 0.5)
    for number in range(max(peers, int(1 / (1 - share)) + 2)):
        worse = beyond(row, good, factor / (1 - row.tolerance)) if number == odd else good
        put(inventory, entity(row, number), row, worse, number * 2)
    assert named(inventory, row, entity(row, odd))


@pytest.mark.parametrize("row", BY_PEERS, ids=ids(BY_PEERS))
@settings(max_examples=5, deadline=None)
@given(peers=st.integers(2, 40))
def test_peers_that_agree_are_silence(row: Expectation, peers: int) -> None:
    inventory, good = Inventory(), sample(row)
    for number in range(peers):
        put(inventory, entity(row, number), row, good, number * 2)
    assert diagnose(inventory).verdict is Verdict.NONE


@pytest.mark.parametrize("row", BY_CAPABILITY, ids=ids(BY_CAPABILITY))
@settings(max_examples=5, deadline=None)
@given(factor=st.floats(1.5, 32.0))
def test_less_than_it_can_do_is_found(row: Expectation, factor: float) -> None:
    best = row.sources["capable"]["attribute"]
    for share, problem in ((1.0, False), (factor, True)):
        inventory, at = Inventory(), entity(row, 1)
        owner, dot, name = best.rpartition(".")
        holder = Entity(owner, at.key[: len(kind(owner).key)]) if dot else at
        inventory.record(holder, name, 32.0, Evidence("f", 9, "seen"))
        worse = share * (1 + row.tolerance) if row.compare == "at_most" else 1 / share
        put(inventory, at, row, 32.0 if share == 1.0 else 32.0 * worse, 1)
        assert named(inventory, row, at) is problem


def sample(row: Expectation) -> Value:
    """Return a value of the type of the attribute that is good by itself."""
    attribute = kind(row.kind).attributes[row.name]
    if attribute.type == "flag":
        return True
    if attribute.type == "list":
        return ("a", "b")
    if row.attribute in OF_TABLES:
        return 4096.0
    if attribute.unit == "bytes/s":
        return 1e12
    if attribute.type in {"number", "counter"}:
        return 64.0
    known = {"port.state": "active", "process.network": "IB", "switch_port.peer_port": "ens3"}
    return known.get(row.attribute, "1.2.3")
