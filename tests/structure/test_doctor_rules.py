"""What every rule of the doctor owes its reader."""

import importlib
from pathlib import Path

import pytest

from weft import plugins
from weft.doctor import rules

ROOT = Path(__file__).parents[2]
NAMES = plugins.names(rules)
SECTIONS = ("What it checks:", "Why it matters:", "What to do:", "References:")


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_says_what_it_checks_why_it_matters_what_to_do_and_from_where(name):
    words = importlib.import_module(f"weft.doctor.rules.{name}").__doc__
    places = [words.find(section) for section in SECTIONS]
    assert -1 not in places, f"{name}: one of {SECTIONS} is missing"
    assert places == sorted(places), f"{name}: the sections stand in another order"
    for here, after in zip(places, [*places[1:], len(words)], strict=True):
        assert len(words[here:after].split()) > 4, f"{name}: a section says nothing"


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_names_the_causes_it_can_find(name):
    rule = getattr(importlib.import_module(f"weft.doctor.rules.{name}"), name)
    assert rule.causes
    assert all(cause == cause.lower() and " " not in cause for cause in rule.causes)


def test_the_page_on_rules_is_what_the_rules_say():
    """Made by `python docs/generate.py rules`."""
    page = (ROOT / "docs" / "reference" / "rules.md").read_text("utf-8")
    for name in NAMES:
        words = importlib.import_module(f"weft.doctor.rules.{name}").__doc__
        assert f"## {name}\n" in page, "run python docs/generate.py rules"
        assert words.partition("\n\n")[0] in page, "run python docs/generate.py rules"
