"""What the library says of channels, rings, trees, algorithms and the machine's topology."""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.communicators import (
    AlgorithmChosen,
    ChannelPath,
    RingSeen,
    TopologyPart,
    TopologyPath,
    TreeSeen,
)
from weft.observe.parsers._nccl_line import Rule, Words, number, rule
from weft.observe.parsers._nccl_setup import _counts, _nothing

_GIGA = 1e9
_MOST_DIGITS = 10
_ENDS = re.compile(
    r"(?P<source>-?\d+)(?:\[\w+\])? -> (?P<target>-?\d+)(?:\[\w+\])?"
    r" ?(?:\[(?P<direction>send|receive)\])? *(?:\[\w+\] *)?via (?P<path>.+)"
)
_NET = re.compile(
    r"(?P<kind>NET|COLLNET)/(?P<network>[A-Za-z][\w ]*?)(?:/(?P<device>\d+))?(?=[/(\s]"
    r"|$)(?P<rest>.*)"
)
_TREE = re.compile(
    r"\[(?P<channel>\d+)\] (?P<below>-?\d+(?:/-?\d+)*)->(?P<rank>-?\d+)->(?P<above>-?"
    r"\d+(?:\|-?\d+)*)"
)
_MODEL = re.compile(r"\((?P<vendor>[0-9a-f]{4})(?P<device>[0-9a-f]{4})[0-9a-f]{8}\)")
"""Vendor and device of a bridge, with those of its subsystem, as one number."""
_WAY = re.compile(
    r"NET/(?P<target>[\w-]{1,24}) \((?P<hops>\d{1,3})/[\d.]{1,16}/"
    r"(?P<connection>[A-Z\d]{2,4})\)"
)
_ALGORITHMS = ("TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT")
_PROTOCOLS = ("LL", "LL128", "SIMPLE")
_WHOLE_RING_ENDS = "..."


