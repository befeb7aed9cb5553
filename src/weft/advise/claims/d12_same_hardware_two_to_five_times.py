"""D12: same hardware, 2 to 5 times apart; 10 % of 1,000 GPUs pays a small team."""

from weft import catalogue
from weft.advise.claim import Claim, Evidence, Outcome, Trial, Verdict, simulated
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
    good = case.verdict.progress_tokens_per_s
    bad = misconfigured(case)
    wrong = good / bad.progress_tokens_per_s
    fallen = good / case.row("tcp").progress_tokens_per_s
    gain = case.verdict.usd_per_s / case.verdict.prediction.gpus * GPUS * SECONDS["year"] * GAIN
    paid = gain / salary
    condition = _condition(wrong, fallen, pays=paid >= SMALL_TEAM)
    holds = not condition
    none = max(wrong, fallen) < LEAST and paid < SMALL_TEAM
    return Verdict(
        outcome=Outcome.HOLDS if holds else Outcome.FAILS if none else Outcome.WHEN,
        condition="" if none else condition,
        reasons=(
            f"a misconfigured RoCE is {wrong:.3g} times slower here, TCP {fallen:.3g}",
            f"{percent(GAIN)} of 1,000 GPUs is {money(gain)} a year: {paid:.2g} engineers",
            "cost of a token is what this comparison judges by, as the article asks",
        ),
        numbers=(
            Number("slower when misconfigured", wrong, "x"),
            Number("slower over TCP", fallen, "x"),
            Number("10 % of 1,000 GPUs, a year", gain, "USD"),
            Number("engineers that pays", paid, "engineers"),
        ),
        evidence=Evidence.SIMULATED if simulated(bad) else Evidence.ASSUMED,
    )


def _condition(wrong: float, fallen: float, *, pays: bool) -> str:
    """Say which parts of the claim are left; nothing when all of it holds."""
    parts = []
    if wrong < LEAST:
        parts.append(
            "the slower team fell back to TCP" if fallen >= LEAST else "money is meant"
        )
    if not pays:
        parts.append(f"the team has fewer than {SMALL_TEAM}")
    return " and ".join(parts)


d12_same_hardware_two_to_five_times = Claim(
    point="D12",
    articles=("L",),
    text="Two teams with the same model and hardware differ 2 to 5 times; 10 % on 1,000 GPUs "
    "pays a small team; judge by cost per token",
    test=_test,
)
