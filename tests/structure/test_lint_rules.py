"""What every rule of the linter owes its reader."""

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path
from string import Formatter

import pytest

from weft.lint.lint import all_rules, description
from weft.lint.reader import all_readers
from weft.lint.table import written

ROOT = Path(__file__).parents[2]
RULES = dict(all_rules())
NAMES = list(RULES)
SECTIONS = ("What it checks:", "Why it matters:", "What to do:", "References:")


PREDICATES = {row["rule"]: (table, row) for table, row in written() if "messages" in row}


def _reported(module, name):
    """Yield the calls of ``problem`` that a predicate leads to."""
    tree = ast.parse(inspect.getsource(import_module(f"weft.lint.predicates.{module}")))
    functions = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}
    names, waiting = set(), [name]
    while waiting:
        one = waiting.pop()
        if one in functions and one not in names:
            names.add(one)
            waiting += [n.id for n in ast.walk(functions[one]) if isinstance(n, ast.Name)]
    for one in names:
        for node in ast.walk(functions[one]):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "problem":
                yield node


@pytest.mark.parametrize("name", PREDICATES)
def test_a_predicate_reports_the_messages_of_its_rule_with_all_that_they_name(name):
    table, row = PREDICATES[name]
    messages, used = row["messages"], set()
    for call in _reported(table, name):
        given = {one.arg for one in call.keywords} - {"severity"}
        text = " ".join(messages[call.args[0].value][part] for part in ("message", "fix"))
        fields = {field for _, field, _, _ in Formatter().parse(text) if field}
        named = {re.split(r"[.\[]", one)[0] for one in fields}
        assert {one for one in named if not one.isdigit()} == given, call.args[0].value
        used.add(call.args[0].value)
    assert used == set(messages), "a message that nothing reports"


def _words(name):
    return "\n\n".join(description(name))


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_says_what_it_checks_why_it_matters_what_to_do_and_from_where(name):
    words = _words(name)
    places = [words.find(section) for section in SECTIONS]
    assert -1 not in places, f"{name}: one of {SECTIONS} is missing"
    assert places == sorted(places), f"{name}: the sections stand in another order"
    for here, after in zip(places, [*places[1:], len(words)], strict=True):
        assert len(words[here:after].split()) > 1, f"{name}: a section says nothing"


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_has_an_address_where_to_read_more(name):
    assert RULES[name].reference.startswith("https://")


def test_the_page_on_lint_is_what_rules_and_readers_say():
    """Made by `python docs/generate.py lint`."""
    page = (ROOT / "docs" / "reference" / "lint.md").read_text("utf-8")
    for name in NAMES:
        assert f"### {name}\n" in page, "run python docs/generate.py lint"
        assert _words(name).partition("\n\n")[0] in page, "run python docs/generate.py lint"
    for name in all_readers():
        assert f"* `{name}`: " in page, "run python docs/generate.py lint"
