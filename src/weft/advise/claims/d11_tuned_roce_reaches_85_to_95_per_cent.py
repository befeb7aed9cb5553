"""D11: tuned RoCE reaches 85 to 95 % of InfiniBand; scheduled Ethernet can match it."""

from functools import partial

from weft.advise.claim import (
    Claim,
    Evidence,
    Outcome,
    Trial,
    Verdict,
    simulated,
    told_by_packets,
)
from weft.advise.consideration import Number
from weft.advise.wording import percent

LEAST, MOST = 0.85, 0.95


def _test(trial: Trial) -> Verdict:
    case = trial.case
    both = case.row("infiniband"), case.row("roce_tuned")
    infiniband = both[0].progress_tokens_per_s
    roce = both[1].progress_tokens_per_s / infiniband
    scheduled = case.attempt(partial(case.row, "scheduled_ethernet"))
    reasons = [f"tuned RoCE trains at {percent(roce)} of InfiniBand's speed here"]
    numbers = [Number("tuned RoCE over InfiniBand", roce, "ratio")]
    if scheduled is not None:
        ratio = scheduled.progress_tokens_per_s / infiniband
        numbers.append(Number("scheduled Ethernet over InfiniBand", ratio, "ratio"))
        reasons.append(f"scheduled Ethernet trains at {percent(ratio)} of it")
    if roce > MOST:
        outcome = Outcome.WHEN
        condition = "it is read as a floor: here RoCE does better than claimed"
    else:
        outcome = Outcome.HOLDS if roce >= LEAST else Outcome.FAILS
        condition = ""
    return Verdict(
        outcome=outcome,
        condition=condition,
        reasons=(*reasons, *told_by_packets(*both)),
        numbers=tuple(numbers),
        evidence=Evidence.SIMULATED if simulated(*both) else Evidence.ASSUMED,
    )


d11_tuned_roce_reaches_85_to_95_per_cent = Claim(
    point="D11",
    articles=("E",),
    text="Tuned RoCE reaches 85 to 95 % of InfiniBand in training; scheduled Ethernet can "
    "match or pass it",
    test=_test,
)
