"""D10: a misconfigured network takes MFU from the mid-40s to under 30 %."""

from weft.advise.case import Case, Row
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
from weft.advise.knobs import with_bandwidth
from weft.advise.wording import percent
from weft.network.shares import Effect, effects_under
from weft.results import Estimate
from weft.spec.cluster import Cluster
from weft.spec.load import load_tuning

CLAIMED = 30 / 45  # what is left of the MFU
HALVINGS = 5
BESIDE_STORAGE = "with pauses and marks mis-set, beside writes to storage"


def misconfigured(case: Case) -> Row:
    """Predict the RoCE fabric with its losslessness set up wrongly."""

    def change(cluster: Cluster) -> Cluster:
        fabric = cluster.fabric.with_(load_balancing="ecmp", tuning="misconfigured")
        return cluster.with_(fabric=fabric)

    return case.row("roce_tuned", change=change)


def without_pauses(case: Case) -> Row:
    """Predict the RoCE fabric with no pauses for its class, so that it drops."""

    def change(cluster: Cluster) -> Cluster:
        settings = load_tuning("roce_without_pfc")
        fabric = cluster.fabric.with_(
            load_balancing="ecmp", tuning="misconfigured", settings=settings
        )
        return cluster.with_(fabric=fabric)

    return case.row("roce_tuned", change=change)


def beside_storage(good: Row) -> Estimate:
    """Return the MFU where mis-set pauses of storage ports hold up what GPUs wait for.

    Simulated of rings (`beside_storage` in fits/fabric_shares.py); a step is longer by what its
    communication in the open takes longer. What computing hides is taken to stay hidden.
    """
    own, slower, exposed = good.prediction.mfu_ratio, _slower().simulated, good.exposed_ratio
    high, value, low = (
        mfu / (1 + exposed * max(0.0, ratio - 1))
        for mfu, ratio in (
            (own.high, slower.low), (own.value, slower.value), (own.low, slower.high),
        )
    )  # fmt: skip
    return Estimate(value, low, high)


def _slower() -> Effect:
    found = effects_under("roce_misconfigured")
    return next(one for one in found if one.name == "beside_storage")


def _by_packets(case: Case, good: Row) -> Verdict:
    """Judge by the worst of the mistakes that settings are named after."""
    rows = {
        "untuned": case.row("roce_default"),
        "with pauses and marks mis-set": misconfigured(case),
        "without pauses": without_pauses(case),
    }
    mfu = {name: row.prediction.mfu_ratio for name, row in rows.items()}
    mfu[BESIDE_STORAGE] = beside_storage(good)
    own, worst = good.prediction.mfu_ratio, min(mfu, key=lambda name: mfu[name].value)
    left = {name: one.value / own.value for name, one in mfu.items()}
    reasons = [
        f"RoCE {name}: {percent(mfu[name].value)} MFU ({percent(mfu[name].low)} to "
        f"{percent(mfu[name].high)}), {percent(1 - left[name])} less than tuned"
        for name in mfu
    ]
    holds = left[worst] <= CLAIMED
    share = None if holds else _bandwidth_left(case, good)
    condition = "" if share is None else f"less than {percent(share)} of the bandwidth is left"
    return Verdict(
        outcome=Outcome.HOLDS if holds else Outcome.WHEN if share else Outcome.FAILS,
        condition=condition,
        reasons=(
            (
                f"tuned RoCE with adaptive routing: {percent(own.value)} MFU "
                f"({percent(own.low)} to {percent(own.high)}); the article says a third is lost"
            ),
            *reasons,
            _slower().said,
            *told_by_packets(good, *rows.values()),
        ),
        numbers=(
            Number("MFU tuned", own.value, "ratio"),
            *(Number(f"MFU {name}", one.value, "ratio") for name, one in mfu.items()),
        ),
        evidence=Evidence.SIMULATED,
    )


def _test(trial: Trial) -> Verdict:
    case = trial.case
    good = case.row("roce_tuned")
    if simulated(good):
        return _by_packets(case, good)
    bad = misconfigured(case)
    mfu, left = good.prediction.mfu_ratio.value, bad.prediction.mfu_ratio.value
    told = (
        f"RoCE goes from {percent(mfu)} MFU to {percent(left)} when misconfigured: "
        f"{percent(1 - left / mfu)} is lost, where the article says a third"
    )
    beside = beside_storage(good)
    more = (
        f"to {percent(beside.value)} ({percent(beside.low)} to {percent(beside.high)}) "
        f"{BESIDE_STORAGE}: {_slower().said}"
    )
    numbers = (
        Number("MFU tuned", mfu, "ratio"),
        Number("MFU misconfigured", left, "ratio"),
    )
    if left / mfu <= CLAIMED:
        return Verdict(
            outcome=Outcome.HOLDS,
            reasons=(told, more),
            numbers=numbers,
            evidence=Evidence.ASSUMED,
        )
    share = _bandwidth_left(case, good)
    never = share is None
    return Verdict(
        outcome=Outcome.FAILS if never else Outcome.WHEN,
        condition="" if never else f"less than {percent(share or 0)} of the bandwidth is left",
        reasons=(told, more),
        numbers=numbers,
        evidence=Evidence.ASSUMED,
    )


def _bandwidth_left(case: Case, good: Row) -> float | None:
    def kept(ratio: float) -> float:
        found = case.pace("roce_tuned", change=lambda c: with_bandwidth(c, ratio))
        return good.prediction.step_s.value / found.step_s

    low, high = 0.01, 1.0
    if kept(low) > CLAIMED:
        return None
    for _ in range(HALVINGS):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if kept(middle) <= CLAIMED else (low, middle)
    return low


d10_misconfiguration_costs_a_third = Claim(
    point="D10",
    articles=("C",),
    text="A misconfigured network takes MFU from the mid-40s to under 30 %, with the same code",
    test=_test,
)
