"""What keeps a network from being recommended, whatever its tokens cost."""

from collections.abc import Iterator

from weft import catalogue
from weft.advise.candidate import SKILLS, Candidate
from weft.advise.wording import money
from weft.catalogue.devices import Switch
from weft.design.cost import TotalCost
from weft.spec.constraints import Constraints


def objections(candidate: Candidate, cost: TotalCost, limits: Constraints) -> tuple[str, ...]:
    """Return why a network is not recommended; nothing where it may be."""
    return (
        *_skill(candidate, limits),
        *_money(cost, limits),
        *(() if cost.rented else _vendors(candidate, limits)),
    )


def _skill(candidate: Candidate, limits: Constraints) -> Iterator[str]:
    """A fabric left at its defaults is a choice only where nobody can tune it."""
    skill = limits.skill(candidate.fabric)
    if SKILLS.index(candidate.needs_skill) > SKILLS.index(skill):
        yield (
            f"{candidate.short} needs {candidate.knowledge}, and the skill stated for "
            f"{candidate.fabric} is {skill}"
        )
    elif not candidate.choice and skill == "expert":
        yield f"{candidate.short} is what the fabric does at default settings"


def _money(cost: TotalCost, limits: Constraints) -> Iterator[str]:
    for name, spent, most in (
        ("the cluster", cost.total_usd.value, limits.budget_usd),
        ("the network", cost.network_usd.value, limits.network_budget_usd),
    ):
        if most is not None and spent > most:
            yield (
                f"over budget: {name} costs {money(spent)} over {cost.years:g} years, the "
                f"limit is {money(most)}"
            )


def _vendors(candidate: Candidate, limits: Constraints) -> Iterator[str]:
    vendors = switch_vendors(candidate.fabric, limits.vendors)
    if candidate.fabric and len(vendors) < limits.min_vendors:
        yield (
            f"switches for {candidate.short} come from {', '.join(vendors) or 'nobody'}, and "
            f"{limits.min_vendors} vendors are asked for"
        )


def switch_vendors(kind: str, allowed: tuple[str, ...] = ()) -> list[str]:
    """Return the vendors of switches that speak a fabric, of those that are allowed."""
    devices = catalogue.all_of("switches").values()
    found = {s.vendor for s in devices if isinstance(s, Switch) and kind in s.fabrics}
    return sorted(v for v in found if v and (not allowed or v in allowed))
