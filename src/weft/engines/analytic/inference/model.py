"""Prefill and decode of an inference service in steady state.

One decode step gives one token to every sequence. With L layers on a stage, p stages and b =
sequences of a replica / p in each of p micro-batches::

    step       p (L layer(b) + head(b) + send) + scheduling
    layer      products and attention + kernel starts + all-reduces + experts' exchange

and the first token takes one pass over the whole prompt through all stages. A replica that
serves B sequences of O output tokens each interleaves the prefill of a new one (which occupies
a stage for P / p) with decoding [Yu 2022]; in steady state::

    tokens/s        B O / (O step + B P / p)
    time a token    step + (B - 1) P / (p O)

Requests wait for nothing but the batch that is running: queues in front of the service and
prefix caches are not in the model.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from operator import attrgetter
from typing import Final

from weft.engines.analytic.collective import collective_time
from weft.engines.analytic.inference.exchange import Collective, End, exchange_s
from weft.engines.analytic.inference.kernels import device_of, head_s, layer_times
from weft.engines.analytic.inference.memory import memory_bytes
from weft.records import table
from weft.results import Estimate
from weft.spec.cluster import Cluster
from weft.spec.inference import Inference
from weft.traffic.serving import (
    Pass,
    demands,
    exchange,
    sparse_share,
    spread_of,
    stage_layers,
)

PARTS: Final = ("matrix", "attention", "passes", "launch", "head", "tp", "ep", "pp")
NETWORK: Final = ("tp", "ep", "pp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Knobs:
    """The uncertain inputs of the model, one value each."""

    constants: Mapping[str, float]
    """By name, as in constants.toml."""
    collective: End = "value"
    """Which end of the band of each collective."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Speeds:
    """A service at one value of every input."""

    first_token_s: float
    step_s: float
    token_s: float
    tokens_per_s: float
    """Output tokens of the whole service."""
    decode_s: dict[str, float]
    """A decode step by part."""
    prefill_s: dict[str, float]
    """The pass over a prompt by part."""
    leaves_domain: dict[str, bool]
    """Whether the communication of a dimension uses the scale-out network."""

    @property
    def network_ratio(self) -> float:
        """Share of a decode step in which GPUs wait for the scale-out network."""
        return _waiting(self.decode_s, self.leaves_domain) / self.step_s

    @property
    def prefill_network_ratio(self) -> float:
        """The same of the pass over a prompt."""
        return _waiting(self.prefill_s, self.leaves_domain) / self.first_token_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """An inference service with bands; times in seconds, of one request."""

    first_token_s: Estimate
    """Time to first token: one prefill."""
    token_s: Estimate
    """Time per output token, prefills of other requests included."""
    step_s: Estimate
    """One decode step: a token for every sequence, no prefill between."""
    tokens_per_s: Estimate
    """Output tokens of the whole service."""
    network_ratio: Estimate
    """Share of a decode step in which GPUs wait for the scale-out network."""
    prefill_network_ratio: Estimate
    """The same of a prefill."""
    decode_s: dict[str, float]
    """A decode step by part: matrix, attention, passes, launch, head, tp, ep, pp, between."""
    prefill_s: dict[str, float]
    memory_bytes: dict[str, float]
    """Of the fullest GPU: weights, kv_cache, reserve."""


def serve(
    cluster: Cluster, service: Inference, *, collective: Collective = collective_time
) -> Service:
    """Return the speed of a resolved service, each number with its 80 % band."""

    def at(inputs: Knobs) -> Speeds:
        return speeds(cluster, service, inputs, collective=collective)

    nominal = at(knobs())
    moved = [(at(low), at(high)) for low, high in _variants()]

    def estimate(pick: Callable[[Speeds], float]) -> Estimate:
        return _banded(pick(nominal), [(pick(speeds), pick(other)) for speeds, other in moved])

    return Service(
        **{name: estimate(attrgetter(name)) for name in _ESTIMATED},
        decode_s=nominal.decode_s, prefill_s=nominal.prefill_s,
        memory_bytes=memory_bytes(service),
    )  # fmt: skip


_ESTIMATED: Final = (
    "first_token_s", "step_s", "token_s", "tokens_per_s", "network_ratio",
    "prefill_network_ratio",
)  # fmt: skip


def tokens_per_s(cluster: Cluster, service: Inference) -> float:
    """Return the output tokens per second of a resolved service, without a band."""
    return speeds(cluster, service, knobs()).tokens_per_s


def throughput_over(
    mine: tuple[Cluster, Inference], theirs: tuple[Cluster, Inference]
) -> Estimate:
    """Return the tokens per second of one resolved service over those of another.

    The constants of both are the same, so their errors cancel as far as both depend on them.
    """

    def ratio(at: Knobs) -> float:
        return speeds(*mine, at).tokens_per_s / speeds(*theirs, at).tokens_per_s

    return _banded(ratio(knobs()), [(ratio(low), ratio(high)) for low, high in _variants()])


def _banded(value: float, ends: Sequence[tuple[float, float]]) -> Estimate:
    """Return a value with the root sum of squares of what each input moves it by."""
    below = sum(max(0.0, value - min(pair)) ** 2 for pair in ends) ** 0.5
    above = sum(max(0.0, max(pair) - value) ** 2 for pair in ends) ** 0.5
    return Estimate(value, max(0.0, value - below), value + above)


@cache
def constants() -> Mapping[str, Estimate]:
    """Return every constant with its 80 % band, in the unit of the file."""
    return {
        name: Estimate(float(row["value"]), float(row["low"]), float(row["high"]))
        for name, row in table(__package__, "constants").items()
    }


