"""Which network costs least, and what a per cent of speed is worth."""

from weft.advise.case import Case
from weft.advise.consideration import Consideration, Number, Opinion
from weft.advise.wording import money, percent
from weft.units import SECONDS


def _weigh(case: Case) -> Opinion:
    rows = sorted(case.choices, key=lambda r: r.network_usd_per_s)
    least, most = rows[0], rows[-1]
    years_s = case.years * SECONDS["year"]
    one_per_cent = case.best.usd_per_s * years_s / 100
    return Opinion(
        favours=(least.name,),
        reason=f"networks cost {money(least.network_usd_per_s * years_s)} "
        f"({least.candidate.short}) to {money(most.network_usd_per_s * years_s)} "
        f"({most.candidate.short}), "
        f"{percent(least.network_usd_per_s / least.usd_per_s)} to "
        f"{percent(most.network_usd_per_s / most.usd_per_s)} of the whole; one per cent of "
        f"speed is worth {money(one_per_cent)}",
        numbers=tuple(Number(r.name, r.network_usd_per_s * years_s, "USD") for r in rows),
    )


cost = Consideration(
    title="cost of the network over the years",
    weigh=_weigh,
    breaks_ties=False,
    source="articles C and E (TCO over years); prices of the catalogue",
)
