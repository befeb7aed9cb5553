"""D5: performance is one factor among six; operations, skill and what is owned count too."""

from weft.advise.claim import Claim, Outcome, Trial, Verdict
from weft.advise.consideration import Number
from weft.advise.spread import difference
from weft.advise.wording import joined, percent


def _test(trial: Trial) -> Verdict:
    case = trial.case
    best = case.verdict
    if not case.rivals:
        return Verdict(outcome=Outcome.UNTESTED, reasons=("only one fabric was compared",))
    leads = {
        r.name: difference(r, best, trial.spread(r.name), trial.spread(best.name))
        for r in case.rivals
    }
    open_ = [name for name, lead in leads.items() if lead.low <= 1]
    told = tuple(
        f"{case.candidate(name).short} costs {percent(abs(lead.value - 1))} "
        f"{'more' if lead.value >= 1 else 'less'} a token than {best.candidate.short} (80 % "
        f"band of their ratio: {percent(lead.low)} to {percent(lead.high)})"
        for name, lead in leads.items()
    )
    decides = (
        f"money does not tell {best.candidate.short} from "
        f"{joined([case.candidate(name).short for name in open_])}: operations, skill, vendors "
        "and what is already owned decide"
        if open_
        else f"money alone decides for {best.candidate.short} among these"
    )
    return Verdict(
        outcome=Outcome.HOLDS if open_ else Outcome.FAILS,
        reasons=(decides, *told),
        numbers=tuple(
            Number(f"cost of a token, {n} over best", v.value, "x") for n, v in leads.items()
        ),
    )


d05_factors_of_the_choice = Claim(
    point="D5",
    articles=("C",),
    text="Beside raw performance and cost, the choice hangs on operations, existing Ethernet, "
    "staff skill and the cloud's ecosystem",
    test=_test,
)