def knobs() -> Knobs:
    """Return every uncertain input at its value."""
    return Knobs(constants={name: constant.value for name, constant in constants().items()})


def _variants() -> Iterator[tuple[Knobs, Knobs]]:
    """Yield both ends of each input, one input at a time."""
    middle = knobs()
    for name, constant in constants().items():
        low, high = ({**middle.constants, name: end} for end in (constant.low, constant.high))
        yield replace(middle, constants=low), replace(middle, constants=high)
    yield replace(middle, collective="low"), replace(middle, collective="high")


def speeds(
    cluster: Cluster,
    service: Inference,
    at: Knobs,
    *,
    collective: Collective = collective_time,
) -> Speeds:
    """Return the speed of a service at one value of every input."""
    spread = spread_of(service)
    batch = service.sequences / (spread.dp or 1)
    context = service.prompt_tokens + service.output_tokens / 2
    turn = _Turn(cluster, service, at, collective)
    # Stages take turns on micro-batches; a step is one round of all of them.
    micro = Pass(tokens=max(1.0, batch / spread.pp), per_host=False)
    decode = turn.stage_s(micro, context, prompt=False, sequences=micro.tokens)
    decode = {part: time_s * spread.pp for part, time_s in decode.items()}
    decode["between"] = at.constants["between_steps"]
    whole = Pass(tokens=service.prompt_tokens, per_host=True)
    prefill = turn.stage_s(whole, service.prompt_tokens, prompt=True, sequences=1)
    prefill = {part: time_s * spread.pp for part, time_s in prefill.items()}
    step_s, first_s = sum(decode.values()), sum(prefill.values())
    between_s = first_s / spread.pp / service.output_tokens
    period_s = step_s + batch * between_s
    return Speeds(
        first_token_s=first_s,
        step_s=step_s,
        token_s=step_s + max(0.0, batch - 1) * between_s,
        tokens_per_s=service.sequences / period_s,
        decode_s=decode,
        prefill_s=prefill,
        leaves_domain=turn.leaves_domain(),
    )


def _waiting(parts: dict[str, float], leaves: dict[str, bool]) -> float:
    return sum(parts[name] for name in NETWORK if leaves[name])


class _Turn:
    """Passes of one service through one stage at one value of every input."""

    def __init__(
        self, cluster: Cluster, service: Inference, at: Knobs, collective: Collective
    ) -> None:
        self.cluster, self.service, self.at, self.collective = cluster, service, at, collective
        self.on = device_of(
            cluster, service, matrix=at.constants["matrix"], stream=at.constants["stream"]
        )
        self.domain = cluster.gpus_per_domain

    def stage_s(
        self, one: Pass, context: float, *, prompt: bool, sequences: float
    ) -> dict[str, float]:
        """Return the parts of one pass through the fullest stage."""
        parts = dict.fromkeys(PARTS, 0.0)
        layers, sparse = stage_layers(self.service), sparse_share(self.service)
        for is_sparse, count in ((False, layers * (1 - sparse)), (True, layers * sparse)):
            if count:
                self._add(parts, one, context, count, sparse=is_sparse, prompt=prompt)
        parts["head"] = head_s(self.service, sequences, self.on)
        for demand in demands(self.service, one, self.domain):
            found = self.collective(
                self.cluster, demand.operation, demand.size_bytes, demand.group
            )
            once_s: float = getattr(found.time_s, self.at.collective)
            parts[demand.dimension] += once_s * demand.calls
        return parts

    def _add(
        self,
        parts: dict[str, float],
        one: Pass,
        context: float,
        count: float,
        *,
        sparse: bool,
        prompt: bool,
    ) -> None:
        """Add some layers; with two halves in turns, what their exchange does not hide."""
        halves = 2 if sparse and spread_of(self.service).overlap_ep else 1
        part = replace(one, tokens=one.tokens / halves)
        layer = layer_times(self.service, part, context, self.on, sparse=sparse, prompt=prompt)
        launch_s = self._launch_s(layer.total_s, sparse=sparse, prompt=prompt)
        parts["matrix"] += halves * count * layer.matrix_s
        parts["attention"] += halves * count * layer.attention_s
        parts["passes"] += halves * count * layer.memory_s
        parts["launch"] += halves * count * launch_s
        wanted = exchange(self.service, part, self.domain) if sparse else None
        if wanted is None:
            return
        both_s = halves * exchange_s(
            self.cluster, self.service, wanted,
            constants=self.at.constants, end=self.at.collective, collective=self.collective,
        )  # fmt: skip
        hidden_s = 0.0 if halves == 1 else halves * (layer.total_s + launch_s)
        parts["ep"] += count * max(0.0, both_s - hidden_s)

    def _launch_s(self, busy_s: float, *, sparse: bool, prompt: bool) -> float:
        """Return kernel starts of one layer, or what issuing it takes beyond its kernels."""
        at = self.at.constants
        kernels = at["kernels_per_sparse_layer" if sparse else "kernels_per_layer"]
        starts_s = kernels * at["kernel_start"]
        if self.service.cuda_graphs and not prompt:
            return starts_s
        return max(starts_s, at["issue"] - busy_s)

    def leaves_domain(self) -> dict[str, bool]:
        """Say which dimensions use the scale-out network."""
        one = Pass(tokens=1.0, per_host=False)
        found = dict.fromkeys(NETWORK, False)
        for demand in demands(self.service, one, self.domain):
            found[demand.dimension] = demand.group.domains > 1
        wanted = exchange(self.service, one, self.domain)
        found["ep"] = wanted is not None and wanted.group.domains > 1
        return found
