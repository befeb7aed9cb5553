"""What was not judged because nothing was read of it, and which command would have shown it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from weft.inventory.inventory import Inventory
from weft.inventory.table import rows

NOT_INSTALLED = "collect.not_installed"
"""A line of a bundle: a command that the host does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Area:
    """One matter that a cluster is judged by."""

    area: str
    attributes: frozenset[str]
    commands: tuple[str, ...]
    of: str = ""
    """``host``: every host must show it."""


@cache
def areas() -> tuple[Area, ...]:
    """Return the areas of the table."""
    return tuple(
        Area(
            area=row["area"],
            attributes=frozenset(row["attributes"]),
            commands=tuple(row["commands"]),
            of=row.get("of", ""),
        )
        for row in rows("weft.expectations", "coverage.yaml")
    )


def lost_with(command: str) -> tuple[str, ...]:
    """Return the areas that only a command shows, or that it shows first.

    >>> lost_with("lldpctl")
    ('cabling',)
    """
    return tuple(area.area for area in areas() if area.commands[0] == command)


def not_read(inventory: Inventory) -> Iterator[str]:
    """Yield what was not read, of the whole input or of some hosts, each with its command."""
    seen = _seen(inventory)
    anywhere = {path for paths in seen.values() for path in paths}
    of_hosts = frozenset().union(*(area.attributes for area in areas() if area.of))
    hosts = {host for host, paths in seen.items() if host and paths & of_hosts}
    lacks = _lacks(inventory)
    for area in areas():
        if not area.attributes & anywhere:
            yield f"{area.area} ({area.commands[0]})"
            continue
        without = [host for host in sorted(hosts) if not seen[host] & area.attributes]
        if area.of and without:
            absent = next((c for c in area.commands if c in lacks.get(without[0], ())), "")
            why = f"{absent} is not installed" if absent else area.commands[0]
            more = f" and {len(without) - 1} more" if len(without) > 1 else ""
            yield f"{area.area} of {without[0]}{more} ({why})"


def _seen(inventory: Inventory) -> Mapping[str, set[str]]:
    """Return the attributes that were read, by host; of what is on no host under no name."""
    found: dict[str, set[str]] = {}
    for entity, known in inventory.readings.items():
        host = entity.fields.get("host", "") if entity.key else ""
        found.setdefault(host, set()).update(f"{entity.kind}.{name}" for name in known)
    return found


def _lacks(inventory: Inventory) -> Mapping[str, set[str]]:
    """Return the commands that each host does not have."""
    found: dict[str, set[str]] = {}
    for event in inventory.coded(NOT_INSTALLED):
        command = event.fields.get("command", "")
        found.setdefault(event.entity.fields.get("host", ""), set()).add(command)
    return found
