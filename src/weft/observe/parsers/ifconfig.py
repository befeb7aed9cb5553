"""``ifconfig``: interfaces with their addresses, as net-tools and BusyBox print them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.interfaces import Interface
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer

_LINK = re.compile(
    r"(?P<name>[A-Za-z][\w.-]{0,14})(?:: flags=\d{1,6}<(?P<flags>[A-Z,]{0,120})>  mtu "
    r"(?P<mtu>\d{1,6})\s*$|\s+Link encap:\w)"
)
_ADDRESS = re.compile(
    r"\s+inet (?:addr:)?(?P<address>\d{1,3}(?:\.\d{1,3}){3})\b.{0,60}?(?:netmask |Mask:)"
    r"(?P<mask>\d{1,3}(?:\.\d{1,3}){3})"
)
_MAC = re.compile(r"(?:\bHWaddr|\s+ether) (?P<mac>(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2})\b")
_STATE = re.compile(r"\s+(?P<flags>(?:[A-Z]{2,14} ){1,8}) ?MTU:(?P<mtu>\d{1,6})")
_WITHIN = re.compile(
    r"\s+(?:inet6 |inet |ether |loop |unspec |infiniband |[RT]X |collisions|Interrupt|Memory|"
    r"device |txqueuelen|unspec)"
)


@dataclass(slots=True)
class _Reader:
    """Gathers what stands below the name of an interface."""

    source: Source
    name: str = ""
    where: Evidence | None = None
    host: str = ""
    flags: str = ""
    mtu: str = ""
    mac: str = ""
    addresses: list[str] = field(default_factory=list)

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the interface that the name of the next completes."""
        link = _LINK.match(text)
        if link:
            done = tuple(self.end())
            self.name, self.where = link["name"], self.source.evidence(text, number)
            self.host, self.flags, self.mtu = self.source.host, link["flags"] or "", link["mtu"]
            self._hardware(text)
            return done
        if not self.name:
            return None
        address, state = _ADDRESS.match(text), _STATE.match(text)
        if address:
            bits = _bits(address["mask"])
            self.addresses.append(f"{address['address']}{f'/{bits}' if bits else ''}")
        elif state:
            self.flags, self.mtu = state["flags"].replace(" ", ","), state["mtu"]
        elif not _WITHIN.match(text):
            return None
        self._hardware(text)
        return READ

    def end(self) -> Iterable[Fact]:
        """State the last interface."""
        name, self.name = self.name, ""
        addresses, self.addresses = tuple(self.addresses), []
        mac, self.mac = self.mac, ""
        if not name or self.where is None:
            return ()
        flags = self.flags.split(",")
        return (
            Interface(
                interface=name, up="UP" in flags, carrier="RUNNING" in flags,
                mtu_bytes=integer(self.mtu), addresses=addresses, mac=mac, host=self.host,
                evidence=self.where,
            ),
        )  # fmt: skip

    def _hardware(self, text: str) -> None:
        mac = _MAC.search(text)
        self.mac = mac["mac"].lower() if mac else self.mac


def _bits(mask: str) -> int | None:
    """Return how many bits of an address a mask keeps, or None for what is no mask.

    >>> _bits("255.255.252.0"), _bits("255.0.255.0")
    (22, None)
    """
    try:
        return IPv4Network(f"0.0.0.0/{mask}").prefixlen
    except ValueError:
        return None


ifconfig = Parser(
    tool="ifconfig",
    marks=(": flags=", "Link encap:"),
    reader=_Reader,
    rank=31,
)
