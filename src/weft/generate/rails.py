"""The links of hosts to their leaves: which NIC has which address and which gateway."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from weft.generate.wiring import wired

if TYPE_CHECKING:
    from weft.generate.plan import Plan


RAILS_HEAD: Final = "#host\tdevice\taddress\tgateway\ttable"
"""First line of the table that the unit of a host reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RailLink:
    """One NIC of one host on its leaf."""

    host: int
    name: str
    """Of the host."""
    rail: int
    gateway: str
    address: str
    """Of the NIC; the two make a /31."""


def rail_links(plan: "Plan") -> Iterator[RailLink]:
    """Yield the link of every NIC, host by host and rail by rail."""
    assert plan.underlay is not None, "an Ethernet plan has an underlay"
    found = []
    for switch in wired(plan.cluster):
        if switch.tier > 0:
            break
        for port in switch.ports:
            if port.host is not None:
                gateway, own = plan.underlay.link(switch.number, port.number)
                found.append(
                    RailLink(
                        host=port.host, name=port.peer, rail=port.peer_port,
                        gateway=str(gateway), address=str(own),
                    )
                )  # fmt: skip
    yield from sorted(found, key=lambda link: (link.host, link.rail))
