"""`weft catalog`: what the catalogue holds."""

from itertools import groupby

from weft.catalogue.sheet import CatalogueListing
from weft.report.page import Columns, Page, Sentences, View, listed, table

NOTE = "Weak figures have confidence 1: a single weak source, or an estimate that says how."
NEXT = Sentences(lines=("weft catalog KIND NAME shows every figure with its sources.",))
MOST_NAMES = 3


def _page(result: CatalogueListing) -> Page:
    """Return all devices of one kind, or each kind with the first of its devices."""
    devices: Columns = {"name": "name", "device": "title", "figures": "figures",
                        "weak": lambda entry: str(entry.weak or "-")}  # fmt: skip
    kinds = [list(group) for _, group in groupby(result.entries, key=lambda entry: entry.kind)]
    tables = [
        table(entries, devices, title=entries[0].kind, notes=(NOTE,)) for entries in kinds
    ]
    footer = (f"catalogue {result.catalogue_sha256[:12]}",)
    title = f"Catalogue: {len(result.entries)} devices"
    if len(kinds) == 1:
        return Page(title=title, blocks=(*tables, NEXT), footer=footer)
    summary: Columns = {
        "kind": lambda entries: entries[0].kind, "devices": lambda entries: str(len(entries)),
        "such as": lambda entries: listed([entry.name for entry in entries], MOST_NAMES),
    }  # fmt: skip
    return Page(
        title=title, answer=(table(kinds, summary, left=(0, 2)), NEXT), blocks=tuple(tables),
        rest="every device", footer=footer,
    )  # fmt: skip


catalogue_listing = View(
    shows="weft.catalogue.sheet.CatalogueListing", verb="catalog", whole=_page,
)  # fmt: skip
