"""``route -n`` and ``netstat -rn``: the routing table as older tools print it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network

from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import Route
from weft.observe.parser import READ, Parser, Source

_TITLE = re.compile(r"Kernel IP routing table|Destination\s+Gateway\s+Genmask")
_ADDRESS = r"\d{1,3}(?:\.\d{1,3}){3}"
_ROW = re.compile(
    rf"(?P<to>{_ADDRESS}|default)\s+(?P<via>{_ADDRESS}|\*|_gateway)\s+(?P<mask>{_ADDRESS})\s+"
    r"(?P<flags>[A-Z!]+)\s+(?P<metric>\d+)\s+\d+\s+\d+\s+(?P<dev>\S+)\s*$"
)


@dataclass(slots=True)
class _Reader:
    """Reads the rows below the title."""

    source: Source

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the route of a row."""
        row = _ROW.match(text)
        if row is None:
            return READ if _TITLE.match(text) else None
        via = row["via"]
        return (
            Route(
                destination=_destination(row["to"], row["mask"]),
                interface=row["dev"],
                via="" if via in {"0.0.0.0", "*"} else via,  # noqa: S104 - no gateway
                metric=int(row["metric"]),
                host=self.source.host,
                evidence=self.source.evidence(text, number),
            ),
        )

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ


def _destination(to: str, mask: str) -> str:
    """Return a destination as ``ip route`` writes it.

    >>> _destination("10.9.0.0", "255.255.240.0"), _destination("0.0.0.0", "0.0.0.0")
    ('10.9.0.0/20', 'default')
    """
    if to == "default" or mask == "0.0.0.0":  # noqa: S104 - every address
        return "default"
    try:
        return str(IPv4Network(f"{to}/{mask}", strict=False))
    except ValueError:
        return to


route = Parser(tool="route", marks=("Genmask", " U ", " UG ", " UH "), reader=_Reader, rank=31)
