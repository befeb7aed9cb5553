"""Juniper Junos Evolved on QFX5240: PFC by DSCP, ECN, classifiers, BGP over link-local.

The syntax is that of Juniper's documents: BGP by discovery of peers over IPv6, PFC by DSCP for
untagged traffic, classes and drop profile of Juniper's DCQCN configlets [juniper_dcqcn].
"""

from typing import Final

from weft.generate.plan import Plan
from weft.generate.router import underlay_of
from weft.generate.switch_text import lossless_of, switch_files, vendor_refusal
from weft.generate.target import Files, declared

SWITCHES: Final = ("juniper_qfx5240_64od",)
ECMP: Final = (16, 32, 64, 128)
"""Numbers of paths that Junos can be told."""
NO_LOSS_QUEUE: Final = 4
CNP_QUEUE: Final = 3
FILL_PERCENT: Final = (55, 90)
"""Fill of the queue's buffer at which marking begins and at which it is certain.
[juniper_dcqcn]"""
CONTROL_PERCENT: Final = 5
"""For network-control: classes without a scheduler get no bandwidth, and BGP would flap."""


def _files(plan: Plan) -> Files:
    paths = underlay_of(plan).most_paths.whole()
    return switch_files(
        plan, "junos", "junos.conf", _port, vrf="mgmt_junos",
        lossless=lossless_of(plan, "junos"), listed=_listed,
        most_ecmp=next(name for name in ECMP if name >= paths), no_loss_queue=NO_LOSS_QUEUE,
        cnp_queue=CNP_QUEUE, fill_percent=FILL_PERCENT, control_percent=CONTROL_PERCENT,
    )  # fmt: skip


def _port(cage: int, place: int, split: int) -> str:
    return f"et-0/0/{cage}" + (f":{place}" if split > 1 else "")


def _listed(asns: list[int]) -> str:
    """Return AS numbers as an as-list takes them.

    >>> _listed([65001]), _listed([65001, 65002, 65003])
    ('65001', '65001-65003')
    """
    if len(asns) > 1 and asns[-1] - asns[0] == len(asns) - 1:
        return f"{asns[0]}-{asns[-1]}"
    return str(asns[0]) if len(asns) == 1 else f"[ {' '.join(map(str, asns))} ]"


junos = declared(
    "junos", files=_files,
    refuses=lambda plan: vendor_refusal(plan, "junos", SWITCHES, most_paths=ECMP[-1]),
)  # fmt: skip
