"""P2: mis-set PFC makes storms: pauses spread, and hold up traffic that has no part in them."""

from weft.advise.claim import NEEDS_PACKETS, Claim, Evidence, Outcome, Trial, Verdict
from weft.advise.consideration import Number
from weft.advise.storm import Storm, apart, by_chance, storm
from weft.advise.wording import count, figure

BEYOND = 2
"""Pauses in more layers than those into and out of the congested leaf have spread."""


def _test(trial: Trial) -> Verdict:
    if not trial.packets:
        return NEEDS_PACKETS
    cluster = trial.case.candidate("roce_tuned").apply(trial.case.cluster)
    good, bad = (storm(cluster, name) for name in ("roce_tuned", "roce_misconfigured"))
    stormy = apart(bad.pauses, good.pauses)
    spread = len(bad.layers) >= BEYOND
    hurt = apart(bad.tails, good.tails)
    outcome = Outcome.HOLDS if stormy and spread and hurt else Outcome.FAILS
    return Verdict(
        outcome=outcome,
        reasons=(
            f"marks out of reach and a tenth of the pause threshold: {_told(bad)}",
            f"tuned: {_told(good)}",
            *_sure(bad, stormy=stormy, hurt=hurt),
            bad.said,
        ),
        numbers=(
            Number("pauses, misconfigured", sum(bad.pauses) / len(bad.pauses), "pauses"),
            Number("pauses, tuned", sum(good.pauses) / len(good.pauses), "pauses"),
            Number("99th small transfer, misconfigured", bad.tail_ratio, "x"),
            Number("99th small transfer, tuned", good.tail_ratio, "x"),
        ),
        evidence=Evidence.SIMULATED,
    )


def _sure(one: Storm, *, stormy: bool, hurt: bool) -> tuple[str, ...]:
    """Say how far the seeds bear it out."""
    if not (stormy and hurt):
        return ("the seeds of the two overlap in pauses or in tails: they are not told apart",)
    chance = by_chance(len(one.tails))
    return (f"every seed has more pauses and a longer tail than any of tuned; {chance}",)


def _told(one: Storm) -> str:
    where = f" on {' and '.join(one.layers)}" if one.layers else ""
    return (
        f"{count(min(one.pauses))} to {count(max(one.pauses))} pauses{where}; of small "
        f"transfers the 99th takes {figure(one.tail_ratio, 'times')} as long as alone"
    )


p02_pauses_spread = Claim(
    point="P2",
    articles=("P", "C", "K"),
    text="Mis-set PFC makes storms: pauses spread over the network and hold up other traffic",
    test=_test,
)
