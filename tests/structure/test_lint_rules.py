"""What every rule of the linter owes its reader."""

from pathlib import Path

import pytest

from weft import plugins
from weft.lint import readers
from weft.lint.lint import all_rules, description

ROOT = Path(__file__).parents[2]
RULES = dict(all_rules())
NAMES = list(RULES)
SECTIONS = ("What it checks:", "Why it matters:", "What to do:", "References:")


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
    for name in plugins.names(readers):
        assert f"* `{name}`: " in page, "run python docs/generate.py lint"
