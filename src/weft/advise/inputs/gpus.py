"""What if the cluster were smaller, or larger?"""

from weft.advise.case import Case
from weft.advise.input import Input

LARGEST = 8


def _usd(case: Case, name: str, gpus: float) -> float:
    return case.at_gpus(name, case.whole_gpus(gpus)).usd_per_1t_tokens


gpus = Input(
    title="GPUs, with the batch of each kept",
    unit="GPUs",
    current=lambda case: float(case.gpus),
    span=lambda case: (float(case.whole_gpus(1)), float(LARGEST * case.gpus)),
    usd_per_1t_tokens=_usd,
    source="one model replica to eight times the cluster",
    snap=lambda case, gpus: float(case.whole_gpus(gpus)),
)
