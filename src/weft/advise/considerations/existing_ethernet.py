"""What Ethernet that is already there would change."""

from weft.advise.case import TRILLION, Case, Row
from weft.advise.consideration import Consideration, Number, Opinion
from weft.advise.wording import money, percent
from weft.units import SECONDS


def _cheapest(case: Case, family: str) -> Row | None:
    rows = [row for row in case.choices if row.candidate.family == family]
    return min(rows, key=lambda r: r.usd_per_1t_tokens, default=None)


def _weigh(case: Case) -> Opinion:
    ethernet, other = _cheapest(case, "ethernet"), _cheapest(case, "infiniband")
    if ethernet is None or other is None or ethernet.prediction.cost.rented:
        return Opinion(favours=(), reason="there is no choice between buying one or the other")
    bought_usd = ethernet.prediction.cost.network_hardware_usd.value
    equal = other.usd_per_1t_tokens * ethernet.progress_tokens_per_s / TRILLION
    lacking_usd = (ethernet.usd_per_s - equal) * case.years * SECONDS["year"]
    return Opinion(
        favours=(),  # weft cannot know what is owned: it says what that would have to be
        reason=_told(ethernet, other, lacking_usd, bought_usd),
        numbers=(
            Number(
                "worth of owned Ethernet at which the two cost the same", lacking_usd, "USD"
            ),
            Number("purchase of the Ethernet network", bought_usd, "USD"),
        ),
    )


def _told(ethernet: Row, other: Row, lacking_usd: float, bought_usd: float) -> str:
    name, rival = ethernet.candidate.short, other.candidate.short
    if lacking_usd <= 0:
        return (
            f"{name} costs less a token than {rival} when all is bought; whatever of its "
            f"{money(bought_usd)} of hardware is already there widens that"
        )
    if lacking_usd >= bought_usd:
        return f"{name} costs more a token than {rival} even if all of it were already there"
    return (
        f"{name} costs as little a token as {rival} once {money(lacking_usd)} of its network "
        f"({percent(lacking_usd / bought_usd)} of the purchase) is already there"
    )


existing_ethernet = Consideration(
    title="existing Ethernet",
    weigh=_weigh,
    breaks_ties=False,
    source="articles P and C (reuse of cabling and tools, existing Ethernet)",
)
