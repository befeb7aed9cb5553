"""One cluster, one inference service: latency, throughput, the network's share, cost."""

from dataclasses import dataclass

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
class ServicePrediction:
    """An inference service on a cluster; times of one request, ratios 0 to 1, US dollars."""

    cluster: Cluster
    service: Inference
    """With its parallelism filled in."""
    gpus: int
    first_token_s: Estimate
    """Time to first token: one prefill."""
    token_s: Estimate
    """Time per output token, prefills of other requests included."""
    step_s: Estimate
    """One decode step alone."""
    tokens_per_s: Estimate
    """Output tokens of the whole service."""
    tokens_per_s_per_gpu: Estimate
    network_ratio: Estimate
    """Share of a decode step in which GPUs wait for the scale-out network."""
    prefill_network_ratio: Estimate
    """The same of a prefill."""
    decode_s: dict[str, float]
    """A decode step by part: matrix, attention, passes, launch, head, tp, ep, pp, between."""
    prefill_s: dict[str, float]
    memory_bytes: dict[str, float]
    """Of the fullest GPU: weights, kv_cache, reserve."""
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
        first_token_s=found.first_token_s,
        token_s=found.token_s,
        step_s=found.step_s,
        tokens_per_s=found.tokens_per_s,
        tokens_per_s_per_gpu=found.tokens_per_s.map(lambda rate: rate / gpus),
        network_ratio=found.network_ratio,
        prefill_network_ratio=found.prefill_network_ratio,
        decode_s=found.decode_s,
        prefill_s=found.prefill_s,
        memory_bytes=found.memory_bytes,
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
