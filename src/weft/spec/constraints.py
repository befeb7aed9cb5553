"""What the owner can spend, buy and operate: limits that a recommendation must respect."""

from typing import Annotated, Literal

from pydantic import Field

from weft.spec.base import Keyed
from weft.spec.quantities import Count, Money

Skill = Literal["none", "some", "expert"]


class Owned(Keyed):
    """Network hardware that is already there: it is used first and not bought again."""

    switches: dict[str, Count] = Field(default_factory=dict)
    """How many of each model, by its name in the catalogue (`weft catalog switches`)."""
    nics: dict[str, Count] = Field(default_factory=dict)
    """How many of each model, by its name in the catalogue (`weft catalog nics`)."""


class Constraints(Keyed):
    """Limits of the owner; a key that is absent limits nothing."""

    budget_usd: Money | None = None
    """Most that the whole cluster may cost over prices.years: hosts, network, power, staff."""
    network_budget_usd: Money | None = None
    """Most that the network alone may cost over prices.years."""
    min_vendors: Count = 1
    """Vendors that must be able to supply the switches of the fabric."""
    vendors: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Vendors that may supply switches and NICs, as the catalogue names them; empty: any."""
    skills: dict[str, Skill] = Field(default_factory=dict)
    """Skill of the staff by fabric: none (a fabric that needs tuning is not recommended),
    some (it runs with default settings) or expert (tuned); a fabric not named: expert."""
    owned: Owned = Owned()
    """Network hardware that is already there."""
    later_hosts: Count | None = None
    """Hosts that the cluster will have in 12 to 24 months; none: as many as now."""

    def skill(self, fabric: str) -> Skill:
        """Return the skill of the staff in one fabric."""
        return self.skills.get(fabric, "expert")
