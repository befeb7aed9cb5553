"""What if every network had the same topology?"""

from weft.advise.candidate import TOPOLOGIES
from weft.advise.case import Case
from weft.advise.question import pinned, search_input


def _current(case: Case) -> float:
    kind = case.verdict.prediction.cluster.topology.kind
    return float(TOPOLOGIES.index(kind)) if kind in TOPOLOGIES else -1.0


def _changed(case: Case, place: float) -> Case:
    kind = TOPOLOGIES[int(place)]
    cluster = case.cluster.with_(topology=case.cluster.topology.with_(kind=kind))
    return pinned(case, cluster, "topology.kind")


def _label(case: Case, place: float) -> str:
    return TOPOLOGIES[int(place)] if place >= 0 else case.cluster.topology.kind


topology = search_input(
    title="topology of all networks",
    unit="",
    current=_current,
    changed=_changed,
    choices=lambda _: tuple(float(n) for n in range(len(TOPOLOGIES))),
    label=_label,
    source="kinds of topology that the search tries",
    applies=lambda case: not case.verdict.prediction.cost.rented,
)
