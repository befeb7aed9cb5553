"""What engines leave of a fabric's bandwidth, beside what is published, and which is used.

``shares.toml`` is written by ``fits/fabric_shares.py``, which simulates packets, and
``flow_shares.toml`` by ``fits/flow_shares.py``, for fabrics that packets are not simulated of;
docs/explanation/decisions/0006 says by which rule a simulated share is used.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

from weft.records import table
from weft.sources import Kind, Source, Sourced, sourced

FILES: Final = ("shares", "flow_shares")
PACKETS: Final = Source(
    key="weft_packets",
    kind=Kind.CODE,
    title="weft's packet engine: cells of fits/fabric_shares.toml, docs/explanation/"
    "fabric-shares.md",
)
FLOWS: Final = Source(
    key="weft_flows",
    kind=Kind.CODE,
    title="weft's flow engine: cells of fits/flow_shares.toml, docs/explanation/flow-shares.md",
)
ENGINES: Final = {source.key: source for source in (PACKETS, FLOWS)}
Factor = Literal["load_balancing", "tuning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """One factor of the closed forms: simulated, published, and the one that is used."""

    simulated: Sourced
    """Median of all seeds of its cells, and their range."""
    cells: str
    """The cells that gave it: traffic, settings, balancing, connections."""
    seeds: int
    """Of every cell."""
    published: Sourced | None
    """None where nothing is published of the fabric itself."""
    used: Literal["simulated", "published"]
    why: str
    """Why this one is used."""

    def of(self, published: Sourced | None) -> Sourced:
        """Return what closed forms take; the simulated value has a band that holds both."""
        found = self.simulated
        if published is None:
            return found
        if self.used == "published":
            return published
        return Sourced(
            found.value,
            min(found.low, published.low),
            max(found.high, published.high),
            (*found.sources, *published.sources),
            published.confidence,
        )

    @property
    def said(self) -> str:
        """Name both, and the scenario."""
        published = self.published
        return f"simulated {band(self.simulated)} by {self.cells}, {self.seeds} seeds; " + (
            "nothing is published" if published is None else f"published {band(published)}"
        )


def band(one: Sourced) -> str:
    """Return a share with its range."""
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

    >>> [effect.name for effect in effects("roce", "default")][:5]
    ['incast_4', 'incast_16', 'incast_64', 'tail', 'beside_jobs']
    """
    of_state = effects_under(f"{fabric}_{state}")
    return of_state or (effects_under(fabric) if state == "tuned" else ())


def effects_under(settings: str) -> tuple[Effect, ...]:
    """Return what was simulated under some network settings beside factors."""
    return tuple(effect for effect in _effects() if effect.settings == settings)


@cache
def _effects() -> tuple[Effect, ...]:
    rows = table(__package__, FILES[0])["effect"]
    return tuple(
        Effect(**{**row, "simulated": _sourced(row["simulated"], PACKETS.key)}) for row in rows
    )


@cache
def _table() -> Mapping[tuple[str, str, str], Share]:
    return {
        (row["fabric"], row["factor"], row["mode"]): _share(row, engine)
        for file, engine in zip(FILES, ENGINES, strict=True)
        for row in table(__package__, file)["factor"]
    }


def _share(row: Mapping[str, Any], engine: str) -> Share:
    published = row.get("published")
    own = {name: row[name] for name in ("cells", "seeds", "used", "why")}
    return Share(
        **own, simulated=_sourced(row["simulated"], engine),
        published=published and _sourced(published, *published["sources"]),
    )  # fmt: skip


def _sourced(found: Mapping[str, float], *sources: str) -> Sourced:
    return sourced(found["value"], *sources, low=found["low"], high=found["high"])
