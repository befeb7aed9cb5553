"""One rail's resource is offered otherwise than those of the other rails.

What it checks: resources whose names differ in a number: isRdma, the maker, the link type, the
driver and whether devices are named, of one against the others; networks of that kind, and the
plug-ins that they chain; functions with RDMA that are given to another driver than netdevice.
Why it matters: the pod gets that NIC without its RDMA device, or another NIC: NCCL takes the
rails that are left, or sockets.
What to do: offer it as the others.
References: SR-IOV network device plugin, selectors; SriovNetworkNodePolicy.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import re2

from weft.lint.facts import Network, Offered
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_SETTINGS: Final = (
    ("rdma", "isRdma"), ("vendor", "vendor"), ("link_type", "link type"),
    ("driver", "device type"), ("named", "naming of devices"), ("mtu_bytes", "MTU"),
)  # fmt: skip
_DIGITS: Final = re2.compile(r"\d+")
_ENOUGH: Final = 3


def _check(case: Case) -> Found:
    rails: dict[str, list[Offered]] = {}
    for one in case.of(Offered):
        rails.setdefault(_DIGITS.sub("#", f"{one.resource} of {one.by}"), []).append(one)
        if one.rdma and one.driver == "vfio-pci":
            yield problem(
                one,
                f"{one.device} gives functions with RDMA to vfio-pci, which has none",
                "deviceType: netdevice",
            )
    for rows in rails.values():
        for name, words in _SETTINGS:
            yield from _odd(rows, name, words)
    networks: dict[str, list[Network]] = {}
    for each in case.of(Network):
        networks.setdefault(_DIGITS.sub("#", each.device), []).append(each)
    for alike in networks.values():
        yield from _odd(alike, "plugins", "the chain of plug-ins")


def _odd(rows: Sequence[Offered | Network], name: str, words: str) -> Found:
    counts = Counter(getattr(one, name) for one in rows)
    usual, count = counts.most_common(1)[0]
    for one in rows:
        value = getattr(one, name)
        if value != usual and count >= _ENOUGH * counts[value]:
            shown = next(other for other in rows if getattr(other, name) == usual)
            yield problem(
                [one, shown],
                f"{_name(one)}: {words} is {_said(value)}, {_said(usual)} of {count} others",
                f"set it as {_name(shown)}",
            )


def _name(one: Offered | Network) -> str:
    return one.resource if isinstance(one, Offered) else one.device


def _said(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(value) or "empty"
    return "not said" if value in {None, ""} else str(value)


offer_unlike_others = Rule(
    layer=Layer.KUBERNETES,
    severity=Severity.ERROR,
    reference="https://github.com/k8snetworkplumbingwg/sriov-network-device-plugin",
    check=_check,
)
