"""Arista EOS: QoS profile, PFC and its watchdog, ECN, ports, BGP over link-local addresses.

All of the map of DSCPs is written: by default, EOS puts DSCP 24 to 31 into class 3, what is
unmarked into class 1, and classes 0 and 1 into each other's queue.
"""

from collections.abc import Mapping
from typing import Final

from weft import units
from weft.generate.plan import Plan
from weft.generate.router import cages
from weft.generate.switch_text import lossless_of, switch_files, vendor_refusal
from weft.generate.target import Files, declared
from weft.network.network import layout

LANES: Final = 8
"""Of every cage of the switches below; a port is named by the first of its own."""
LANE_GBIT: Final[Mapping[str, int]] = {
    "arista_7060cx5_32p": 50, "arista_7060dx5_64s": 50,
    "arista_7060x6_32pe": 100, "arista_7060x6_64pe": 100,
}  # fmt: skip
"""Rate of a lane by switch of fixed form: Tomahawk 4 has 50G, Tomahawk 5 100G."""


def _files(plan: Plan) -> Files:
    return switch_files(
        plan, "eos", "eos.conf", _port, vrf="MGMT", lossless=lossless_of(plan, "eos"),
        lane_gbit=LANE_GBIT[layout(plan.cluster).switch],
    )  # fmt: skip


def _port(cage: int, place: int, split: int) -> str:
    return f"Ethernet{cage + 1}/{place * LANES // split + 1}"


def _refuses(plan: Plan) -> str | None:
    network = layout(plan.cluster)
    refusal = vendor_refusal(plan, "eos", LANE_GBIT)
    if refusal is None and LANES % cages(plan).split:
        rate = units.show_rate(network.link_bytes_per_s)
        return f"eos cannot split the cages of {network.switch} into ports of {rate}"
    return refusal


eos = declared("eos", files=_files, refuses=_refuses)
