"""Which cable carries a link: its rate, its length, and what the fabric's generation has."""

from functools import lru_cache

from weft import units
from weft.catalogue.devices import Cable
from weft.catalogue.fitting import SLACK
from weft.catalogue.load import find, names
from weft.errors import Infeasible


def link_usd(cable: Cable) -> float:
    """Return the price of one link: a cable, or two transceivers and the fibre between."""
    assert cable.price_usd is not None, f"cable {cable.name} has no price"
    fibre = find("assumptions", "fibre_link").value.value
    return 2 * cable.price_usd.value + fibre if cable.per_end else cable.price_usd.value


@lru_cache(maxsize=1024)
def medium(rate_bytes_per_s: float, length_m: float, fabric: str) -> Cable:
    """Return the cheapest medium that carries a rate so far on a fabric.

    A rate that no medium has takes the next faster one. A fabric that another one carries
    takes what that one takes.

    >>> medium(50e9, 2, "infiniband").name, medium(50e9, 30, "infiniband").name
    ('dac_400g', 'sr4_400g')
    """
    carrier = find("fabrics", fabric).carried_by
    cables = [find("cables", name) for name in names("cables")]
    fitting = [
        cable
        for cable in cables
        if carrier in cable.fabrics and cable.bytes_per_s.value >= rate_bytes_per_s * SLACK
    ]
    reaching = [cable for cable in fitting if cable.reach_m.value >= length_m]
    if not reaching:
        longest = max((cable.reach_m.value for cable in fitting), default=0)
        raise Infeasible(
            f"topology.cable_m: {length_m:g}: no medium carries "
            f"{units.show_rate(rate_bytes_per_s)} so far on {fabric}; the longest reaches "
            f"{longest:g} m"
        )
    slowest = min(cable.bytes_per_s.value for cable in reaching)
    return min(
        (cable for cable in reaching if cable.bytes_per_s.value == slowest), key=link_usd
    )
