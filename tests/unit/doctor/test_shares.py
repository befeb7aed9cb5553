"""Rivals share one probability; what may stand side by side keeps its own."""

import pytest

from weft.doctor.ranking import rank
from weft.doctor.rule import Severity, Suspect, Symptom, finding, suspected
from weft.doctor.shares import share
from weft.observe.facts.base import Evidence
from weft.observe.facts.transports import NoRdmaDevice

SEEN = (NoRdmaDevice(evidence=Evidence("nccl.log", 3, "No device found")),)


def _open(weights, symptom=Symptom.TRANSPORT_RETRY):
    suspects = [Suspect(cause=cause, confidence_ratio=weight, question="?")
                for cause, weight in weights.items()]  # fmt: skip
    return suspected(suspects, SEEN, symptom=symptom, message="no answer", advice="look")


def _named(cause, sure, **more):
    return finding(cause, SEEN, sure, message="wrong", advice="mend it", **more)


def _claims(found):
    return {one.cause: one.confidence_ratio for one in found.suspects}


def test_suspects_of_one_symptom_add_up_to_one_and_keep_their_ratios():
    [found] = share([_open({"a": 0.45, "b": 0.45, "c": 0.3})])
    assert sum(_claims(found).values()) == pytest.approx(1.0)
    assert found.confidence_ratio == _claims(found)["a"]
    assert _claims(found)["a"] / _claims(found)["c"] == pytest.approx(1.5)


def test_suspects_that_leave_room_are_left_alone():
    weights = {"a": 0.4, "b": 0.2}
    [found] = share([_open(weights)])
    assert _claims(found) == weights


def test_a_suspicion_elsewhere_that_would_explain_the_symptom_is_a_rival():
    rival = _named("gid-link-local", 0.4, explains=(Symptom.TRANSPORT_RETRY,))
    found, other = share([_open({"a": 0.45, "b": 0.4}), rival])
    assert sum(_claims(found).values()) + other.confidence_ratio == pytest.approx(1.0)


def test_a_cause_that_two_findings_suspect_counts_once():
    rival = _named("a", 0.4, explains=(Symptom.TRANSPORT_RETRY,))
    weights = {"a": 0.45, "b": 0.4}
    found, other = share([_open(weights), rival])
    assert _claims(found) == weights
    assert other.confidence_ratio == 0.4


def test_suspicions_of_other_symptoms_and_named_causes_are_no_rivals():
    weights = {"a": 0.45, "b": 0.45}
    open_ = [_open(weights), _open(weights, Symptom.GPUDIRECT_OFF)]
    found = share([*open_, _named("c", 0.9), _named("d", 0.8)])
    assert [_claims(one) for one in found[:2]] == [weights, weights]
    assert [one.confidence_ratio for one in found[2:]] == [0.9, 0.8]


def test_alternatives_of_a_named_cause_have_what_it_leaves():
    suspects = [Suspect(cause=one, confidence_ratio=0.3, question="?") for one in "abc"]
    [found] = share([_named("a", 0.7, suspects=suspects)])
    assert found.confidence_ratio == 0.7
    assert _claims(found) == {"a": 0.3, "b": pytest.approx(0.15), "c": pytest.approx(0.15)}


def test_sharing_changes_no_order():
    """An error of many suspects stands above a surer warning, as before it was shared out."""
    many = _open({f"{n}": 0.45 for n in range(5)})
    warning = _named("w", 0.49, severity=Severity.WARNING)
    assert [one.finding.cause for one in rank([warning, many])] == ["0", "w"]
