"""How much must be right, and stay right, before the fabric does what is predicted."""

from weft.advise.case import Case
from weft.advise.consideration import Consideration, Number, Opinion


def _weigh(case: Case) -> Opinion:
    rows = sorted(case.rows, key=lambda r: r.candidate.settings)
    simplest, hardest = rows[0], rows[-1]
    return Opinion(
        favours=simplest.name,
        reason=f"{simplest.name} asks for {simplest.candidate.knowledge}; {hardest.name} for "
        f"{hardest.candidate.knowledge}",
        numbers=tuple(Number(r.name, r.candidate.settings, "settings to agree") for r in rows),
    )


operations = Consideration(
    title="operational complexity and skill",
    weigh=_weigh,
    source="articles P and C (what RoCE asks of its operators), E (skill to tune RoCE)",
    evidence="assumption, not simulated",
)
