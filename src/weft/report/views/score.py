"""`weft emulate --score`: what of a rehearsal was named rightly."""

from weft.emulate.rehearse import Score
from weft.report.page import Page, Sentences, Table, View


def _page(result: Score) -> Page:
    right = sum(all((one.kind_named, one.host_named, one.part_named)) for one in result.faults)
    table = Table(
        title="Injected", columns=("fault", "where", "kind", "host", "rail or GPU"),
        rows=tuple(
            (one.fault, one.place, _word(one.kind_named), _word(one.host_named),
             _word(one.part_named))
            for one in result.faults
        ),
        left=(0, 1, 2, 3, 4),
    )  # fmt: skip
    extra = ", ".join(result.extra)
    title = f"{right} of {len(result.faults)} faults named with their place"
    if extra:
        title += f"; {len(result.extra)} named that were not injected"
    named = (Sentences(title="Named, but not injected", lines=(extra,)),) if extra else ()
    return Page(title=title, answer=(table, *named), blocks=())


def _word(is_right: bool) -> str:  # noqa: FBT001 - one cell
    return "right" if is_right else "wrong"


score = View(shows="weft.emulate.rehearse.Score", verb="emulate", page=_page)
