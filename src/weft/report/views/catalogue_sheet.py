"""`weft catalog KIND NAME`: one device, every figure with its range and its sources."""

from collections.abc import Iterator
from typing import Final

from weft.catalogue.sheet import CatalogueSheet, Figure
from weft.report.numbers import figures
from weft.report.page import Block, Facts, Page, Sentences, Table, View
from weft.units import gbit_from_rate

_SCALES: Final = {
    "bytes": (1e9, "GB"),
    "flop_per_s": (1e12, "TFLOP/s"),
    "usd": (1, "USD"),
    "usd_per_h": (1, "USD/h"),
    "w": (1, "W"),
    "m": (1, "m"),
    "s": (1e-9, "ns"),
}
_GIGA: Final = 1e9
_MEGABYTES_BELOW: Final = 1e9


def _page(result: CatalogueSheet) -> Page:
    return Page(
        title=f"{result.title} ({result.device_kind}/{result.name})",
        blocks=tuple(_blocks(result)),
        footer=(f"catalogue {result.catalogue_sha256[:12]}",),
    )


def _blocks(result: CatalogueSheet) -> Iterator[Block]:
    if result.note:
        yield Sentences(lines=(result.note,))
    facts = tuple((name, value) for name, value in result.facts.items() if value)
    if facts:
        yield Facts(pairs=(*facts, ("source", ", ".join(result.fact_sources))))
    yield Table(
        title="Figures",
        columns=("figure", "value", "low", "high", "unit", "confidence", "source"),
        rows=tuple(map(_row, result.figures)),
        left=(0, 4, 6),
        notes=("Confidence: 3 primary or measured, 2 good secondary, 1 weak or estimated.",),
    )
    if result.points:
        yield Table(
            title="Prices seen",
            columns=("date", "seller", "term", "low USD/h", "high USD/h", "source"),
            rows=tuple(
                (p.date, p.seller, p.term, figures(p.low_usd), figures(p.high_usd), p.source)
                for p in result.points
            ),
            left=(0, 1, 2, 5),
        )
    yield Facts(
        title="Sources",
        pairs=tuple(
            (source.key, ", ".join(filter(None, (source.title, source.date, source.url))))
            for source in result.sources
        ),
    )


def _row(figure: Figure) -> tuple[str, ...]:
    unit, scale = _unit(figure)
    ends = (figure.value, figure.low, figure.high)
    value, low, high = (f"{end / scale:,.6g}" for end in ends)
    same = figure.low == figure.high
    shown = (value, "-", "-") if same else (value, low, high)
    return (figure.name, *shown, unit, str(figure.confidence), ", ".join(figure.sources))


def _unit(figure: Figure) -> tuple[str, float]:
    """Return the unit to show a figure in, and what one of it is inside.

    Links are named in bits and memories in bytes, as everybody does.
    """
    if figure.unit == "bytes_per_s":
        if figure.name in {"rate", "nic rate"}:
            return "Gb/s", figure.value / gbit_from_rate(figure.value)
        return "GB/s", _GIGA
    if figure.unit == "bytes" and figure.value < _MEGABYTES_BELOW:
        return "MB", 1e6
    scale, unit = _SCALES.get(figure.unit, (1.0, figure.unit))
    return unit, scale


catalogue_sheet = View(shows="weft.catalogue.sheet.CatalogueSheet", verb="catalog", whole=_page)
