"""What if every network had NICs of the same rate?"""

from weft.advise.case import Case
from weft.advise.question import pinned, search_input
from weft.units import gbit_from_rate, rate_from_gbit

RATES_GBIT = (100.0, 200.0, 400.0, 800.0)


def _changed(case: Case, gbit_per_s: float) -> Case:
    host = case.cluster.host.with_(nic_bytes_per_s=rate_from_gbit(gbit_per_s))
    return pinned(case, case.cluster.with_(host=host), "host.nic_bytes_per_s")


def _current(case: Case) -> float:
    return gbit_from_rate(case.verdict.prediction.cluster.host.nic_bytes_per_s)


nic_rate = search_input(
    title="rate of a NIC in all networks",
    unit="Gb/s",
    current=_current,
    changed=_changed,
    choices=lambda _: RATES_GBIT,
    source="rates that are sold, as far as the PCIe of the host feeds them",
    applies=lambda case: not case.verdict.prediction.cost.rented,
)
