"""The kernel's files, as ``grep . FILES`` or ``tail -n +1 FILES`` print them.

A line is ``/sys/path:value``, or the value follows a heading ``==> /sys/path <==``.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from weft.observe.facts.adapters import AdapterPort, AdapterSeen, Gid, GidKind, PartitionKey
from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.interfaces import Counter, Interface
from weft.observe.facts.pci import PcieLink
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._ib_counters import saturated
from weft.observe.parsers._values import integer, layer, physical, rate, real, state

_FULL = 0x8000
_GIGA = 1e9
_FILE = re.compile(r"(?P<path>/(?:sys|host/sys)/[\w/.:@-]{3,200}?)(?::|=| +)\s*(?P<value>\S.*)")
_ONE = r"/sys/[\w/.:@*{},[\]-]{3,200}"
_CAT = re.compile(
    rf"\b(?:cat|more|head) (?:-\w+ )?(?P<paths>{_ONE}(?:\s{{1,9}}{_ONE}){{0,15}})"
    r"['\"]?\s*(?:\| dshbak.*|2>\S+\s*)?(?P<rest>$|;.{0,200}$|\).{0,200}$)"
)
_BARE_FILE = re.compile(r"(?:\./)?[a-z][\w/]{2,80}:\S.{0,200}$")
_ROW = re.compile(r"\s*(?:[\d:.T-]{8,30}\s+)?(?P<values>\d{1,20}(?:\s+\d{1,20}){0,15})\s*$")
_RANGE = re.compile(r"\[(?P<first>\d)-(?P<last>\d)\]")
_BRACES = re.compile(r"\{(?P<names>[\w,]{1,200})\}")
_DOTS = re.compile(r"\{(?P<first>\d{1,3})\.\.(?P<last>\d{1,3})\}")
_MOST_PATHS = 64
_ROCE = re.compile(r"RoCE v([12])")
_LONE = re.compile(
    r"(?!\s*\d\d:\d\d:\d\d\s*$)"  # when it was read
    r"\s*(?:0x[0-9a-fA-F]{1,8}|\d+: \w+|[0-9a-fA-F:]{2,45}|\d{1,20}|\d+ Gb/sec \(.*\)|"
    r"[A-Z]\w+|(?:IB/)?RoCE v[12])\s*$"
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
_NET_COUNT = re.compile(
    r".*/net/(?P<name>[\w.-]+)/(?P<counter>carrier_(?:changes|down_count|up_count))$"
)
_NET_FILE = re.compile(r".*/net/(?P<name>[\w.-]+)/(?P<file>mtu|operstate|carrier)$")
_SUMMARY = re.compile(
    r"(?P<adapter>[a-z][\w.-]+) pci=(?P<bus>[0-9a-f:.]+)(?: numa=(?P<numa>-?\d+))?"
    r"(?: state=(?P<state>\d: ?\w+))?(?: phys_state=(?P<phys>\d: ?\w+))?"
)
_PAIRED = re.compile(
    r"\s{0,40}(?P<name>(?:np|rp|req|resp|rx|roce|out_of|packet_seq|local_ack|rnr_nak|implied|"
    r"duplicate|lifespan|to_retrans|seq_err|max_retry|oos_drop|res_oos)\w{2,60})\s{0,40}(?:=|:|,|\u2192|->)?\s{0,40}\+?"
    r"(?P<value>\d[\d,]{0,24})(?:\s|,|$)"
)


def _names(several: re.Match[str]) -> list[str]:
    """Return what a shell makes of braces, or of a range of numbers."""
    told = several.groupdict()
    if told.get("names"):
        return told["names"].split(",")
    last = min(int(told["last"]), int(told["first"]) + _MOST_PATHS)
    return [str(number) for number in range(int(told["first"]), last + 1)]


@lru_cache(maxsize=64)
def _expanded(paths: str) -> tuple[str, ...]:
    """Return the files that a shell makes of paths, in its order.

    >>> _expanded("/sys/a/pkeys/0 /sys/a/{rate,state}")
    ('/sys/a/pkeys/0', '/sys/a/rate', '/sys/a/state')
    """
    found: list[str] = []
    left = paths.replace("*", "any").split()[::-1]
    while left and len(found) < _MOST_PATHS:
        path = left.pop()
        several = _BRACES.search(path) or _RANGE.search(path) or _DOTS.search(path)
        if several is None:
            found.append(path)
        else:
            head, tail = path[: several.start()], path[several.end() :]
            left += [head + name + tail for name in _names(several)][::-1]
    return tuple(found)


@dataclass(slots=True)
class _Reader:
    """Reads values with their paths."""

    source: Source
    path: str = ""
    several: str = ""
    place: int = 0

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        heading = _HEADING.match(text)
        if heading:
            self.path = heading["path"]
            return READ
        evidence = self.source.evidence(text, number)
        found = _FILE.match(text) or self._below(text)
        path = found["path"] if found else self.path or self._asked(text)
        if path:
            self.path = self.path if found else ""
            return self._value(path, (found["value"] if found else text).strip(), evidence)
        row = self._row(text, evidence)
        if row:
            return row
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

    def _below(self, text: str) -> "re.Match[str] | None":
        """Return a file named within the folder that the session went to, and its value."""
        folder = self.source.folder.rstrip("/")
        bare = _BARE_FILE.match(text) if folder.startswith("/sys/") else None
        return _FILE.match(f"{folder}/{bare[0].removeprefix('./')}") if bare else None

    def _asked(self, text: str) -> str:
        """Return the file whose value a line is, where a command printed files one by one."""
        asked = _CAT.search(self.source.command)
        if asked is None or not _LONE.match(text):
            return ""
        paths = _expanded(asked["paths"])
        if len(paths) == 1:
            return paths[0]
        if asked["paths"] != self.several:
            self.several, self.place = asked["paths"], 0
        self.place += 1
        again = "done" in asked["rest"]
        if self.place > len(paths) and not again:
            return ""
        return paths[(self.place - 1) % len(paths)]

    def _row(self, text: str, evidence: Evidence) -> Sequence[Fact]:
        """Read values on one line, as a command puts what it printed into its own words."""
        asked = _CAT.search(self.source.command)
        found = _ROW.match(text) if asked and asked["rest"].startswith(")") else None
        if asked is None or found is None:
            return ()
        paths, values = _expanded(asked["paths"]), found["values"].split()
        if len(paths) != len(values):
            return ()
        told = zip(paths, values, strict=True)
        return tuple(one for path, value in told for one in self._value(path, value, evidence))

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
    """State what a file of a port holds: an entry of one of its tables, or its own state."""
    adapter, port = found["adapter"], int(found["port"])
    folder, _, name = found["file"].rpartition("/")
    bare = AdapterPort(adapter=adapter, port=port, host=source.host, evidence=evidence)
    table = _TABLES.get(folder)
    if table:
        return table(bare, name, value)
    read = _STATES.get(name)
    if read is None:
        return READ
    told = read(bare, value)
    return (told,) if told != bare else READ


_Entry = Callable[[AdapterPort, str, str], Sequence[Fact]]


def _counter(of: AdapterPort, name: str, value: str) -> Sequence[Counter]:
    number = integer(value)
    if number is None:
        return ()
    return (
        Counter(
            where=of.adapter,
            port=of.port,
            name=name,
            value=number,
            host=of.host,
            evidence=of.evidence,
        ),
    )


def _narrow_counter(of: AdapterPort, name: str, value: str) -> Sequence[Fact]:
    """State a counter of the port itself, which may stand at the end of its range."""
    return [
        replace(one, saturated=saturated(name, one.value)) for one in _counter(of, name, value)
    ]


def _gid(of: AdapterPort, name: str, value: str) -> Sequence[Fact]:
    index = integer(name)
    if index is None or of.port is None:
        return READ
    return (
        Gid(
            adapter=of.adapter,
            port=of.port,
            index=index,
            gid=value,
            host=of.host,
            evidence=of.evidence,
        ),
    )


def _gid_kind(of: AdapterPort, name: str, value: str) -> Sequence[Fact]:
    index, version = integer(name), _ROCE.search(value)
    if index is None or of.port is None or version is None:
        return READ
    return (
        GidKind(
            adapter=of.adapter, port=of.port, index=index, version=int(version[1]),
            host=of.host, evidence=of.evidence,
        ),
    )  # fmt: skip


def _partition_key(of: AdapterPort, name: str, value: str) -> Sequence[Fact]:
    key, index = integer(value), integer(name)
    if not key or index is None:
        return READ
    return (
        PartitionKey(
            index=index,
            key=key,
            full=bool(key & _FULL),
            adapter=of.adapter,
            port=of.port,
            host=of.host,
            evidence=of.evidence,
        ),
    )


_TABLES: dict[str, _Entry] = {
    "counters": _narrow_counter,
    "hw_counters": _counter,
    "gids": _gid,
    "gid_attrs/types": _gid_kind,
    "pkeys": _partition_key,
}
_STATES: dict[str, Callable[[AdapterPort, str], AdapterPort]] = {
    "state": lambda port, value: replace(port, state=state(value)),
    "phys_state": lambda port, value: replace(port, physical_state=physical(value)),
    "rate": lambda port, value: replace(port, rate_bytes_per_s=rate(value), rate_text=value),
    "link_layer": lambda port, value: replace(port, link_layer=layer(value)),
}


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
    number, read = real(value), _LINKS.get(found["file"])
    if number is None or read is None:
        return READ
    link = PcieLink(device=found["bus"], host=source.host, evidence=evidence)
    return (read(link, number),)


_LINKS: dict[str, Callable[[PcieLink, float], PcieLink]] = {
    "current_link_speed": lambda link, giga: replace(link, transfers_per_s=giga * _GIGA),
    "max_link_speed": lambda link, giga: replace(link, max_transfers_per_s=giga * _GIGA),
    "current_link_width": lambda link, lanes: replace(link, lanes=int(lanes)),
    "max_link_width": lambda link, lanes: replace(link, max_lanes=int(lanes)),
}


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
    (_NET_COUNT, _of_net),
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
        "retransmits",
        "oos_drop",
    ),
    reader=_Reader,
    rank=41,
)
