"""Sizes of an inference service that must divide, alone and on a cluster."""

from collections.abc import Iterator

from weft.spec.cluster import Cluster
from weft.spec.inference import Inference, ServingParallelism
from weft.spec.problems import Problem


def service_problems(service: Inference) -> Iterator[Problem]:
    """Yield sizes of the parallelism that do not suit the model."""
    spread, model = service.parallelism, service.model
    if not isinstance(spread, ServingParallelism):
        return
    if model.heads % spread.tp:
        yield _of("tp", spread.tp, f"must divide model.heads ({model.heads})")
    if spread.pp > model.layers:
        yield _of("pp", spread.pp, f"must not exceed model.layers ({model.layers})")
    experts = model.experts.experts if model.experts else 0
    if spread.ep > 1 and not experts:
        yield _of("ep", spread.ep, "must be 1: the model has no experts")
    elif spread.ep > 1 and experts < spread.ep:
        message = f"must not exceed the experts of one layer ({experts})"
        yield _of("ep", spread.ep, message)
    elif spread.ep % spread.tp and spread.ep > 1:
        message = (
            f"must be 1 or a multiple of tp ({spread.tp}): tensor-parallel ranks share tokens"
        )
        yield _of("ep", spread.ep, message)
    if spread.dp and service.sequences < spread.dp:
        message = f"must be {spread.dp} or more: a request for each of the dp replicas"
        yield Problem(path=("sequences",), message=message, value=service.sequences)


def placement_problems(cluster: Cluster, service: Inference) -> Iterator[Problem]:
    """Yield sizes that do not suit the GPUs of a cluster."""
    gpus = service.gpus or cluster.gpus
    if gpus > cluster.gpus:
        message = f"is more than the cluster has ({cluster.gpus})"
        yield Problem(path=("gpus",), message=message, value=gpus)
        return
    spread = service.parallelism
    if not isinstance(spread, ServingParallelism):
        return
    replica = spread.tp * spread.pp
    sizes = f"tp x pp = {spread.tp} x {spread.pp} = {replica}"
    if gpus % replica:
        message = f"{sizes} must divide the GPUs of the service ({gpus})"
        yield Problem(path=("parallelism",), message=message, has_value=False)
        return
    dp = gpus // replica
    if spread.dp not in {None, dp}:
        message = f"must be {dp}: {sizes}, and the service has {gpus} GPUs; or leave it out"
        yield _of("dp", spread.dp, message)
        return
    if (spread.tp * dp) % spread.ep:
        yield _of("ep", spread.ep, f"must divide tp x dp = {spread.tp} x {dp}")
    if service.sequences < dp:
        message = f"must be {dp} or more: a request for each of the dp replicas"
        yield Problem(path=("sequences",), message=message, value=service.sequences)


def _of(key: str, value: object, message: str) -> Problem:
    return Problem(path=("parallelism", key), message=message, value=value)
