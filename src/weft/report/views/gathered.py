"""`weft collect`: which hosts gave a bundle."""

from weft.collect.gather import Gathered
from weft.report.page import Columns, Page, Sentences, View, table
from weft.units import show_size, show_time


def _page(result: Gathered) -> Page:
    given = sum(not host.failure for host in result.hosts)
    columns: Columns = {
        "host": "host", "bundle": lambda host: host.file or host.failure,
        "size": lambda host: show_size(host.size_bytes) if host.file else "-",
        "took": lambda host: show_time(host.took_s),
    }  # fmt: skip
    following = (f"Next: weft diagnose {result.folder}",) if given else ()
    return Page(
        title=f"{given} of {len(result.hosts)} bundles, {result.way}",
        blocks=(table(result.hosts, columns, left=(0, 1)), Sentences(lines=following)),
    )


gathered = View(shows="weft.collect.gather.Gathered", verb="collect", whole=_page)
