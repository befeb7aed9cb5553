"""Whether what is predicted of a fabric has ever been measured, or only been written."""

from weft.advise.case import Case, Row
from weft.advise.consideration import Consideration, Number, Opinion
from weft.advise.wording import joined
from weft.network.network import resolve
from weft.sources import Kind


def _measured(row: Row) -> int:
    """Count measurements of what balancing and tuning keep; none without a collective."""
    if row.candidate.resembles:
        return 0
    choice = row.prediction.cluster.fabric
    found = resolve(row.prediction.cluster).fabric
    kept = found.balanced(choice.load_balancing), found.tuned(choice.tuning)
    behind = {key for one in kept for key in one.sources}
    return sum(found.source(key).kind is Kind.MEASURED for key in behind)


def _weigh(case: Case) -> Opinion:
    counts = {row.name: _measured(row) for row in case.choices}
    never = [row.candidate.short for row in case.choices if not counts[row.name]]
    return Opinion(
        favours=tuple(name for name, number in counts.items() if number) if never else (),
        reason=f"no measured collective of {joined(never)} is published"
        if never
        else "each of these rests on at least one published measurement",
        numbers=tuple(Number(name, n, "measurements") for name, n in counts.items()),
    )


evidence = Consideration(
    title="published measurements",
    weigh=_weigh,
    source="kinds of the sources of each fabric",
    evidence="counted in the sources",
)
