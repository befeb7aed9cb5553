"""`weft catalog`: what the catalogue holds."""

from weft.catalogue.sheet import CatalogueListing
from weft.report.page import Columns, Facts, Page, Sentences, View, table

NOTE = "Weak figures have confidence 1: a single weak source, or an estimate that says how."


def _page(result: CatalogueListing) -> Page:
    columns: Columns = {"kind": "kind", "name": "name", "device": "title", "figures": "figures",
               "weak": lambda entry: str(entry.weak or "-")}  # fmt: skip
    return Page(
        title="Catalogue",
        blocks=(
            Facts(pairs=(("devices", str(len(result.entries))),)),
            table(result.entries, columns, notes=(NOTE,)),
            Sentences(lines=("weft catalog KIND NAME shows every figure with its sources.",)),
        ),
        footer=(f"catalogue {result.catalogue_sha256[:12]}",),
    )


catalogue_listing = View(
    shows="weft.catalogue.sheet.CatalogueListing", verb="catalog", page=_page
)
