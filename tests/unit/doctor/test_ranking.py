from weft.doctor.ranking import Verdict, causes, explains, rank, verdict
from weft.doctor.rule import Severity, Suspect, Symptom, finding, suspected
from weft.observe.facts.base import Evidence
from weft.observe.facts.transports import NoRdmaDevice

SEEN = (NoRdmaDevice(evidence=Evidence("nccl.log", 3, "No device found")),)


def _named(cause, sure=0.9, **more):
    return finding(cause, SEEN, sure, message="wrong", advice="mend it", **more)


def _open(symptom=Symptom.TRANSPORT_RETRY):
    suspects = (
        Suspect(cause="gid-index-wrong", confidence_ratio=0.2, question="which GID?"),
        Suspect(cause="peer-process-died", confidence_ratio=0.4, question="who died?"),
    )
    return suspected(suspects, SEEN, symptom=symptom, message="no answer", advice="look")


def test_a_named_cause_takes_its_symptom_under_it():
    cause = _named("gid-link-local", explains=(Symptom.TRANSPORT_RETRY,))
    (only,) = rank([_open(), cause])
    assert only.finding is cause
    assert [one.symptom for one in only.consequences] == [Symptom.TRANSPORT_RETRY]


def test_a_named_cause_takes_the_suspicion_of_itself_under_it():
    named = _named("peer-process-died", explains=(Symptom.TRANSPORT_RETRY,))
    (only,) = rank([named, _open()])
    assert only.consequences
    (only,) = rank([_named("peer-process-died"), _open(symptom=None)])
    assert only.consequences


def test_a_suspicion_explains_nothing():
    guess = _named("gid-link-local", 0.3, explains=(Symptom.TRANSPORT_RETRY,))
    assert not explains(guess, _open())
    assert len(rank([guess, _open()])) == 2


def test_a_cause_named_by_warning_still_takes_an_undecided_error_under_it():
    warning = _named(
        "ib-port-down", 0.6, severity=Severity.WARNING, explains=(Symptom.TRANSPORT_RETRY,)
    )
    (only,) = rank([_open(), warning])
    assert only.finding is warning
    assert only.consequences


def test_suspects_are_ranked_and_their_questions_are_what_is_missing():
    found = _open()
    assert found.cause == "peer-process-died"
    assert found.causes == ("peer-process-died", "gid-index-wrong")
    assert found.missing == ("who died?", "which GID?")


def test_errors_stand_above_warnings_and_the_surer_above_the_less_sure():
    order = [
        _named("a", 0.9),
        _named("b", 0.6),
        _named("c", 0.95, severity=Severity.WARNING),
        _named("d", 0.95, severity=Severity.INFO),
    ]
    ranked = rank(reversed(order))
    assert [one.finding.cause for one in ranked] == ["a", "b", "c", "d"]


def test_one_cause_on_one_subject_is_told_once():
    twice = [_named("a", 0.6, subject="mlx5_0"), _named("a", 0.9, subject="mlx5_0")]
    (only,) = rank(twice)
    assert only.finding.confidence_ratio == 0.9
    assert len(rank([*twice, _named("a", subject="mlx5_1")])) == 2


def test_the_verdict_is_of_errors_and_of_warnings_that_are_sure():
    warning = _named("a", 0.6, severity=Severity.WARNING)
    assert verdict(rank([])) is Verdict.QUIET
    assert verdict(rank([warning])) is Verdict.QUIET
    assert verdict(rank([_open()])) is Verdict.UNDECIDED
    assert verdict(rank([_open(), _named("b")])) is Verdict.FINDINGS
    assert verdict(rank([_named("a", 0.8, severity=Severity.WARNING)])) is Verdict.FINDINGS


def test_evidence_is_each_line_once():
    assert finding("a", SEEN * 3, 0.9, message="m", advice="d").evidence == (SEEN[0].evidence,)


def _alike(**shares):
    suspects = [
        Suspect(cause=cause, confidence_ratio=share, question=f"is it {cause}?")
        for cause, share in shares.items()
    ]
    return suspected(
        suspects, SEEN, message="reads like", advice="ask", symptom=Symptom.WORDS,
        severity=Severity.WARNING,
    )  # fmt: skip


def _order(found):
    return causes(one.finding for one in rank(found))


def test_words_decide_between_rules_that_are_about_as_sure():
    rules = [_named("a", 0.8), _named("b", 0.7)]
    assert _order(rules) == ("a", "b")
    ranked = rank([*rules, _alike(b=0.4)])
    assert [one.finding.cause for one in ranked] == ["b", "a"]
    assert ranked[0].finding.alike_ratio == 0.4


def test_words_lift_the_suspect_that_they_speak_for():
    assert _order([_open()]) == ("peer-process-died", "gid-index-wrong")
    assert _order([_open(), _alike(**{"gid-index-wrong": 0.5})])[0] == "gid-index-wrong"


def test_words_alone_stand_below_a_named_cause_and_show_three_suspects():
    alike = _alike(b=0.4, c=0.3, d=0.2, e=0.1)
    assert _order([_named("a", 0.6), alike])[0] == "a"
    (only,) = rank([alike])
    assert len(only.finding.suspects) == 3


def test_no_remark_is_made_of_words_for_what_a_rule_named():
    (only,) = rank([_named("a"), _alike(a=0.6, b=0.1)])
    assert only.finding.cause == "a"
