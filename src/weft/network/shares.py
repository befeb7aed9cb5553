"""What packets leave of a fabric's bandwidth, beside what is published, and which is used.

``shares.toml`` is written by ``fits/fabric_shares.py``, which simulates; docs/explanation/
decisions/0006 says by which rule one of the two is used.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from weft.sources import Kind, Source, Sourced, sourced

FILE: Final = Path(__file__).with_name("shares.toml")
PACKETS: Final = Source(
    key="weft_packets",
    kind=Kind.CODE,
    title="weft's packet engine: cells of fits/fabric_shares.toml, docs/explanation/"
    "fabric-shares.md",
)
Factor = Literal["load_balancing", "tuning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """One factor of the closed forms: simulated, published, and the one that is used."""

    simulated: Sourced
    """Median of all seeds of its cells, and their range."""
    cells: str
    """The cells of fits/fabric_shares.toml that gave it: traffic, settings, balancing."""
    seeds: int
    """Of every cell."""
    published: Sourced
    used: Literal["simulated", "published"]
    why: str
    """Why this one is used."""

    def of(self, published: Sourced) -> Sourced:
        """Return what closed forms take; the simulated value has a band that holds both."""
        if self.used == "published":
            return published
        found = self.simulated
        return Sourced(
            found.value,
            min(found.low, published.low),
            max(found.high, published.high),
            (PACKETS.key, *published.sources),
            published.confidence,
        )

    @property
    def said(self) -> str:
        """Name both, and the scenario."""
        return (
            f"simulated {_range(self.simulated)} by {self.cells}, {self.seeds} seeds; "
            f"published {_range(self.published)}"
        )


def _range(one: Sourced) -> str:
    return f"{one.value:.0%} ({one.low:.0%} to {one.high:.0%})"


def find(fabric: str, factor: Factor, mode: str) -> Share | None:
    """Return the simulated share of a factor; none where nothing was simulated.

    >>> find("roce", "load_balancing", "ecmp").seeds
    5
    >>> find("tcp", "tuning", "default")
    """
    return _table().get((fabric, factor, mode))


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """Something packets show under some settings that closed forms have no factor for."""

    settings: str
    """Network settings (a file of spec/tunings) that it was simulated under."""
    name: str
    title: str
    """What the figure counts, with a place for it."""
    simulated: Sourced
    cells: str
    seeds: int

    @property
    def said(self) -> str:
        """Say what it comes to."""
        one = self.simulated
        figure = f"{one.value:.2g} ({one.low:.2g} to {one.high:.2g})"
        return f"{self.title.format(figure)} [{self.cells}, {self.seeds} seeds]"


def effects(fabric: str, state: str) -> tuple[Effect, ...]:
    """Return what was simulated of a fabric in a state of tuning beside its factors.

    >>> [one.name for one in effects("roce", "default")][:5]
    ['incast_4', 'incast_16', 'incast_64', 'tail', 'beside_jobs']
    """
    of_state = effects_under(f"{fabric}_{state}")
    return of_state or (effects_under(fabric) if state == "tuned" else ())


def effects_under(settings: str) -> tuple[Effect, ...]:
    """Return what was simulated under some network settings beside factors."""
    return tuple(one for one in _effects() if one.settings == settings)


@cache
def _effects() -> tuple[Effect, ...]:
    rows = tomllib.loads(FILE.read_text("utf-8"))["effect"]
    return tuple(
        Effect(
            settings=row["settings"],
            name=row["name"],
            title=row["title"],
            simulated=sourced(
                row["simulated"]["value"],
                PACKETS.key,
                low=row["simulated"]["low"],
                high=row["simulated"]["high"],
            ),
            cells=row["cells"],
            seeds=row["seeds"],
        )
        for row in rows
    )


@cache
def _table() -> Mapping[tuple[str, str, str], Share]:
    rows = tomllib.loads(FILE.read_text("utf-8"))["factor"]
    return {(row["fabric"], row["factor"], row["mode"]): _share(row) for row in rows}


def _share(row: Mapping[str, Any]) -> Share:
    found, published = row["simulated"], row["published"]
    return Share(
        simulated=sourced(found["value"], PACKETS.key, low=found["low"], high=found["high"]),
        cells=row["cells"],
        seeds=row["seeds"],
        published=sourced(
            published["value"],
            *published["sources"],
            low=published["low"],
            high=published["high"],
        ),
        used=row["used"],
        why=row["why"],
    )
