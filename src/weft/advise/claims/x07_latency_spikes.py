"""X7: mis-tuned RoCE shows as latency spikes."""

from weft.advise.claim import NEEDS_PACKETS, Claim, Evidence, Outcome, Trial, Verdict
from weft.advise.consideration import Number
from weft.advise.storm import Storm, apart, storm
from weft.advise.wording import figure

TUNINGS = ("roce_tuned", "roce_default", "roce_misconfigured", "roce_without_pfc")
SPIKE = 2.0
"""A tail of so many times the tuned fabric's is called a spike: a judgement, and said."""
JUDGED = (
    f"a spike is called a 99th transfer of {SPIKE:g} times the tuned fabric's and more, longer "
    "in every seed: a judgement, as the articles give no figure"
)


def _test(trial: Trial) -> Verdict:
    if not trial.packets:
        return NEEDS_PACKETS
    cluster = trial.case.candidate("roce_tuned").apply(trial.case.cluster)
    found = {name: storm(cluster, name) for name in TUNINGS}
    tails = {name: one.tail_ratio for name, one in found.items()}
    tuned = found[TUNINGS[0]]
    spiking = [name for name in TUNINGS[1:] if _spikes(found[name], tuned)]
    calm = [name for name in TUNINGS[1:] if name not in spiking]
    every = len(spiking) == len(TUNINGS) - 1
    return Verdict(
        outcome=Outcome.HOLDS if every else Outcome.WHEN if spiking else Outcome.FAILS,
        condition=f"it is {' or '.join(spiking)}; {' and '.join(calm)} has none"
        if spiking and calm
        else "",
        reasons=(
            *(
                f"{name}: the middle small transfer takes "
                f"{figure(one.median_ratio, 'times')} as long as alone, the 99th "
                f"{figure(one.tail_ratio, 'times')}"
                for name, one in found.items()
            ),
            JUDGED,
            tuned.said,
        ),
        numbers=tuple(Number(f"99th transfer, {n}", tail, "x") for n, tail in tails.items()),
        evidence=Evidence.SIMULATED,
    )


def _spikes(one: Storm, tuned: Storm) -> bool:
    longer = one.tail_ratio >= SPIKE * tuned.tail_ratio
    return longer and apart(one.tails, tuned.tails)


x07_latency_spikes = Claim(
    point="X7",
    articles=("C", "P"),
    text="Mis-tuned RoCE shows as latency spikes",
    test=_test,
)
