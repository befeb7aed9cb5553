"""What is asked of a cause stands once, and rules that know more ask more exactly."""

import pytest

from weft.doctor.causes import known
from weft.doctor.rule import suspect


@pytest.mark.parametrize("name", known())
def test_every_cause_has_a_question_and_a_command_that_answers_it(name):
    assert known()[name].question.endswith("?")
    assert known()[name].command


def test_a_suspect_asks_what_all_rules_ask_of_its_cause():
    asked = known()["memlock-limit"]
    one = suspect("memlock-limit", 0.3)
    assert (one.question, one.next_command) == (asked.question, asked.command)


def test_a_rule_that_knows_the_case_asks_in_its_own_words():
    asked = known()["memlock-limit"]
    one = suspect("memlock-limit", 0.3, question="which limit has the pod?")
    assert (one.question, one.next_command) == ("which limit has the pod?", asked.command)
