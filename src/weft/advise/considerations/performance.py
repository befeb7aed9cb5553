"""Which fabric trains fastest, and by how much."""

from weft.advise.case import Case
from weft.advise.consideration import MATTERS, Consideration, Number, Opinion
from weft.advise.wording import percent


def _weigh(case: Case) -> Opinion:
    rows = sorted(case.choices, key=lambda r: -r.progress_tokens_per_s)
    fastest, slowest = rows[0], rows[-1]
    lead = fastest.progress_tokens_per_s / slowest.progress_tokens_per_s - 1
    second = next((r for r in rows if r.candidate.family != fastest.candidate.family), slowest)
    ahead = fastest.progress_tokens_per_s / second.progress_tokens_per_s - 1
    return Opinion(
        favours=(fastest.name,) if ahead >= MATTERS else (),
        reason=f"{fastest.candidate.short} trains {percent(ahead)} faster than "
        f"{second.candidate.short}, {percent(lead)} faster than {slowest.candidate.short}",
        numbers=tuple(Number(r.name, r.progress_tokens_per_s, "tokens/s") for r in rows),
    )


performance = Consideration(
    title="speed",
    weigh=_weigh,
    source="articles C (factor of a decision) and E (usable bandwidth a GPU)",
)
