"""How much must be right, and stay right, before the fabric does what is predicted."""

from weft.advise.case import Case, Row
from weft.advise.consideration import Consideration, Number, Opinion


def _fewest(row: Row, simplest: Row) -> bool:
    return row.candidate.settings == simplest.candidate.settings


def _settings(row: Row) -> str:
    count = row.candidate.settings
    return f"{count} setting{'' if count == 1 else 's'} to agree on every device"


def _weigh(case: Case) -> Opinion:
    rows = sorted(case.choices, key=lambda r: r.candidate.settings)
    simplest, hardest = rows[0], rows[-1]
    return Opinion(
        favours=tuple(r.name for r in rows if _fewest(r, simplest)),
        reason=f"{simplest.candidate.short}: {_settings(simplest)}; "
        f"{hardest.candidate.short}: {_settings(hardest)}",
        numbers=tuple(Number(r.name, r.candidate.settings, "settings to agree") for r in rows),
    )


operations = Consideration(
    title="operations",
    weigh=_weigh,
    source="articles P and C (what RoCE asks of its operators), E (skill to tune RoCE)",
    evidence="assumption, not simulated",
)
