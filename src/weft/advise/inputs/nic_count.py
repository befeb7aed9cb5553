"""What if every network had the same number of NICs in a host?"""

from weft.advise.attachment import counts
from weft.advise.case import Case
from weft.advise.question import pinned, search_input


def _current(case: Case) -> float:
    return float(case.verdict.prediction.cluster.host.nics)


def _choices(case: Case) -> tuple[float, ...]:
    return tuple(sorted(float(n) for n in counts(case.cluster)))


def _changed(case: Case, nics: float) -> Case:
    host = case.cluster.host.with_(nics=int(nics))
    return pinned(case, case.cluster.with_(host=host), "host.nics")


nic_count = search_input(
    title="NICs of a host in all networks",
    unit="NICs",
    current=_current,
    changed=_changed,
    choices=_choices,
    source="as many as a host has room for, a half, a quarter, an eighth",
    applies=lambda case: not case.verdict.prediction.cost.rented,
)
