"""D8: the factors to evaluate; here, how far each moves the cost of a token."""

from weft.advise.claim import Claim, Outcome, Trial, Verdict
from weft.advise.consideration import Number
from weft.advise.wording import joined, percent

FACTORS = {
    "latency": "latency",
    "usable bandwidth a GPU": "nic_rate",
    "congestion and its handling": "load_balancing",
    "scaling to thousands": "gpus",
    "TCO": "network_price",
}
WORTH_A_LOOK = 0.01  # one per cent of the cost of a token


def _test(trial: Trial) -> Verdict:
    swings = {
        factor: trial.flips[name].swing_ratio
        for factor, name in FACTORS.items()
        if name in trial.flips
    }
    large = [factor for factor, swing in swings.items() if swing >= WORTH_A_LOOK]
    if len(large) == len(swings):
        outcome = Outcome.HOLDS
    else:
        outcome = Outcome.WHEN if large else Outcome.FAILS
    return Verdict(
        outcome=outcome,
        condition=f"the factor is {joined(large)}" if outcome is Outcome.WHEN else "",
        reasons=(
            *(
                f"{factor}: moves the cost of a token by {percent(swing)} over its range"
                for factor, swing in sorted(swings.items(), key=lambda item: -item[1])
            ),
            "jitter enters as the straggler term of each step; its tails are not simulated",
        ),
        numbers=tuple(Number(factor, swing, "ratio") for factor, swing in swings.items()),
    )


d08_factors_to_evaluate = Claim(
    point="D8",
    articles=("E",),
    text="Evaluate latency, usable bandwidth, jitter, scaling, congestion handling, "
    "operations and TCO over years",
    test=_test,
)
