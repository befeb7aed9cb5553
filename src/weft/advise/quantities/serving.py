"""What a network is worth to inference: the same model, served by the same GPUs."""

from collections.abc import Sequence

from weft.advise.quantity import Trial, quantity
from weft.predict.inference import ServicePrediction, predict_service
from weft.results import Estimate
from weft.spec.inference import Inference

SEQUENCES_PER_GPU = 8
"""Requests at once, where only a training job is specified."""


@quantity("tokens per second of inference lost on {name} against the best of {over}", "ratio")
def inference_lost(trial: Trial, name: str, over: Sequence[str]) -> Estimate:
    """Return the loss of throughput, each network with its own best parallelism.

    The band of both is that of the same kernels; what is left is the share of a decode step
    that waits for the network on either side.
    """
    mine = _served(trial, name)
    best = max((_served(trial, one) for one in over), key=lambda one: one.tokens_per_s.value)
    lost = 1 - mine.tokens_per_s.value / best.tokens_per_s.value
    waits = mine.network_ratio.high - mine.network_ratio.low
    waits += best.network_ratio.high - best.network_ratio.low
    return Estimate(lost, lost - waits / 2, lost + waits / 2)


def _served(trial: Trial, name: str) -> ServicePrediction:
    prediction = trial.row(name).prediction
    service = Inference(
        name="claim", model=prediction.job.model, precision=prediction.job.precision,
        sequences=SEQUENCES_PER_GPU * prediction.gpus, gpus=prediction.gpus,
    )  # fmt: skip
    return predict_service(prediction.cluster, service)
