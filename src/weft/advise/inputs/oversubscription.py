"""What if every network were oversubscribed alike?"""

from weft.advise.case import Case
from weft.advise.question import pinned, search_input
from weft.advise.wiring import OVERSUBSCRIPTIONS


def _current(case: Case) -> float:
    return case.verdict.prediction.cluster.topology.oversubscription


def _changed(case: Case, ratio: float) -> Case:
    topology = case.cluster.topology.with_(oversubscription=ratio)
    return pinned(case, case.cluster.with_(topology=topology), "topology.oversubscription")


oversubscription = search_input(
    title="oversubscription of all networks",
    unit=": 1",
    current=_current,
    changed=_changed,
    choices=lambda _: OVERSUBSCRIPTIONS,
    source="non-blocking to 4:1",
    applies=lambda case: not case.verdict.prediction.cost.rented,
)
