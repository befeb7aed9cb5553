"""What is lost when the tuned fabric turns out not to be."""

from weft.advise.case import Case
from weft.advise.consideration import MATTERS, Consideration, Number, Opinion
from weft.advise.wording import percent


def _weigh(case: Case) -> Opinion:
    tuned, untuned = case.row("roce_tuned"), case.row("roce_default")
    credits_ = case.row("infiniband")
    loss = 1 - untuned.progress_tokens_per_s / tuned.progress_tokens_per_s
    more = untuned.usd_per_1t_tokens / credits_.usd_per_1t_tokens - 1
    compared = f"{percent(abs(more))} {'more' if more > 0 else 'less'} a token"
    return Opinion(
        favours=("infiniband",) if more >= MATTERS else (),
        reason=f"RoCE left untuned loses {percent(loss)} of its speed and costs {compared} "
        "than InfiniBand",
        numbers=(
            Number("speed lost untuned", loss, "ratio"),
            Number("untuned RoCE over InfiniBand, cost of a token, less one", more, "ratio"),
        ),
    )


mis_tuning = Consideration(
    title="mis-tuning",
    weigh=_weigh,
    source="articles P and C (mis-tuned RoCE); factor of the fabric, not simulated",
    evidence="assumption, not simulated",
)
