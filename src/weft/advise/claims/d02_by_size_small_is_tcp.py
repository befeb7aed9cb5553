"""D2: TCP under 16 GPUs, RoCEv2 to 64, InfiniBand from 64 on."""

from weft.advise.case import RIVALS
from weft.advise.claim import Claim, Trial, Verdict
from weft.advise.scale import rule

SMALL, MIDDLE = 16, 64


def _expected(gpus: int) -> str:
    if gpus < SMALL:
        return "tcp"
    return "roce_tuned" if gpus < MIDDLE else "infiniband"


def _test(trial: Trial) -> Verdict:
    return rule(trial, RIVALS, (SMALL // 2, MIDDLE // 2, MIDDLE, 2048), _expected)


d02_by_size_small_is_tcp = Claim(
    point="D2",
    articles=("K",),
    text="64 GPUs and more: InfiniBand; 16 to 64: RoCEv2 where switches do PFC and ECN; "
    "under 16: TCP",
    test=_test,
)
