"""``show_gids`` and lists of a port's GIDs: which address stands at which index."""

import re
from collections.abc import Sequence

from weft.observe.facts.adapters import Gid, GidCount
from weft.observe.facts.base import Fact
from weft.observe.parser import Parser
from weft.observe.patterns import Line, nothing, pattern, table

_GID = r"(?P<gid>(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F.]{0,15})"
_IPV4 = r"(?P<ipv4>\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})"
_MAPPED = re.compile(r"(?:0000:){5}ffff:([0-9a-f]{2})([0-9a-f]{2}):([0-9a-f]{2})([0-9a-f]{2})$")


def _entry(found: re.Match[str], line: Line) -> Sequence[Fact]:
    groups = found.groupdict()
    gid = found["gid"].lower()
    mapped = _MAPPED.match(gid)
    address = ".".join(str(int(part, 16)) for part in mapped.groups()) if mapped else ""
    version = groups.get("version") or ""
    digits = [c for c in version if c.isdigit()]
    return (
        Gid(
            adapter=found["adapter"],
            port=int(found["port"]),
            index=int(found["index"]),
            gid=gid,
            version=int(digits[-1]) if digits else None,
            ipv4=groups.get("ipv4") or address,
            interface=groups.get("interface") or "",
            host=line.host,
            evidence=line.evidence,
        ),
    )


_PORT = re.compile(r"/infiniband/(?P<adapter>[\w.-]+)/ports/(?P<port>\d+)")


def _row(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """Read an entry and its type that a loop put on one line, of the port it went to."""
    source = line.source
    port = _PORT.search(source.command) or _PORT.search(source.folder)
    gid = found["gid"].lower()
    mapped = _MAPPED.match(gid)
    return (
        Gid(
            adapter=port["adapter"] if port else "", port=int(port["port"]) if port else 1,
            index=int(found["index"]), gid=gid, version=int(found["version"]),
            ipv4=".".join(str(int(part, 16)) for part in mapped.groups()) if mapped else "",
            interface=found["interface"] or "", host=line.host, evidence=line.evidence,
        ),
    )  # fmt: skip


def _count(found: re.Match[str], line: Line) -> Sequence[Fact]:
    entries = int(found["entries"])
    return (GidCount(entries=entries, host=line.host, evidence=line.evidence),)


show_gids = Parser(
    tool="show_gids",
    marks=("INDEX", "fe80:", "FE80:", "0000:0000:", "n_gids_found", "/gids/"),
    reader=table(
        pattern("DEV", r"DEV\s+PORT\s+INDEX\s+GID", nothing),
        pattern("---", r"---\s+----", nothing),
        pattern("n_gids_found", r"n_gids_found=(?P<entries>0)\b", _count),
        pattern("n_gids_found", r"n_gids_found", nothing),
        pattern(
            "",
            rf"\s*(?P<adapter>[a-z][\w.-]*)\s+(?P<port>\d+)\s+(?P<index>\d+)\s+{_GID}"
            rf"(?:\s+{_IPV4})?(?:\s+(?P<version>(?:RoCE )?[vV]\d(?:\.\d)?|IB))?(?:\s+"
            r"(?P<interface>[a-z][\w.@-]*))?\s*$",
            _entry,
        ),
        pattern(
            "",
            rf"\s*(?P<adapter>[a-z][\w.-]*)\s+(?P<interface>[a-z][\w.@-]*)\s+(?P<port>\d+)\s+"
            rf"(?P<index>\d+)\s+{_GID}\s+(?P<version>(?:RoCE )?v\d)(?:\s+{_IPV4})?",
            _entry,
        ),
        pattern(
            "",
            rf"\s*(?P<index>\d{{1,3}})[:\s]\s*{_GID}\s+(?:IB/)?RoCE v(?P<version>[12])"
            r"(?:\s+(?P<interface>[a-z][\w.@-]*))?\s*$",
            _row,
        ),
        pattern(
            "/sys/class/infiniband/",
            r"/sys/class/infiniband/(?P<adapter>[\w.-]+)/ports/(?P<port>\d+)/gids/"
            r"(?P<index>\d+)"
            rf":\s*{_GID}",
            _entry,
        ),
    ),
    rank=33,
)
