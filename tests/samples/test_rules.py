"""Every rule fires on its own samples and is silent on the one of a sound cluster.

A sample is a folder of outputs in the tools' formats; ``cause`` beside them names what must be
found. Folders that begin with ``fires`` must, ``silent`` must not.
"""

from pathlib import Path

import pytest

from weft import plugins
from weft.doctor import rules
from weft.doctor.diagnose import diagnose
from weft.doctor.rule import Facts, Rule, Severity
from weft.observe.bundle import observe

SAMPLES = Path(__file__).parent / "rules"
FIRES = sorted(SAMPLES.glob("*/fires*"))
SILENT = sorted(SAMPLES.glob("*/silent"))


def _name(folder):
    return f"{folder.parent.name}-{folder.name}"


def _observed(folder):
    return observe(*sorted(path for path in folder.iterdir() if path.name != "cause"))


def _found(folder):
    rule = plugins.load(rules, folder.parent.name, Rule)
    seen = _observed(folder)
    return list(rule.check(Facts((*seen.facts, *seen.complaints, *seen.openings))))


@pytest.mark.parametrize("name", plugins.names(rules))
def test_every_rule_has_a_sample_that_fires_and_one_that_is_silent(name):
    assert (SAMPLES / name / "fires").is_dir(), f"write outputs into {SAMPLES / name / 'fires'}"
    assert (SAMPLES / name / "silent").is_dir(), (
        f"write a sound case beside it, as {name}/silent"
    )


@pytest.mark.parametrize("folder", FIRES, ids=_name)
def test_a_rule_names_the_cause_of_its_sample(folder):
    found = _found(folder)
    cause = (folder / "cause").read_text().strip()
    assert cause in {one.cause for one in found}
    rule = plugins.load(rules, folder.parent.name, Rule)
    for one in found:
        assert set(one.causes) <= set(rule.causes) | {suspect.cause for suspect in one.suspects}
        assert one.evidence, "a finding without a line to look at"
        assert all(line.file and line.line for line in one.evidence)
        assert 0 < one.confidence_ratio < 1


@pytest.mark.parametrize("folder", FIRES, ids=_name)
def test_of_all_rules_the_cause_of_the_sample_stands_first(folder):
    causes = diagnose(_observed(folder)).causes
    assert causes[0] == (folder / "cause").read_text().strip()


@pytest.mark.parametrize("folder", SILENT, ids=_name)
def test_a_rule_is_silent_on_the_sound_case(folder):
    assert not _found(folder)


@pytest.mark.parametrize("folder", SILENT, ids=_name)
def test_the_sound_case_says_something(folder):
    """Silence over outputs nobody understood would prove nothing."""
    assert _observed(folder).read_ratio > 0.3


ECHOES = {"gid_link_local", "other_transport", "peer_died", "rails_apart", "storage_stall"}
"""Their silent samples hold a fault of another kind: they are about telling two apart."""


@pytest.mark.parametrize("folder", SILENT, ids=_name)
def test_no_rule_at_all_raises_an_error_on_a_sound_case(folder):
    if folder.parent.name in {*ECHOES, "collective_mismatch"}:
        pytest.skip("the sample holds the symptom, without what would make it this cause")
    errors = [
        one.finding
        for one in diagnose(_observed(folder)).findings
        if one.finding.severity is Severity.ERROR
    ]
    assert not errors
