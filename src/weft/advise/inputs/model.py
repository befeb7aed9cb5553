"""What if another model were trained on the cluster?"""

from weft.advise.case import Case
from weft.advise.question import search_input, with_job
from weft.spec import load

MODELS = ("llama3_8b", "mixtral_8x22b")
"""A small dense model and one of experts: what a cluster may come to train."""


def _changed(case: Case, place: float) -> Case:
    model = load.model(MODELS[int(place)])
    return with_job(case, lambda job: job.with_(model=model, parallelism="auto"))


def _label(case: Case, place: float) -> str:
    return case.jobs[0].job.model.name if place < 0 else MODELS[int(place)]


model = search_input(
    title="model",
    unit="",
    current=lambda _: -1.0,
    changed=_changed,
    choices=lambda _: tuple(float(n) for n in range(len(MODELS))),
    label=_label,
    source="a small dense model and one of experts",
)
