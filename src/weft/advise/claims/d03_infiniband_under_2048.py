"""D3: InfiniBand for a dedicated cluster under 2,048 GPUs, RoCE above."""

from weft.advise.claim import Claim, Trial, Verdict
from weft.advise.scale import rule

LIMIT = 2048


def _test(trial: Trial) -> Verdict:
    return rule(
        trial,
        ("infiniband", "roce_tuned"),
        (512, LIMIT, 2 * LIMIT),
        lambda gpus: "infiniband" if gpus < LIMIT else "roce_tuned",
    )


d03_infiniband_under_2048 = Claim(
    point="D3",
    articles=("P",),
    text="InfiniBand for a dedicated cluster under 2,048 GPUs; RoCE for the largest and where "
    "cabling, tools and several vendors count",
    test=_test,
)
