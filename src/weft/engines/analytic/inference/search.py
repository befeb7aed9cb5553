"""The parallelism of a service: as given, or the one with the most tokens a second."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from math import inf

from weft.engines.analytic.inference.memory import memory_bytes
from weft.engines.analytic.inference.model import Speeds, knobs, speeds
from weft.engines.analytic.step.memory import gpu_memory_bytes, powers_of_two
from weft.errors import Infeasible
from weft.spec import checks
from weft.spec.cluster import Cluster
from weft.spec.inference import Inference, ServingParallelism

LARGEST_TP = 64
LARGEST_PP = 16
SLACK = 1.02
"""A network with less bandwidth may have fewer hops: so much faster it may be."""


def resolve(cluster: Cluster, service: Inference) -> Inference:
    """Return the service with its parallelism filled in.

    Of those that fit in memory, the one with most tokens a second within the limits of
    latency; where none keeps them, the fastest to respond. Raises Infeasible where none fits.
    """
    gpus = service.gpus or cluster.gpus
    if service.parallelism != "auto":
        spread = service.parallelism
        found = service.with_(parallelism=spread.with_(dp=gpus // (spread.tp * spread.pp)))
        _raise_if_too_large(cluster, [found])
        return found
    tried = list(candidates(cluster, service))
    fitting = [inference for inference in tried if fits(cluster, inference)]
    if not fitting:
        _raise_if_too_large(cluster, tried)
    timed = list(_timed(cluster, fitting))
    if not timed:
        raise Infeasible(
            "the model does not fit in one host, and hosts have no NIC; set host.nics to 1 or "
            "more"
        )
    keeping = [pair for pair in timed if _excess(service, pair[1]) <= 1]
    if keeping:
        return max(keeping, key=lambda pair: pair[1].tokens_per_s)[0]
    return min(timed, key=lambda pair: _excess(service, pair[1]))[0]


@dataclass(frozen=True, slots=True)
class Ways:
    """Ways to serve a model that fit in memory, with a speed that lesser networks keep to."""

    ranked: tuple[tuple[float, Inference], ...]
    """Tokens a second that no network with less bandwidth exceeds, the fastest first."""

    @classmethod
    def of(cls, cluster: Cluster, service: Inference) -> "Ways":
        """Return the ways of a service; no network asked about later is wider than this one."""
        if service.parallelism != "auto":
            return cls(((inf, resolve(cluster, service)),))
        fitting = [
            candidate for candidate in candidates(cluster, service) if fits(cluster, candidate)
        ]
        ranked = [
            (found.tokens_per_s * SLACK, inference)
            for inference, found in _timed(cluster, fitting)
        ]
        return cls(tuple(sorted(ranked, key=lambda pair: -pair[0])))

    def tokens_per_s(self, cluster: Cluster) -> float:
        """Return the tokens per second of the best way on one network; limits are not asked."""
        best, at = 0.0, knobs()
        for bound, inference in self.ranked:
            if bound <= best:
                break
            with suppress(Infeasible):
                best = max(best, speeds(cluster, inference, at).tokens_per_s)
        if not best:
            raise Infeasible("no way to serve the model runs on this network")
        return best


def _timed(
    cluster: Cluster, services: Iterable[Inference]
) -> Iterator[tuple[Inference, Speeds]]:
    """Yield the services that the network can carry; hosts without NICs carry few."""
    at = knobs()
    for service in services:
        with suppress(Infeasible):
            yield service, speeds(cluster, service, at)


def candidates(cluster: Cluster, service: Inference) -> Iterator[Inference]:
    """Yield every way to serve the model that the GPUs and the model allow."""
    gpus, model = service.gpus or cluster.gpus, service.model
    experts = model.experts.experts if model.experts else 1
    for tp in powers_of_two(min(LARGEST_TP, gpus)):
        for pp in powers_of_two(min(LARGEST_PP, gpus // tp)):
            if gpus % (tp * pp):
                continue
            dp = gpus // (tp * pp)
            divisors = [n for n in range(1, dp + 1) if dp % n == 0]
            sizes = [tp * n for n in divisors if 1 < tp * n <= experts]
            for ep in (1, *sizes) if model.experts else (1,):
                spread = ServingParallelism(tp=tp, pp=pp, ep=ep, dp=dp)
                one = service.with_(parallelism=spread)
                if not checks.pair_problems(cluster, one) and not list(checks.problems(one)):
                    yield one


def fits(cluster: Cluster, service: Inference) -> bool:
    """Say whether weights and cache fit in the memory of a GPU."""
    return sum(memory_bytes(service).values()) <= gpu_memory_bytes(cluster)


def _raise_if_too_large(cluster: Cluster, tried: list[Inference]) -> None:
    room = gpu_memory_bytes(cluster)
    if not tried:
        raise Infeasible("no parallelism suits this model on these GPUs; change gpus")
    best = min(tried, key=lambda item: sum(memory_bytes(item).values()))
    held = memory_bytes(best)
    if sum(held.values()) <= room:
        return
    spread = best.parallelism
    assert isinstance(spread, ServingParallelism)
    parts = ", ".join(
        f"{name.replace('_', ' ')} {size / 1e9:.1f} GB" for name, size in held.items()
    )
    left = room - held["weights"] - held["reserve"]
    most = int(best.sequences * left / held["kv_cache"]) if left > 0 else 0
    way = f"at most {most} sequences fit" if most else "use more GPUs, tp, pp or ep"
    raise Infeasible(
        f"the service does not fit in {room / 1e9:.0f} GB a GPU with tp {spread.tp}, pp "
        f"{spread.pp}, ep {spread.ep}, dp {spread.dp}: {parts}; {way}"
    )


def _excess(service: Inference, found: Speeds) -> float:
    """Return the worst time over its limit."""
    limits = (
        (found.first_token_s, service.first_token_s), (found.token_s, service.token_s)
    )  # fmt: skip
    return max((time_s / limit for time_s, limit in limits if limit), default=0.0)
