"""The kernel's files, as ``grep . FILES`` or ``tail -n +1 FILES`` print them.

A line is ``/sys/path:value``, or the value follows a heading ``==> /sys/path <==``.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts import (
    AdapterPort,
    AdapterSeen,
    Counter,
    Evidence,
    Fact,
    Gid,
    Interface,
    LinkLayer,
    PartitionKey,
    PcieLink,
)
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._ib_counters import saturated
from weft.observe.parsers._values import integer, layer, physical, rate, real, state

_FULL = 0x8000
_GIGA = 1e9
_FILE = re.compile(r"(?P<path>/(?:sys|host/sys)/[\w/.:@-]{3,200}?)(?::|=| +)\s*(?P<value>\S.*)")
_CAT = re.compile(r"\b(?:cat|more|head) (?:-\w+ )?(?P<path>/sys/[\w/.:@*-]{3,200})\s*$")
_LONE = re.compile(
    r"\s*(?:0x[0-9a-fA-F]{1,8}|\d+: \w+|[0-9a-fA-F:]{2,45}|\d{1,20}|\d+ Gb/sec \(.*\)|"
    r"[A-Z]\w+)\s*$"
)
_HEADING = re.compile(r"==> (?P<path>/\S+) <==")
_PORT = re.compile(
    r".*/infiniband/(?P<adapter>[\w.-]+)/ports/(?P<port>\d+)/(?P<file>[\w/.-]+)$"
)
_DEVICE = re.compile(r".*/infiniband/(?P<adapter>[\w.-]+)/(?P<file>[\w/.-]+)$")
_PCI = re.compile(r".*/(?P<bus>[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d)/(?P<file>\w+)$")
_ADAPTER_PCI = re.compile(
    r".*/(?:infiniband|net)/(?P<bus>[\w.-]+)/device/(?P<file>(?:current|max)_link_\w+)$"
)
_NET = re.compile(r".*/net/(?P<name>[\w.-]+)/statistics/(?P<counter>\w+)$")
_NET_FILE = re.compile(r".*/net/(?P<name>[\w.-]+)/(?P<file>mtu|operstate|carrier)$")
_SUMMARY = re.compile(
    r"(?P<adapter>[a-z][\w.-]+) pci=(?P<bus>[0-9a-f:.]+)(?: numa=(?P<numa>-?\d+))?"
    r"(?: state=(?P<state>\d: ?\w+))?(?: phys_state=(?P<phys>\d: ?\w+))?"
)
_PAIRED = re.compile(
    r"\s{0,40}(?P<name>(?:np|rp|req|resp|rx|roce|out_of|packet_seq|local_ack|rnr_nak|implied|"
    r"duplicate|lifespan)\w{2,60})\s{0,40}(?:=|:|,|\u2192|->)?\s{0,40}\+?"
    r"(?P<value>\d[\d,]{0,24})(?:\s|,|$)"
)


@dataclass(slots=True)
class _Reader:
    """Reads values with their paths."""

    source: Source
    path: str = ""

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        heading = _HEADING.match(text)
        if heading:
            self.path = heading["path"]
            return READ
        evidence = self.source.evidence(text, number)
        found = _FILE.match(text)
        path = found["path"] if found else self.path or self._asked(text)
        if path:
            self.path = self.path if found else ""
            return self._value(path, (found["value"] if found else text).strip(), evidence)
        summary = _SUMMARY.match(text)
        if summary:
            return self._summary(summary, evidence)
        paired = _PAIRED.match(text)
        if paired:
            value = integer(paired["value"]) or 0
            return (
                Counter(
                    where="",
                    name=paired["name"],
                    value=value,
                    host=self.source.host,
                    evidence=evidence,
                ),
            )
        return None

    def _asked(self, text: str) -> str:
        """Return the file whose value a line is, where a command printed one file."""
        asked = _CAT.search(self.source.command)
        return asked["path"].replace("*", "any") if asked and _LONE.match(text) else ""

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ

    def _value(self, path: str, value: str, evidence: Evidence) -> Sequence[Fact]:
        for expression, read in _PATHS:
            found = expression.match(path)
            if found:
                return read(found, value, self.source, evidence)
        return READ

    def _summary(self, found: "re.Match[str]", evidence: Evidence) -> Sequence[Fact]:
        host = self.source.host
        seen = AdapterSeen(
            adapter=found["adapter"],
            bus_id=found["bus"],
            numa=integer(found["numa"]),
            host=host,
            evidence=evidence,
        )
        if not found["state"]:
            return (seen,)
        port = AdapterPort(
            adapter=found["adapter"],
            port=1,
            state=state(found["state"]),
            physical_state=physical(found["phys"] or ""),
            host=host,
            evidence=evidence,
        )
        return (seen, port)


_Read = Callable[["re.Match[str]", str, Source, Evidence], Sequence[Fact]]


def _of_port(
    found: "re.Match[str]", value: str, source: Source, evidence: Evidence
) -> Sequence[Fact]:
    """State a file of a port: a counter, a table entry, or a state."""
    adapter, port, file = found["adapter"], int(found["port"]), found["file"]
    folder, _, name = file.rpartition("/")
    host = source.host
    if folder in {"counters", "hw_counters"}:
        number = integer(value)
        if number is None:
            return READ
        full = folder == "counters" and saturated(name, number)
        return (
            Counter(
                where=adapter,
                name=name,
                value=number,
                port=port,
                saturated=full,
                host=host,
                evidence=evidence,
            ),
        )
    if folder == "gids":
        return (
            Gid(
                adapter=adapter,
                port=port,
                index=int(name),
                gid=value,
                host=host,
                evidence=evidence,
            ),
        )
    if folder == "pkeys":
        key = integer(value) or 0
        full_member = bool(key & _FULL)
        entry = PartitionKey(
            index=int(name),
            key=key,
            full=full_member,
            adapter=adapter,
            port=port,
            host=host,
            evidence=evidence,
        )
        return (entry,) if key else READ
    return _state_of_port(adapter, port, name, value, host, evidence)


def _state_of_port(  # noqa: PLR0917 - the parts of one line
    adapter: str, port: int, name: str, value: str, host: str, evidence: Evidence
) -> Sequence[Fact]:
    if name == "state":
        return (
            AdapterPort(
                adapter=adapter, port=port, state=state(value), host=host, evidence=evidence
            ),
        )
    if name == "phys_state":
        return (
            AdapterPort(
                adapter=adapter,
                port=port,
                physical_state=physical(value),
                host=host,
                evidence=evidence,
            ),
        )
    if name == "rate":
        return (
            AdapterPort(
                adapter=adapter,
                port=port,
                rate_bytes_per_s=rate(value),
                rate_text=value,
                host=host,
                evidence=evidence,
            ),
        )
    if name == "link_layer" and layer(value) is not LinkLayer.UNKNOWN:
        return (
            AdapterPort(
                adapter=adapter,
                port=port,
                link_layer=layer(value),
                host=host,
                evidence=evidence,
            ),
        )
    return READ


def _of_device(
    found: "re.Match[str]", value: str, source: Source, evidence: Evidence
) -> Sequence[Fact]:
    name = found["file"].rpartition("/")[2]
    adapter, host = found["adapter"], source.host
    if name == "fw_ver":
        return (AdapterSeen(adapter=adapter, firmware=value, host=host, evidence=evidence),)
    if name == "numa_node":
        return (
            AdapterSeen(adapter=adapter, numa=integer(value), host=host, evidence=evidence),
        )
    return READ


def _of_pci(
    found: "re.Match[str]", value: str, source: Source, evidence: Evidence
) -> Sequence[Fact]:
    number = real(value)
    if number is None:
        return READ
    if found["file"] == "current_link_speed":
        return (
            PcieLink(
                device=found["bus"],
                transfers_per_s=number * _GIGA,
                host=source.host,
                evidence=evidence,
            ),
        )
    if found["file"] == "max_link_speed":
        return (
            PcieLink(
                device=found["bus"],
                max_transfers_per_s=number * _GIGA,
                host=source.host,
                evidence=evidence,
            ),
        )
    if found["file"] == "current_link_width":
        return (
            PcieLink(
                device=found["bus"], lanes=int(number), host=source.host, evidence=evidence
            ),
        )
    if found["file"] == "max_link_width":
        return (
            PcieLink(
                device=found["bus"], max_lanes=int(number), host=source.host, evidence=evidence
            ),
        )
    return READ


def _of_net(
    found: "re.Match[str]", value: str, source: Source, evidence: Evidence
) -> Sequence[Fact]:
    number = integer(value)
    if number is None:
        return READ
    return (
        Counter(
            where=found["name"],
            name=found["counter"],
            value=number,
            host=source.host,
            evidence=evidence,
        ),
    )


def _of_net_file(
    found: "re.Match[str]", value: str, source: Source, evidence: Evidence
) -> Sequence[Fact]:
    """State the MTU of an interface, or whether it is up."""
    of_mtu = found["file"] == "mtu"
    return (
        Interface(
            interface=found["name"],
            mtu_bytes=integer(value) if of_mtu else None,
            up=None if of_mtu else value.lower() in {"up", "1"},
            host=source.host,
            evidence=evidence,
        ),
    )


_PATHS: tuple[tuple[re.Pattern[str], _Read], ...] = (
    (_PORT, _of_port),
    (_ADAPTER_PCI, _of_pci),
    (_DEVICE, _of_device),
    (_NET, _of_net),
    (_NET_FILE, _of_net_file),
    (_PCI, _of_pci),
)
sysfs = Parser(
    tool="sysfs",
    marks=(
        "/sys/",
        " pci=",
        "==> /",
        "np_",
        "rp_",
        "out_of_sequence",
        "local_ack",
        "packet_seq",
        "rnr_nak",
        "roce_",
    ),
    reader=_Reader,
    rank=41,
)
