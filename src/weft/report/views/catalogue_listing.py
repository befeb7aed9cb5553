"""`weft catalog`: what the catalogue holds."""

from weft.catalogue.sheet import CatalogueListing
from weft.report.page import Facts, Page, Sentences, Table, View, rows_of


def _page(result: CatalogueListing) -> Page:
    rows = (
        (entry.kind, entry.name, entry.title, str(entry.figures), str(entry.weak or "-"))
        for entry in result.entries
    )
    note = "Weak figures have confidence 1: a single weak source, or an estimate that says how."
    return Page(
        title="Catalogue",
        blocks=(
            Facts(pairs=(("devices", str(len(result.entries))),)),
            Table(
                columns=("kind", "name", "device", "figures", "weak"),
                rows=rows_of(*rows),
                left=(0, 1, 2),
                notes=(note,),
            ),
            Sentences(lines=("weft catalog KIND NAME shows every figure with its sources.",)),
        ),
        footer=(f"catalogue {result.catalogue_sha256[:12]}",),
    )


catalogue_listing = View(
    shows="weft.catalogue.sheet.CatalogueListing", verb="catalog", page=_page
)
