"""The doctor's cases: what rules must know of them, and what likeness makes of the rest."""

from dataclasses import replace

import pytest

from weft.doctor.casebook import SOUND, Case, Kind, casebook, cases
from weft.doctor.causes import known
from weft.doctor.diagnose import diagnose
from weft.doctor.rule import Severity
from weft.observe.observation import Observation
from weft.observe.reading import read_text

KNOWN_BY_OTHERS = 0.7
"""Of the cases, so many must be known by the others alone; measured: see how-accurate.md."""


def _named(case: Case) -> str:
    return f"{'/'.join(case.causes)}: {case.tool}: {case.shows}"


def _diagnosed(case: Case):
    """Diagnose by rules alone: what it reads like is not looked at."""
    read = [read_text(text, name) for name, text in case.files]
    facts = tuple(fact for found, _ in read for fact in found)
    files = tuple(replace(file, opening="") for _, file in read)
    return diagnose(Observation(facts=facts, files=files))


@pytest.mark.parametrize("case", list(cases(Kind.BY_RULE)), ids=_named)
def test_a_fault_is_known_by_the_words_of_any_tool(case):
    diagnosis = _diagnosed(case)
    if case.causes == (SOUND,):
        assert _errors(diagnosis) == []
    else:
        assert diagnosis.causes[:1]
        assert diagnosis.causes[0] in case.causes


def _errors(diagnosis):
    found = [one.finding for one in diagnosis.findings]
    return [one.message for one in found if one.severity is Severity.ERROR]


@pytest.mark.parametrize("case", [
    one for one in cases(Kind.BY_LIKENESS) if one.causes == (SOUND,)
], ids=_named)  # fmt: skip
def test_no_rule_alarms_over_a_sound_case(case):
    assert _errors(_diagnosed(case)) == []


def test_every_case_has_a_cause_that_the_doctor_can_ask_about():
    causes = {cause for case in casebook().cases for cause in case.causes}
    assert causes - {SOUND} <= known().keys()
    assert all(case.files for case in casebook().cases)


def test_most_cases_are_known_by_the_others():
    book = casebook()
    faulty = [case for case in book.cases if case.causes != (SOUND,)]
    right = 0
    for case in faulty[::9]:
        found = book.alike([text for _, text in case.files], without=case)
        faults = [one.cause for one in found if one.cause != SOUND]
        right += bool(faults) and faults[0] in case.causes
    assert right >= KNOWN_BY_OTHERS * len(faulty[::9])
