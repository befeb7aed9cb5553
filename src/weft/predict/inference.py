"""One cluster, one inference service: latency, throughput, the network's share, cost."""

from dataclasses import dataclass, fields

from weft.design.cost import TotalCost, total_cost
from weft.engines.analytic import inference as engine
from weft.engines.analytic.inference import Service
from weft.predict.provenance import provenance
from weft.results import Estimate, Provenance, combine
from weft.spec.cluster import Cluster
from weft.spec.inference import Inference
from weft.traffic.serving import spread_of
from weft.units import SECONDS

MILLION = 1e6
ASSUMPTIONS = (
    "requests of one shape in steady state; no queue before the service, no prefix cache",
    "prefills of new requests run between decode steps of the same GPUs",
    "bands come from the constants of engines/analytic/inference, not from measured services",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServicePrediction(Service):
    """An inference service on a cluster; times of one request, ratios 0 to 1, US dollars."""

    cluster: Cluster
    service: Inference
    """With its parallelism filled in."""
    gpus: int
    tokens_per_s_per_gpu: Estimate
    cost: TotalCost
    usd_per_1m_tokens: Estimate
    """Of output tokens."""
    misses: tuple[str, ...]
    """Limits of latency that the service does not keep."""
    provenance: Provenance


def predict_service(cluster: Cluster, service: Inference) -> ServicePrediction:
    """Predict an inference service on one cluster.

    Raises Infeasible when it does not fit in the memory of the GPUs.
    """
    resolved = engine.resolve(cluster, service)
    found = engine.serve(cluster, resolved)
    gpus = resolved.gpus or cluster.gpus
    cost = total_cost(cluster)
    return ServicePrediction(
        cluster=cluster,
        service=resolved,
        gpus=gpus,
        **{field.name: getattr(found, field.name) for field in fields(found)},
        tokens_per_s_per_gpu=found.tokens_per_s.map(lambda rate: rate / gpus),
        cost=cost,
        usd_per_1m_tokens=combine(
            lambda usd, rate: usd * gpus / SECONDS["h"] / rate * MILLION,
            cost.usd_per_gpu_hour,
            found.tokens_per_s,
        ),
        misses=tuple(_misses(resolved, found)),
        provenance=provenance(
            cluster, resolved, sources=(), assumptions=(*ASSUMPTIONS, *cost.assumptions)
        ),
    )


def _misses(service: Inference, found: Service) -> list[str]:
    limits = (
        ("first_token_s", found.first_token_s.value, service.first_token_s),
        ("token_s", found.token_s.value, service.token_s),
    )
    return [name for name, time_s, limit in limits if limit is not None and time_s > limit]


def spread_text(service: Inference) -> str:
    """Return the parallelism in words, as "TP 8, DP 4"."""
    spread = spread_of(service)
    ranks = {"TP": spread.tp, "PP": spread.pp, "EP": spread.ep, "DP": spread.dp or 1}
    return ", ".join(f"{name} {n}" for name, n in ranks.items() if n > 1) or "1 GPU"
