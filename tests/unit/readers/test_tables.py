"""Every row of every table: its example is read as it says, and what it names exists."""

import pytest

from weft.doctor.case import predicate
from weft.doctor.cause import causes
from weft.expectations.expectation import expectations
from weft.inventory.entity import attribute, kind
from weft.inventory.inventory import Inventory
from weft.lint.table import table_rules
from weft.readers.engine import Format, engine
from weft.readers.read import Reading
from weft.readers.rows import Row
from weft.readers.scribe import Scribe
from weft.readers.tree import rows as object_rows

MESSAGES = engine().messages
IN_FORMATS = [row for of in engine().formats if isinstance(of, Format) for row in of.rows]


def title(row: Row) -> str:
    return f"{row.tool}: {row.code or ', '.join(row.sets) or row.match[:40]}"


@pytest.mark.parametrize("row", MESSAGES, ids=title)
def test_the_examples_of_a_message_are_read_by_its_row(row: Row) -> None:
    assert row.examples, "a row without an example cannot be tested"
    for example in row.examples:
        *before, line = example.split("\n")
        rows, _ = engine().matches(line.encode())
        assert row in rows, example
        inventory = Inventory()
        reading = Reading(engine(), Scribe(inventory, "example.txt"))
        for number, one in enumerate((*before, line), 1):
            reading.line(number, one.encode())
        assert not reading.notes
        if row.code:
            assert row.code in {code for code, _ in inventory.events}
        if row.sets:
            assert inventory.readings, example


@pytest.mark.parametrize("row", [*MESSAGES, *IN_FORMATS], ids=title)
def test_a_row_names_what_the_vocabulary_has(row: Row) -> None:
    for path in row.sets:
        attribute(path)
    if row.entity:
        kind(row.entity)
    assert row.code == "" or row.severity in {"error", "warning", "info"}


def all_codes() -> set[str]:
    read = {row.code for row in (*MESSAGES, *IN_FORMATS, *object_rows()) if row.code}
    return read | {f"lint.{name}" for name, _ in table_rules()}


def known_names() -> set[str]:
    codes = all_codes()
    return codes | {row.attribute for row in expectations()} | {one.name for one in causes()}


@pytest.mark.parametrize("cause", causes(), ids=lambda one: one.name)
def test_a_cause_refers_to_messages_and_attributes_that_exist(cause) -> None:
    codes = all_codes()
    expected = {row.attribute for row in expectations()}
    for clue in cause.clues:
        assert not clue.event or clue.event in codes
        assert not clue.deviation or clue.deviation in expected
        assert not clue.predicate or predicate(clue.predicate)
    assert set(cause.explains) <= known_names()
    assert cause.fix
    assert cause.confirm
    assert any(clue.weight > 1 for clue in cause.clues)
