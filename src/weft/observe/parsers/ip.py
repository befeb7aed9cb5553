"""``ip link``, ``ip addr`` and ``ip route``."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.interfaces import Counter, Interface, NeighbourAddress, Route
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer

_LINK = re.compile(
    r"\s*(?:\d+: )?(?P<name>[A-Za-z][\w.@-]*): <(?P<flags>[A-Z0-9_,-]*)> mtu (?P<mtu>"
    r"\d+)(?P<rest>.*)"
)
_BRIEF = re.compile(
    r"(?P<name>[A-Za-z][\w.-]{0,30})(?P<pair>@\w+)?\s+(?P<state>UP|DOWN|UNKNOWN)\s+"
    r"(?:(?P<addresses>(?:[0-9a-fA-F.:]+/\d{1,3}\s*)+)|[0-9a-f]{2}(?::[0-9a-f]{2}){5,19} "
    r"<(?P<flags>[A-Z0-9_,-]+)>\s*)$"
)
_NAMED = re.compile(r"\s*(?P<name>[a-z][a-z0-9]{1,14})@if\d+:?\s*$")
"""One end of a pair, of which no more than its name was printed."""
_ADDRESS = re.compile(r"\s+inet6? (?P<address>[0-9a-fA-F.:]+/\d+)")
_PICKED = re.compile(
    r"\s*inet (?P<address>[0-9.]+/\d{1,2}) .{0,60}?scope (?:global|link) (?:\w+ )*?"
    r"(?P<name>[a-zA-Z][\w.-]{1,30})\s*$"
)
_ONE_LINE = re.compile(
    r"\d+: (?P<name>[A-Za-z][\w.-]{0,30})(?:@\w+)?\s+inet6? "
    r"(?P<address>[0-9a-fA-F.:]+/\d{1,3}) "
)
"""An address as ``ip -o addr`` prints it."""
_NEIGHBOUR = re.compile(
    r"(?P<address>[0-9a-fA-F.:]{3,45}) dev (?P<dev>\S+) +"
    r"(?:lladdr (?P<mac>[0-9a-f:]{11,60}) |(?:FAILED|INCOMPLETE)\b)"
)
_MAC = re.compile(r"\s+link/ether (?P<mac>[0-9a-f:]{17})\b|\s(?P<brief>(?:[0-9a-f]{2}:){5}"
                  r"[0-9a-f]{2}) <")  # fmt: skip
_KIND = re.compile(r"\s+link/(?P<kind>\w+)")
_DETAIL = re.compile(
    r"\s+(?:valid_lft|altname|vf \d|promiscuity|RX:|TX:|parentbus|\d+ +\d+ +\d+|vlan "
    r"protocol|macvlan|veth|bond|master)"
)
_COUNTED = re.compile(r"\s+(?P<way>RX|TX)(?: errors)?: +(?P<columns>[a-z][a-z ]{6,80}?)\s*$")
_NUMBERS = re.compile(r"\s+\d{1,20}(?:\s+\d{1,20}){2,9}\s*$")
_CALLED = {
    "errors": "errors", "dropped": "dropped", "missed": "missed_errors", "crc": "crc_errors",
    "frame": "frame_errors", "fifo": "fifo_errors", "carrier": "carrier_errors",
    "packets": "packets",
}  # fmt: skip
_ROUTE = re.compile(
    r"(?P<to>default|(?:unreachable |blackhole )?\d{1,3}(?:\.\d{1,3}){3}(?:/\d+)?)(?: "
    r"via (?P<via>\S+))? dev (?P<dev>\S+)"
    r"(?P<rest>.*)"
)
_METRIC = re.compile(r"\bmetric (\d+)")
_SOURCE = re.compile(r"\bsrc (\S+)")


_LOOP = re.compile(
    r"for (?P<each>\w{1,30}) in (?P<names>[\w. -]{3,300}); ?do (?P<body>.{1,400})"
)
_ASKS = re.compile(r"\b(?:exec|ssh) ")
_PRINTS = re.compile(r"\b(?:echo|printf)\b")
"""A loop that asks one pod or host after the other, all of them named."""


def _asks(loop: "re.Match[str]") -> bool:
    """Return whether a loop goes to another place each time, and does not print which."""
    each, body = loop["each"], loop["body"]
    goes = f"${each}" in body or f"${{{each}}}" in body
    return goes and _ASKS.search(body) is not None and _PRINTS.search(body) is None


@dataclass(slots=True)
class _Turns:
    """Tells whose answer it is where a loop asks several and does not print their names.

    Each lists an interface once: where a name comes again, the next one answers.
    """

    command: str = ""
    names: tuple[str, ...] = ()
    turn: int = 0
    seen: set[str] = field(default_factory=set)

    def host(self, source: Source, interface: str) -> str:
        """Return the host of the next interface."""
        if source.command != self.command:
            self.command, self.turn, self.seen = source.command, 0, set()
            loop = _LOOP.match(self.command)
            self.names = tuple(loop["names"].split()) if loop and _asks(loop) else ()
        if interface in self.seen:
            self.turn, self.seen = self.turn + 1, set()
        self.seen.add(interface)
        named = self.turn < len(self.names) and (not source.host or "$" in source.host)
        return self.names[self.turn] if named else source.host


@dataclass(slots=True)
class _Reader:
    """Gathers the addresses of an interface until the next."""

    source: Source
    turns: _Turns = field(default_factory=_Turns)
    link: "re.Match[str] | None" = None
    addresses: list[str] = field(default_factory=list)
    kind: str = ""
    mac: str = ""
    where: Evidence | None = None
    host: str = ""
    columns: tuple[str, ...] = ()

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the interface or route that a line completes."""
        link = _LINK.match(text)
        if link:
            done = tuple(self.end())
            self.link, self.where = link, self.source.evidence(text, number)
            self.host = self.turns.host(self.source, link["name"])
            return done
        whole = self._whole(text, number)
        if whole is not None:
            return (*self.end(), whole)
        return None if self.link is None else self._detail(text, number)

    def _detail(self, text: str, number: int) -> Sequence[Fact] | None:
        """Read what stands below the name of an interface."""
        address = _ADDRESS.match(text)
        kind = _KIND.match(text)
        if address:
            self.addresses.append(address["address"])
        elif kind:
            mac = _MAC.match(text)
            self.kind, self.mac = kind["kind"], (mac["mac"] or "") if mac else ""
        else:
            counted = self._counted(text, number)
            return counted if counted is not None else READ if _DETAIL.match(text) else None
        return READ

    def end(self) -> Iterable[Fact]:
        """State the last interface."""
        link, self.link = self.link, None
        addresses, self.addresses, kind, self.kind = tuple(self.addresses), [], self.kind, ""
        mac, self.mac = self.mac, ""
        if link is None or self.where is None:
            return ()
        flags = link["flags"].split(",")
        return (
            Interface(
                interface=link["name"].split("@")[0],
                up="UP" in flags,
                carrier="LOWER_UP" in flags,
                mtu_bytes=integer(link["mtu"]),
                addresses=addresses,
                kind=kind,
                mac=mac,
                reason="its parent is down" if "M-DOWN" in flags else "",
                host=self.host,
                evidence=self.where,
            ),
        )

    def _counted(self, text: str, number: int) -> Sequence[Fact] | None:
        """Read the counters of ``ip -s``: a heading, and the numbers on the next line."""
        heading = _COUNTED.match(text)
        if heading:
            way = heading["way"].lower()
            known = [_CALLED.get(one, "") for one in heading["columns"].split()]
            self.columns = tuple(f"{way}_{one}" if one else "" for one in known)
            return READ
        columns, self.columns = self.columns, ()
        numbers = text.split() if columns and _NUMBERS.match(text) else []
        if not numbers or len(numbers) != len(columns):
            return None
        assert self.link is not None
        return tuple(
            Counter(
                where=self.link["name"].split("@")[0], name=name, value=int(value),
                host=self.host, evidence=self.source.evidence(text, number),
            )
            for name, value in zip(columns, numbers, strict=True)
            if name
        )  # fmt: skip

    def _whole(self, text: str, number: int) -> Fact | None:
        """Return what a line states alone: a route, or an interface in brief."""
        brief, route = _BRIEF.match(text), _ROUTE.match(text)
        named, neighbour = _NAMED.match(text), _NEIGHBOUR.match(text)
        if neighbour:
            return NeighbourAddress(
                address=neighbour["address"], interface=neighbour["dev"],
                mac=neighbour["mac"] or "", host=self.source.host,
                evidence=self.source.evidence(text, number),
            )  # fmt: skip
        if named:
            return Interface(
                interface=named["name"], host=self.source.host,
                evidence=self.source.evidence(text, number),
            )  # fmt: skip
        if brief:
            return self._brief(brief, text, number)
        one_line = _ONE_LINE.match(text)
        picked = one_line or (_PICKED.match(text) if self.link is None else None)
        if picked:
            return self._picked(picked, text, number)
        return self._route(route, text, number) if route else None

    def _brief(self, found: "re.Match[str]", text: str, number: int) -> Interface:
        """Read a line of ``ip -br addr``, or of ``ip -br link`` with its flags."""
        return Interface(
            interface=found["name"],
            up=found["state"] != "DOWN",
            carrier=None if found["flags"] is None else "LOWER_UP" in found["flags"],
            addresses=tuple((found["addresses"] or "").split()),
            mac=mac["brief"] or "" if (mac := _MAC.search(text)) else "",
            host=self.turns.host(self.source, found["name"]),
            evidence=self.source.evidence(text, number),
        )

    def _picked(self, found: "re.Match[str]", text: str, number: int) -> Interface:
        """Read an address that stands alone (``ip addr | grep``, ``ip -o addr``)."""
        return Interface(
            interface=found["name"], addresses=(found["address"],),
            host=self.source.host, evidence=self.source.evidence(text, number),
        )  # fmt: skip

    def _route(self, found: "re.Match[str]", text: str, number: int) -> Route:
        metric, source = _METRIC.search(found["rest"]), _SOURCE.search(found["rest"])
        return Route(
            destination=found["to"],
            interface=found["dev"],
            via=found["via"] or "",
            metric=int(metric[1]) if metric else None,
            source=source[1] if source else "",
            host=self.source.host,
            evidence=self.source.evidence(text, number),
        )


ip = Parser(
    tool="ip",
    marks=("> mtu ", "@if", " dev ", " UP ", " UNKNOWN ", " DOWN ", " scope "),
    reader=_Reader,
    rank=30,
)
