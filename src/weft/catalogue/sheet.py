"""The catalogue as results: what there is of a kind, and all that is known of one device."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields

from weft import catalogue
from weft.catalogue.devices import Device, Rental, RentalPoint
from weft.catalogue.load import FOLDERS, Folder
from weft.sources import Source, Sourced
from weft.units import show_rate

UNITS = (
    "flop_per_s", "bytes_per_s", "messages_per_s", "usd_per_h", "bytes", "usd", "w", "m", "s",
)  # fmt: skip
"""Ends of the names of fields, the longest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number of a device in the unit of its field, with its range and its sources."""

    name: str
    unit: str
    value: float
    low: float
    high: float
    confidence: int
    """3 primary or measured, 2 good secondary, 1 weak or estimated."""
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One device in a list."""

    kind: str
    name: str
    title: str
    figures: int
    weak: int
    """Of the figures, those of confidence 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueListing:
    """The devices of one kind, or of all."""

    kinds: tuple[str, ...]
    entries: tuple[Entry, ...]
    catalogue_sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueSheet:
    """All that is known of one device."""

    device_kind: str
    name: str
    title: str
    vendor: str
    note: str
    facts: Mapping[str, str]
    """Counts and names."""
    fact_sources: tuple[str, ...]
    figures: tuple[Figure, ...]
    points: tuple[RentalPoint, ...]
    sources: tuple[Source, ...]
    catalogue_sha256: str


def listing(kind: Folder | None = None) -> CatalogueListing:
    """List the catalogue, or one kind of it."""
    kinds = FOLDERS if kind is None else (kind,)
    return CatalogueListing(
        kinds=kinds,
        entries=tuple(_entry(kind, name) for kind in kinds for name in catalogue.names(kind)),
        catalogue_sha256=catalogue.sha256(),
    )


def sheet(kind: Folder, name: str) -> CatalogueSheet:
    """Return all that is known of one device."""
    device = catalogue.find(kind, name)
    figures = tuple(_figures(device))
    used = {key for figure in figures for key in figure.sources} | device.sources.keys()
    sources = _sources(kind, device)
    return CatalogueSheet(
        device_kind=kind,
        name=name,
        title=device.title,
        vendor=device.vendor,
        note=device.note,
        facts=dict(_facts(device)),
        fact_sources=device.facts,
        figures=figures,
        points=device.points if isinstance(device, Rental) else (),
        sources=tuple(sources[key] for key in sorted(used)),
        catalogue_sha256=catalogue.sha256(),
    )


def _sources(kind: Folder, device: Device) -> dict[str, Source]:
    """Return the sources of a device, with those of its rental price, which is a file apart."""
    if kind == "gpus" and device.name in catalogue.names("rentals"):
        return {**catalogue.find("rentals", device.name).sources, **device.sources}
    return dict(device.sources)


def _entry(kind: Folder, name: str) -> Entry:
    device = catalogue.find(kind, name)
    figures = list(_figures(device))
    return Entry(
        kind=kind,
        name=name,
        title=device.title,
        figures=len(figures),
        weak=sum(figure.confidence == 1 for figure in figures),
    )


def _figures(device: Device) -> Iterator[Figure]:
    for field in fields(device):
        value = getattr(device, field.name)
        name, unit = _unit(field.name, device)
        if isinstance(value, Sourced):
            yield Figure(name=name.replace("_", " "), unit=unit, **asdict(value))
        elif isinstance(value, Mapping):
            for key, item in value.items():
                if isinstance(item, Sourced):
                    label = (f"{name}, {key}" if name else key).replace("_", " ")
                    yield Figure(name=label, unit=unit, **asdict(item))


def _unit(field: str, device: Device) -> tuple[str, str]:
    """Split the name of a field into what it is and its unit; an assumption names its own."""
    if field == "value":
        return field, str(getattr(device, "unit", ""))
    for unit in UNITS:
        if field == unit or field.endswith(f"_{unit}"):
            name = field.removesuffix(unit).rstrip("_")
            return (f"{name}_rate".strip("_") if unit == "bytes_per_s" else name), unit
    return field, ""


_ELSEWHERE = frozenset(
    {"name", "title", "vendor", "note", "facts", "sources", "points", "unit"}
)


def _facts(device: Device) -> Iterator[tuple[str, str]]:
    for field in fields(device):
        value = getattr(device, field.name)
        if field.name in _ELSEWHERE or isinstance(value, Sourced) or value in (None, "", ()):
            continue
        if isinstance(value, tuple):
            yield field.name.replace("_", " "), ", ".join(str(item) for item in value)
        elif not isinstance(value, Mapping):
            yield field.name.replace("_", " "), str(value).lower()
        elif not any(isinstance(item, Sourced) for item in value.values()):
            yield from _tables(field.name, value)


def _tables(field: str, table: Mapping[object, object]) -> Iterator[tuple[str, str]]:
    """Write ports by rate, and headroom by rate and length of cable."""
    for key, item in table.items():
        if isinstance(item, Mapping):
            shown = ", ".join(f"{length}: {size:.0f} B" for length, size in item.items())
            yield f"headroom at {key}", shown
        elif field == "radix" and isinstance(key, float):
            yield f"ports at {show_rate(key)}", str(item)
