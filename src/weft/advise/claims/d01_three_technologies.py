"""D1: three technologies side by side, each with its rate, latency, cost and purpose."""

from weft.advise.claim import Claim, Evidence, Outcome, Trial, Verdict
from weft.advise.consideration import Number
from weft.advise.latencies import Published, judge
from weft.advise.wording import money
from weft.units import SECONDS

PUBLISHED = (
    Published("K", "infiniband", 0.5e-6, 1e-6),
    Published("K", "roce", 2e-6, 5e-6),
    Published("K", "tcp", 10e-6, 50e-6),
)


def _test(trial: Trial) -> Verdict:
    case = trial.case
    years_s = case.years * SECONDS["year"]
    rows = [case.row(name) for name in ("infiniband", "roce_tuned", "tcp")]
    costs = [row.network_usd_per_s * years_s for row in rows]
    falling = costs[0] > costs[1] > costs[2]
    priced = list(zip(rows, costs, strict=True))
    told = ", ".join(
        f"{r.candidate.short} {money(c)}" for r, c in zip(rows, costs, strict=True)
    )
    latencies = judge(PUBLISHED)
    right = [reason for reason, inside, _ in latencies if inside]
    order = "fall as it says" if falling else "do not fall as it says (high, medium, low)"
    return Verdict(
        outcome=Outcome.HOLDS if falling and len(right) == len(latencies) else Outcome.WHEN,
        condition=""
        if falling and len(right) == len(latencies)
        else _condition(falling, right),
        reasons=(
            f"network over {case.years:g} years at the same rate: {told}: costs {order}",
            *(reason for reason, _, _ in latencies),
        ),
        numbers=(
            *(Number(f"network, {r.name}", c, "USD") for r, c in priced),
            *(number for _, _, number in latencies),
        ),
        evidence=Evidence.ASSUMED,
    )


def _condition(falling: bool, right: list[str]) -> str:  # noqa: FBT001 - private
    latencies = f"{len(right)} of its {len(PUBLISHED)} latencies"
    return (
        f"it means the order of costs and {latencies}" if falling else f"it means {latencies}"
    )


d01_three_technologies = Claim(
    point="D1",
    articles=("K",),
    text="InfiniBand is fast (0.5-1 us) and dear, RoCEv2 in the middle (2-5 us), TCP slow "
    "(10-50 us) and cheap",
    test=_test,
)
