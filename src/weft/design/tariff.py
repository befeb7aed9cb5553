"""The middle value of a network's cost as a sum over its parts, for a search of many networks.

``total_cost`` gives the same sum with its bands and sources; a test holds the two together.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from weft.catalogue.devices import Cable, Nic, Switch
from weft.catalogue.fitting import link_usd
from weft.design.bom import server_lines
from weft.design.cost import HOURS_PER_YEAR, bought, is_rented, life_rounds, running, total_cost
from weft.spec.cluster import Cluster

NetworkPart = Literal["nics", "switches", "optics"]
_SUPPORT = {"nics": "support_servers", "switches": "support_network"}
_W_PER_KW = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """What the owner of a cluster pays over the years; US dollars."""

    cluster: Cluster
    fixed_usd: float
    """Servers without NICs, their power, staff and support; all of a rented cluster."""
    rented: bool
    numbers: Mapping[str, float]

    def nics_usd(self, nic: Nic, count: int) -> float:
        """Return the cost of some NICs, those that are already there not bought.

        A NIC without a price is part of its server.
        """
        own = self.cluster.prices.nic_usd if nic.name == self.cluster.host.nic else None
        price = own if own is not None else nic.price_usd.value if nic.price_usd else 0.0
        there = self.cluster.constraints.owned.nics.get(nic.name, 0)
        each = self._usd("nics", price, nic.power_w.value if nic.power_w else 0.0)
        return count * each - self._saved_usd("nics", price, min(count, there))

    def switches_usd(self, switch: Switch, count: int, *, quoted: bool = False) -> float:
        """Return the cost of some switches, those that are already there not bought.

        ``quoted`` takes the price of the spec.
        """
        assert switch.price_usd is not None, f"switch {switch.name} has no price"
        assert switch.power_w is not None, f"switch {switch.name} has no power"
        own = self.cluster.prices.switch_usd if quoted else None
        price = switch.price_usd.value if own is None else own
        there = self.cluster.constraints.owned.switches.get(switch.name, 0)
        each = self._usd("switches", price, switch.power_w.value)
        return count * each - self._saved_usd("switches", price, min(count, there))

    def link_usd(self, cable: Cable) -> float:
        """Return the cost of one link with both its ends."""
        own = self.cluster.prices.optic_usd
        if self.rented:
            return 0.0
        price = link_usd(cable) if own is None else own
        watt = 2 * cable.power_per_end_w.value if cable.power_per_end_w else 0.0
        spare = price * self.numbers["transceiver_failures"] if cable.optical else 0.0
        return self._usd("optics", price, watt) + spare * self.cluster.prices.years

    def usd_per_gpu_hour(self, network_usd: float) -> float:
        """Return the cost of a GPU-hour with a network of so much."""
        prices = self.cluster.prices
        usd = self.fixed_usd + (0.0 if self.rented else network_usd)
        return usd / (self.cluster.gpus * prices.years * HOURS_PER_YEAR)

    def _saved_usd(self, part: NetworkPart, price: float, count: int) -> float:
        """Return the purchase of pieces that are already there."""
        if self.rented:
            return 0.0
        return count * price * life_rounds(part, self.cluster.prices.years)

    def _usd(self, part: NetworkPart, price: float, watt: float) -> float:
        if self.rented:  # the network is in the price of the GPU-hour
            return 0.0
        years, x = self.cluster.prices.years, self.numbers
        support = x[_SUPPORT[part]] * price if part in _SUPPORT else 0.0
        power = watt / _W_PER_KW * HOURS_PER_YEAR * x["pue"] * x["electricity"]
        space = watt / _W_PER_KW * 12 * x["colocation"]
        return price * life_rounds(part, years) + years * (support + power + space)


def tariff(cluster: Cluster) -> Tariff:
    """Return what all networks of a cluster with its fabric and its tuning pay."""
    if is_rented(cluster):
        total = total_cost(cluster).total_usd.value
        return Tariff(cluster=cluster, fixed_usd=total, rented=True, numbers={})
    ledger, lines = server_lines(cluster)
    ledger = running(cluster, ledger)
    numbers = {name: number.value for name, number in ledger.numbers.items()}
    fixed = bought(cluster, lines)(numbers)["total"]
    return Tariff(cluster=cluster, fixed_usd=fixed, rented=False, numbers=numbers)
