"""What if the NICs were slower, or faster?"""

from weft.advise.case import Case
from weft.advise.input import Input
from weft.advise.knobs import at_nic_rate
from weft.units import gbit_from_rate, rate_from_gbit

RATES_GBIT = (100.0, 200.0, 400.0, 800.0)


def _usd(case: Case, name: str, gbit_per_s: float) -> float:
    rate = rate_from_gbit(gbit_per_s)
    return case.row(name, change=lambda c: at_nic_rate(c, rate)).usd_per_1t_tokens


def _current(case: Case) -> float:
    return gbit_from_rate(case.cluster.host.nic_bytes_per_s)


nic_rate = Input(
    title="rate of a NIC, with switches and cables to match",
    unit="Gb/s",
    current=_current,
    span=lambda case: (
        min(RATES_GBIT[0], _current(case)),
        max(RATES_GBIT[-1], _current(case)),
    ),
    usd_per_1t_tokens=_usd,
    choices=RATES_GBIT,
    source="rates that are sold; the price of the server is kept",
)