def path_fact(ends: str, words: Words) -> Sequence[Fact] | None:
    """Return how two ranks reach one another from ``a[x] -> b[y] [send] via path``."""
    found = _ENDS.match(ends)
    if not found:
        return None
    path = found["path"].strip()
    net = _NET.match(path)
    network, device, rest = "", None, path
    transport = (
        "SHM" if path.startswith(("SHM", "direct shared memory")) else path.split("/")[0]
    )
    if net:
        transport, network = net["kind"], net["network"].strip()
        device, rest = number(net["device"]), net["rest"]
    return (
        ChannelPath(
            source=int(found["source"]),
            target=int(found["target"]),
            transport=transport,
            network=network,
            device=device,
            gpudirect="GDRDMA" in rest,
            via_peer_gpu="PXN" in rest,
            direction=found["direction"] or "",
            detail=rest.strip("/ ") if net else path.partition("/")[2],
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _old_path(found: re.Match[str], words: Words) -> Sequence[Fact]:
    """State how two ranks are joined as versions before 2.5 wrote it."""
    return path_fact(found["ends"].strip(), words) or ()


def _ring(found: re.Match[str], words: Words) -> Sequence[Fact]:
    text = found["ranks"]
    ranks = [part for part in text.split() if part.isdecimal() and len(part) < _MOST_DIGITS]
    return (
        RingSeen(
            channel=int(found["channel"]),
            ranks=tuple(map(int, ranks)),
            complete=_WHOLE_RING_ENDS not in text,
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _trees(found: re.Match[str], words: Words) -> Sequence[Fact]:
    return tuple(
        TreeSeen(
            channel=int(one["channel"]),
            rank=int(one["rank"]),
            children=tuple(int(c) for c in one["below"].split("/") if c != "-1"),
            parent=int(one["above"].split("|")[0]),
            process=words.process,
            evidence=words.evidence,
        )
        for one in _TREE.finditer(found["trees"])
    )


def _part(found: re.Match[str], words: Words) -> Sequence[Fact]:
    """State a line of the drawing; the reader knows by its indentation how far down it is."""
    speed = found["speed"]
    model = _MODEL.search(words.text) if found["kind"] == "PCI" else None
    return (
        TopologyPart(
            depth=0,
            kind=found["kind"],
            name=found["name"].strip(),
            model=f"{model['vendor']}:{model['device']}" if model else "",
            link=found["link"] or "",
            link_bytes_per_s=float(speed) * _GIGA if speed else None,
            rank=number(found["rank"]),
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _ways(found: re.Match[str], words: Words) -> Sequence[Fact]:
    """State how a GPU would reach each network device."""
    return tuple(
        TopologyPath(
            source=found["source"],
            target=one["target"],
            connection=one["connection"],
            hops=int(one["hops"]),
            process=words.process,
            evidence=words.evidence,
        )
        for one in _WAY.finditer(words.text)
    )


def _algorithm(found: re.Match[str], words: Words) -> Sequence[Fact]:
    return (
        AlgorithmChosen(
            operation=found["operation"],
            size_bytes=int(found["size"]),
            algorithm=_named(found["algorithm"], _ALGORITHMS),
            protocol=_named(found["protocol"], _PROTOCOLS),
            channels=number(found["channels"]),
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _named(text: str, names: tuple[str, ...]) -> str:
    place = number(text)
    return names[place] if place is not None and place < len(names) else text.upper()


_PART = (
    r"(?P<indent>[| ]*)(?:\+ )?(?P<link>[A-Z]+\d*)?\[(?P<speed>[\d.]+)\] - (?P<kind>[A-Z]+)/"
    r"(?P<name>\S+)(?:[^\n]*? rank (?P<rank>\d+)| \((?P<ranks>\d+)\))?"
)
PATHS: dict[str, tuple[Rule, ...]] = {
    "Channel": (
        rule(
            r"Channel (?P<channel>\d{1,5})(?:/\d{1,5})? ?: (?P<ranks> *\d+ (?!\[)[\d .]*)",
            _ring,
        ),
    ),
    "Ring": (
        rule(r"Ring (?P<channel>\d+) ?: (?P<ranks>-?\d+ -> -?\d+ -> -?\d+)$", _nothing),
        rule(r"Ring \d+ ?: (?P<ends>\S{1,24} -> \S{1,24} .{0,60}via .+)", _old_path),
    ),
    "Trees": (rule(r"Trees (?P<trees>\[.*)", _trees),),
    "===": (rule(r"=== System|===", _nothing),),
    "==========================================": (rule(r"=+", _nothing),),
    "Pattern": (rule(r"Pattern \d", _nothing),),
    "NVLS": (rule(r"NVLS ", _nothing),),
}
PART = rule(_PART, _part)
CPU = rule(r"(?P<indent>)(?P<link>)(?P<speed>)(?P<kind>CPU)/(?P<name>\S+)(?P<rank>)", _part)
WAYS = rule(r"GPU/(?P<source>[\w-]{1,24}) ?: ?[A-Z]{2,4}/[\w-]{1,24} \(", _ways)
CHOSEN = rule(
    r"(?P<operation>[A-Z][A-Za-z]+): (?P<size>\d+) Bytes -> (?:Algo|Algorithm) "
    r"(?P<algorithm>\w+) "
    r"(?:proto|Protocol) (?P<protocol>\w+)(?:.*? (?:channel\{Lo\.\.Hi\}=\{\d+\.\.|nchannels )"
    r"(?P<channels>\d+))?",
    _algorithm,
)
COUNTS = rule(
    r"(?P<coll>\d+) coll channels, (?:(?P<collnet>\d+) collnet channels, )?"
    r"(?:(?P<nvls>\d+) nvls channels, )?(?:(?P<p2p>\d+) p2p channels)?"
    r"(?:, (?P<peer>\d+) p2p channels per peer)?",
    _counts,
)
