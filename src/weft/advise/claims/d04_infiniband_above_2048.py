"""D4: RoCE to 512 GPUs, RoCE to 2,048 unless communication is large, InfiniBand above."""

from functools import partial

from weft.advise.claim import Claim, Trial, Verdict
from weft.advise.scale import rule

SMALL, LARGE, MUCH_COMMUNICATION = 512, 2048, 0.30


def _expected(trial: Trial, gpus: int) -> str:
    if gpus <= SMALL:
        return "roce_tuned"
    if gpus > LARGE:
        return "infiniband"
    share = trial.case.at_gpus("roce_tuned", gpus).exposed_ratio
    return "infiniband" if share > MUCH_COMMUNICATION else "roce_tuned"


def _test(trial: Trial) -> Verdict:
    return rule(
        trial,
        ("infiniband", "roce_tuned"),
        (SMALL, LARGE, 2 * LARGE),
        partial(_expected, trial),
    )


d04_infiniband_above_2048 = Claim(
    point="D4",
    articles=("E",),
    text="RoCE up to 512 GPUs; to 2,048 unless more than about 30 % of the time is "
    "communication; InfiniBand above (the opposite of D3)",
    test=_test,
)
