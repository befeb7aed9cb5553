"""What if the cluster were smaller, or larger?"""

from weft.advise.case import Case
from weft.advise.question import resized, search_input

RATIOS = (0.25, 1.0, 4.0)


def _current(case: Case) -> float:
    return float(case.gpus)


def _choices(case: Case) -> tuple[float, ...]:
    """Return sizes of whole hosts, and what the owner plans."""
    later = case.cluster.constraints.later_hosts
    planned = () if later is None else (later / case.cluster.hosts,)
    return tuple(sorted({case.gpus * r for r in (*RATIOS, *planned) if _whole(case, r)}))


def _whole(case: Case, ratio: float) -> bool:
    return (case.cluster.hosts * ratio).is_integer() and (case.gpus * ratio).is_integer()


gpus = search_input(
    title="GPUs, with the batch of each kept",
    unit="GPUs",
    current=_current,
    changed=lambda case, gpus: resized(case, gpus / case.gpus),
    choices=_choices,
    source="a quarter to four times the cluster, and the size that is planned",
)
