"""`weft emulate --score`: what of a rehearsal was named rightly."""

from weft.emulate.rehearse import Score
from weft.report.page import Columns, Page, Sentences, View, table

WORDS = {True: "right", False: "wrong"}


def _page(result: Score) -> Page:
    right = sum(f.kind_named and f.host_named and f.part_named for f in result.faults)
    columns: Columns = {
        "fault": "fault", "where": "place", "kind": lambda fault: WORDS[fault.kind_named],
        "host": lambda fault: WORDS[fault.host_named],
        "rail or GPU": lambda fault: WORDS[fault.part_named],
    }  # fmt: skip
    injected = table(result.faults, columns, title="Injected", left=(0, 1, 2, 3, 4))
    title = f"{right} of {len(result.faults)} faults named with their place"
    if not result.extra:
        return Page(title=title, answer=(injected,), blocks=())
    named = Sentences(title="Named, but not injected", lines=(", ".join(result.extra),))
    title += f"; {len(result.extra)} named that were not injected"
    return Page(title=title, answer=(injected, named), blocks=())


score = View(shows="weft.emulate.rehearse.Score", verb="emulate", whole=_page)
