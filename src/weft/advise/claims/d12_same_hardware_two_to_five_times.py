"""D12: same hardware, 2 to 5 times apart; 10 % of 1,000 GPUs pays a small team."""

from weft import catalogue
from weft.advise.claim import Claim, Evidence, Outcome, Trial, Verdict
from weft.advise.claims.d10_misconfiguration_costs_a_third import misconfigured
from weft.advise.consideration import Number
from weft.advise.wording import money, percent
from weft.units import SECONDS

LEAST, SMALL_TEAM = 2.0, 3
GPUS, GAIN = 1000, 0.10


def _test(trial: Trial) -> Verdict:
    case = trial.case
    own = case.cluster.prices.engineer_usd_per_year
    salary = own or catalogue.find("assumptions", "engineer").value.value
    rows = [*case.rows, misconfigured(case)]
    speeds = [r.progress_tokens_per_s for r in rows]
    apart = max(speeds) / min(speeds)
    gain = case.verdict.usd_per_s / case.verdict.prediction.gpus * GPUS * SECONDS["year"] * GAIN
    paid = gain / salary
    wide, pays = apart >= LEAST, paid >= SMALL_TEAM
    parts = {"the 2-5 times": wide, "the team": pays}
    return Verdict(
        outcome=Outcome.HOLDS if all(parts.values()) else _partly(any(parts.values())),
        condition=""
        if wide == pays
        else f"it means {next(n for n, ok in parts.items() if ok)}",
        reasons=(
            f"from the worst network to the best, the same hosts are {apart:.3g} times faster",
            f"{percent(GAIN)} of 1,000 GPUs is {money(gain)} a year: {paid:.2g} engineers",
            "cost of a token is what this comparison judges by, as the article asks",
        ),
        numbers=(
            Number("fastest over slowest", apart, "x"),
            Number("10 % of 1,000 GPUs, a year", gain, "USD"),
            Number("engineers that pays", paid, "engineers"),
        ),
        evidence=Evidence.ASSUMED,
    )


def _partly(some: bool) -> Outcome:  # noqa: FBT001 - private
    return Outcome.WHEN if some else Outcome.FAILS


d12_same_hardware_two_to_five_times = Claim(
    point="D12",
    articles=("L",),
    text="Two teams with the same model and hardware differ 2 to 5 times; 10 % on 1,000 GPUs "
    "pays a small team; judge by cost per token",
    test=_test,
)
