"""`weft collect`: which hosts gave a bundle."""

from weft.collect.gather import Gathered
from weft.report.page import Page, Sentences, Table, View, rows_of
from weft.units import show_size, show_time


def _page(result: Gathered) -> Page:
    given = sum(not one.failure for one in result.hosts)
    return Page(
        title=f"{given} of {len(result.hosts)} bundles, {result.way}",
        blocks=(
            Table(
                columns=("host", "bundle", "size", "took"),
                rows=rows_of(
                    *(
                        (
                            one.host,
                            one.file or one.failure,
                            show_size(one.size_bytes) if one.file else "-",
                            show_time(one.took_s),
                        )
                        for one in result.hosts
                    )
                ),
                left=(0, 1),
            ),
            Sentences(lines=(f"Next: weft diagnose {result.folder}",) if given else ()),
        ),
    )


gathered = View(shows="weft.collect.gather.Gathered", verb="collect", page=_page)
