"""D6: the questions to ask before buying; here, those whose answer would change it."""

from weft.advise.claim import Claim, Outcome, Trial, Verdict
from weft.advise.consideration import Number
from weft.advise.wording import joined

QUESTIONS = {
    "size in 12 to 24 months": ("gpus",),
    "latency-sensitive work": ("latency",),
    "share of run time in communication": ("communication_share",),
    "skill to tune RoCE": ("tuning_skill", "load_balancing"),
    "cost of switches, optics and support": ("network_price",),
    "people": ("staff_cost",),
}


def _test(trial: Trial) -> Verdict:
    decisive: list[str] = []
    idle: list[str] = []
    for question, inputs in QUESTIONS.items():
        asked = [trial.flips[name] for name in inputs if name in trial.flips]
        (decisive if any(f.flips for f in asked) else idle).append(question)
    return Verdict(
        outcome=_outcome(decisive, idle),
        condition=f"the question is {joined(decisive)}" if decisive and idle else "",
        reasons=(
            f"the answer changes the verdict: {joined(decisive) or 'none'}",
            f"no answer in the range searched changes it: {joined(idle) or 'none'}",
        ),
        numbers=(Number("questions that can change the verdict", len(decisive), "questions"),),
    )


def _outcome(decisive: list[str], idle: list[str]) -> Outcome:
    if not idle:
        return Outcome.HOLDS
    return Outcome.WHEN if decisive else Outcome.FAILS


d06_questions_to_ask = Claim(
    point="D6",
    articles=("E",),
    text="Ask about growth, latency, share of communication, skill, vendors and the cost of "
    "switches, optics and support before choosing",
    test=_test,
)
