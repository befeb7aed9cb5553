"""Every rule of the linter finds its own samples and is silent on those without the fault.

A sample is a folder of configuration files; ``fires`` and ``silent`` differ in the fault alone.
"""

from functools import cache
from pathlib import Path

import pytest

from weft.lint.lint import all_rules, lint

SAMPLES = Path(__file__).parent / "lint"
RULES = dict(all_rules())
NAMES = list(RULES)


@cache
def _linted(name, kind):
    return lint([SAMPLES / name / kind])


def test_there_are_sixty_rules_and_no_sample_without_one():
    assert len(NAMES) >= 60
    assert {folder.name for folder in SAMPLES.iterdir()} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_rule_has_a_sample_that_fires_and_one_that_is_silent(name):
    for kind in ("fires", "silent"):
        assert (SAMPLES / name / kind).is_dir(), f"write files into {SAMPLES / name / kind}"


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_finds_its_sample_and_shows_the_line_what_to_do_and_from_where(name):
    found = [one for one in _linted(name, "fires").findings if one.rule == name]
    assert found, f"{name} did not notice"
    for one in found:
        assert one.message
        assert one.fix
        assert one.reference
        assert all(place.file and place.line > 0 and place.column > 0 for place in one.evidence)
        lines = Path(one.at.file).read_text("utf-8").splitlines()
        assert lines[one.at.line - 1].strip()[:40] == one.at.text[:40]


@pytest.mark.parametrize("name", NAMES)
def test_a_rule_is_silent_where_the_fault_is_not(name):
    result = _linted(name, "silent")
    assert result.facts, "silence over files that nobody reads would prove nothing"
    assert not [one for one in result.findings if one.rule == name]
