"""What is lost when the tuned fabric turns out not to be."""

from weft.advise.case import Case
from weft.advise.consideration import MATTERS, Consideration, Number, Opinion
from weft.advise.wording import percent


def _weigh(case: Case) -> Opinion:
    tuned, untuned = case.row("roce_tuned"), case.row("roce_default")
    credits_ = case.row("infiniband")
    loss = 1 - untuned.progress_tokens_per_s / tuned.progress_tokens_per_s
    dearer = untuned.usd_per_1t_tokens / credits_.usd_per_1t_tokens - 1
    compared = f"{percent(abs(dearer))} {'more' if dearer > 0 else 'less'} a token"
    return Opinion(
        favours=("infiniband",) if dearer >= MATTERS else (),
        reason=f"RoCE left untuned loses {percent(loss)} of its speed and then costs "
        f"{compared} than InfiniBand, which needs no tuning to be lossless",
        numbers=(
            Number("speed lost untuned", loss, "ratio"),
            Number("untuned RoCE over InfiniBand, cost of a token, less one", dearer, "ratio"),
        ),
    )


mis_tuning = Consideration(
    title="risk of mis-tuning",
    weigh=_weigh,
    source="articles P and C (mis-tuned RoCE); factor of the fabric, not simulated",
    evidence="assumption, not simulated",
)
