"""Time of the kernels of one layer on one GPU: a roofline with fitted shares of the peak.

A matrix product of m x k by k x n takes::

    t = max(2 m n k / (peak e) (1 + w / W) (1 + d / k),  bytes / (B r)) + t0

e: best share of the peak of this GPU generation and precision; W: waves of 128 x 256 tiles
over the compute units, of which a part w of the last is lost; d: inner length that filling and
draining a tile costs; B r: memory bandwidth reached;
t0: start of a kernel. Everything else is passes over memory: see operations.py.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from weft.catalogue.devices import Gpu
from weft.engines.analytic.step.constants import (
    Constants,
    Generation,
    Software,
    has_fused_experts,
)
from weft.engines.analytic.step.memory import LOW_PRECISIONS
from weft.engines.analytic.step.operations import passes_of
from weft.spec.overlay import Overlay
from weft.spec.workload import Job
from weft.traffic.demand import (
    ACTIVATION_BYTES,
    dense_parameters,
    expert_parameters,
    expert_tp,
    micro_batches,
    spread_of,
    tokens_of,
)

TILE_ROWS: Final = 128
TILE_COLUMNS: Final = 256
ALIGNED: Final = 64
"""Multiples of 128 bytes in 16 bits feed the tensor cores best [NVIDIA, matrix guide]."""
BACKWARD_ATTENTION_FLOPS: Final = 2.5
"""Fused backward recomputes the scores: five products to the two of forward [Dao 2022]."""
FIRST_FLASH_RATIO: Final = 0.5
"""FlashAttention-2 is about twice as fast as the first on A100 [Dao 2023, section 4.1]."""
BACKWARD_ATTENTION_RATE: Final = 0.85
"""Backward kernels reach this share of the rate of forward ones [Dao 2023, figures 4 to 6]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """One matrix product (or ``groups`` alike ones in one kernel) of the forward pass."""

    rows: float
    inner: float
    columns: float
    groups: float = 1

    @property
    def flops(self) -> float:
        """Multiplications and additions."""
        return 2 * self.rows * self.inner * self.columns * self.groups


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A GPU as the roofline sees it, for one precision."""

    flop_per_s: float
    """Best rate of matrix products in the precision of the job."""
    half_flop_per_s: float
    """The same in 16 bits: heads and routers are kept there."""
    attention_flop_per_s: float
    memory_bytes_per_s: float
    compute_units: int
    fitted: Constants
    kernel_s: float
    operand_bytes: float
    element_ratio: float
    """Bytes of an activation over those of 16 bits, which operations.toml counts in."""
    way: str
    """How operations between matrix products run: a way of operations.toml."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """Seconds of some kernels, by what bounds them."""

    matrix_s: float = 0.0
    attention_s: float = 0.0
    memory_s: float = 0.0
    launch_s: float = 0.0

    @property
    def total_s(self) -> float:
        """All of them, one after another."""
        return self.matrix_s + self.attention_s + self.memory_s + self.launch_s

    def plus(self, other: "Times", times: float = 1.0) -> "Times":
        """Add other times, scaled."""
        return Times(
            matrix_s=self.matrix_s + other.matrix_s * times,
            attention_s=self.attention_s + other.attention_s * times,
            memory_s=self.memory_s + other.memory_s * times,
            launch_s=self.launch_s + other.launch_s * times,
        )


def device_of(gpu: Gpu, job: Job, constants: Constants, software: Software) -> Device:
    """Return the GPU as the roofline sees it, with the kernels that a job runs."""
    best = device(gpu, job.precision, constants, software)
    if job.attention in {"flash", "unfused"} and not job.compile:
        return best
    ratio = 1.0
    if job.attention == "flash2" and gpu.generation in constants.generations:
        ratio = constants.generations[gpu.generation].flash2
    if job.attention == "flash1":
        ratio = FIRST_FLASH_RATIO
    return replace(
        best,
        attention_flop_per_s=best.attention_flop_per_s * ratio,
        way="compiled" if job.compile else best.way,
    )


def device(gpu: Gpu, precision: str, constants: Constants, software: Software) -> Device:
    """Return the GPU as the roofline sees it, with the best kernels there are for it."""
    wide = 2.0 if precision in {"fp32", "tf32"} else 1.0
    generation = constants.generations.get(gpu.generation) or _unknown(gpu)
    half = "fp16" if "bf16" not in gpu.flop_per_s else "bf16"
    half_peak = gpu.peak_flop_per_s(half)
    clock = _clock_ratio(gpu, half_peak, generation) ** constants.power_exponent
    bandwidth = gpu.memory_bytes_per_s.value * generation.memory
    return Device(
        flop_per_s=gpu.peak_flop_per_s(precision)
        * generation.matrix_ratio(precision)
        * clock
        * software.matrix,
        half_flop_per_s=half_peak * generation.matrix_ratio(half) * clock * software.matrix,
        attention_flop_per_s=half_peak * generation.attention * software.attention * clock,
        memory_bytes_per_s=bandwidth / software.passes,
        compute_units=generation.compute_units,
        fitted=constants,
        kernel_s=software.kernel_s,
        operand_bytes=1.0 if precision in LOW_PRECISIONS else ACTIVATION_BYTES * wide,
        element_ratio=wide,
        way=software.operations,
    )


def as_measured(on: Device, overlay: Overlay | None, precision: str) -> Device:
    """Return a GPU with the rates that the user measured, if there is an overlay."""
    if overlay is None:
        return on
    return replace(
        on,
        flop_per_s=on.flop_per_s * overlay.matrix(precision),
        half_flop_per_s=on.half_flop_per_s * overlay.matrix("bf16"),
        attention_flop_per_s=on.attention_flop_per_s * overlay.attention_ratio,
        memory_bytes_per_s=on.memory_bytes_per_s * overlay.memory_ratio,
    )


def _clock_ratio(gpu: Gpu, half_peak: float, generation: Generation) -> float:
    """Return power per peak FLOP/s over that of the generation's fullest part, at most 1."""
    per_tflop = gpu.power_w.value / (half_peak / 1e12)
    return min(1.0, per_tflop / generation.power_w_per_tflop)


def _unknown(gpu: Gpu) -> Generation:
    """Return cautious shares for a generation without a fit, from its measured best."""
    half = "bf16" if "bf16" in gpu.flop_per_s else "fp16"
    measured = gpu.measured_flop_per_s.get(half)
    ratio = 0.85 * measured.value / gpu.peak_flop_per_s(half) if measured else 0.5
    return Generation(
        compute_units=132,
        matrix={half: ratio},
        attention=0.4,
        flash2=1.0,
        memory=0.75,
        power_w_per_tflop=0.0001,
    )


def product_s(product: Product, on: Device, flop_per_s: float | None = None) -> float:
    """Return the time of one matrix product without the start of its kernel."""
    tiles = max(product.rows / TILE_ROWS, 1.0) * max(product.columns / TILE_COLUMNS, 0.5)
    waves = tiles * product.groups / on.compute_units
    rate = flop_per_s or on.flop_per_s
    if product.inner % ALIGNED or product.columns % ALIGNED:
        rate *= on.fitted.unaligned_ratio
    padded = max(product.rows, TILE_ROWS) * product.inner * product.columns * product.groups
    compute_s = 2 * padded / rate * (1 + on.fitted.wave_loss / waves)
    compute_s *= 1 + on.fitted.depth_loss / product.inner
    moved = product.rows * (product.inner + product.columns) + product.inner * product.columns
    return max(compute_s, moved * product.groups * on.operand_bytes / on.memory_bytes_per_s)


def attention_products(job: Job) -> Iterator[Product]:
    """Yield the projections of one attention block on one GPU."""
    model, tp, tokens = job.model, spread_of(job).tp, tokens_of(job)
    mla = model.latent_attention
    if mla is None:
        width = model.heads * model.head_dim
        keys = 2 * model.kv_heads * model.head_dim
        yield Product(rows=tokens, inner=model.hidden, columns=(width + keys) / tp)
        yield Product(rows=tokens, inner=width / tp, columns=model.hidden)
        return
    queries = model.heads * (mla.qk_nope_head_dim + mla.qk_rope_head_dim) / tp
    if mla.q_lora_rank:
        yield Product(rows=tokens, inner=model.hidden, columns=mla.q_lora_rank)
    yield Product(rows=tokens, inner=mla.q_lora_rank or model.hidden, columns=queries)
    yield Product(
        rows=tokens, inner=model.hidden, columns=mla.kv_lora_rank + mla.qk_rope_head_dim
    )
    up = model.heads * (mla.qk_nope_head_dim + mla.v_head_dim) / tp
    yield Product(rows=tokens, inner=mla.kv_lora_rank, columns=up)
    yield Product(rows=tokens, inner=model.heads * mla.v_head_dim / tp, columns=model.hidden)


def dense_products(job: Job, width: float) -> Iterator[Product]:
    """Yield the products of one feed-forward part of the given width."""
    model, tp, tokens = job.model, spread_of(job).tp, tokens_of(job)
    up = (2 if model.gated_ffn else 1) * width / tp
    yield Product(rows=tokens, inner=model.hidden, columns=up)
    yield Product(rows=tokens, inner=width / tp, columns=model.hidden)


def expert_products(job: Job) -> Iterator[Product]:
    """Yield the grouped products of the routed experts of one GPU."""
    model, spread = job.model, spread_of(job)
    experts = model.experts
    assert experts is not None
    etp = expert_tp(spread)
    local = experts.experts / spread.ep
    share = 1.0 if spread.ep == 1 else 1.0 / spread.tp
    tokens = tokens_of(job) * share * experts.experts_per_token * experts.capacity_imbalance
    width = experts.ffn_hidden / etp
    up = (2 if model.gated_ffn else 1) * width
    rows = tokens / local
    yield Product(rows=rows, inner=model.hidden, columns=up, groups=local)
    yield Product(rows=rows, inner=width, columns=model.hidden, groups=local)


def head_product(job: Job) -> Product:
    """Return the product with the vocabulary."""
    model = job.model
    return Product(
        rows=tokens_of(job),
        inner=model.hidden,
        # Frameworks pad the vocabulary to whole tiles.
        columns=-(-model.vocab // (spread_of(job).tp * 128)) * 128,
    )


def attention_flops(job: Job) -> float:
    """Count the FLOP of scores and values of one layer on one GPU, forward, as executed.

    Fused kernels skip what a causal mask hides; unfused ones compute the whole square.
    """
    model = job.model
    keys = (
        model.mean_attended(job.sequence_length)
        if job.attention != "unfused"
        else job.sequence_length
    )
    return 2 * tokens_of(job) * keys * (model.attention_width / spread_of(job).tp)


def attention_core(job: Job, on: Device) -> tuple[Times, Times]:
    """Return forward and backward time of scores, softmax and values of one layer."""
    flops = attention_flops(job)
    if job.attention != "unfused":
        forward_s = flops / on.attention_flop_per_s
        backward_s = forward_s * BACKWARD_ATTENTION_FLOPS / BACKWARD_ATTENTION_RATE
        launch = Times(launch_s=on.kernel_s)
        return (
            Times(attention_s=forward_s).plus(launch),
            Times(attention_s=backward_s).plus(launch, 2),
        )
    model = job.model
    scores = tokens_of(job) * job.sequence_length * model.heads / spread_of(job).tp
    width = model.head_dim
    square = Product(
        rows=job.sequence_length, inner=width, columns=job.sequence_length,
        groups=scores / job.sequence_length**2,
    )  # fmt: skip
    products_s = 2 * product_s(square, on, on.half_flop_per_s * on.fitted.grouped_ratio)
    # Softmax with its mask reads and writes the scores, dropout reads, writes and keeps a
    # mask; backward passes over them twice as often [Korthikanti 2022, equation 1].
    passes_s = scores * 9 / on.memory_bytes_per_s
    forward = Times(attention_s=products_s + passes_s, launch_s=4 * on.kernel_s)
    return forward, Times(attention_s=2 * products_s + 1.5 * passes_s, launch_s=7 * on.kernel_s)


def layer_times(job: Job, on: Device, *, sparse: bool) -> tuple[Times, Times, Times]:
    """Return forward, backward, and selectively recomputed time of one layer."""
    products = list(attention_products(job))
    experts = job.model.experts
    matrix_s = 0.0
    if sparse and experts is not None:
        grouped = list(expert_products(job))
        rate = on.flop_per_s * on.fitted.grouped_ratio
        matrix_s += sum(product_s(p, on, rate) for p in grouped)
        products.append(Product(
            rows=tokens_of(job), inner=job.model.hidden, columns=-(-experts.experts // 64) * 64,
        ))  # fmt: skip
        shared = experts.shared_width
        products += list(dense_products(job, shared)) if shared else []
        products_count = len(products) + len(grouped)
    else:
        products += list(dense_products(job, job.model.ffn_hidden))
        products_count = len(products)
    matrix_s += sum(product_s(p, on) for p in products)
    core_forward, core_backward = attention_core(job, on)
    passes, elements = passes_of(job, on.way), layer_elements(job, on, sparse=sparse)
    moved = passes.bytes_moved(elements)
    quantised = _quantised_bytes(products, on)
    if sparse and not has_fused_experts(job):
        quantised += _quantised_bytes(expert_products(job), on)
    kernels = passes.kernels(*elements)
    forward = Times(
        matrix_s=matrix_s,
        memory_s=(moved[0] + quantised) / on.memory_bytes_per_s,
        launch_s=(products_count + kernels[0]) * on.kernel_s,
    )
    weights = 1.0 if job.model.trainable_ratio > TRAINED_RATIO else 0.05
    backward = Times(
        matrix_s=matrix_s * (1 + weights),
        memory_s=(moved[1] + quantised * QUANTISED_AGAIN) / on.memory_bytes_per_s,
        launch_s=(products_count * (1 + weights) + kernels[1]) * on.kernel_s,
    )
    again = selective_times(job, on, core_forward) if job.recompute == "selective" else Times()
    return forward.plus(core_forward), backward.plus(core_backward), again


def layer_kernels(job: Job, on: Device) -> float:
    """Count the kernels that a dense layer starts in its forward pass."""
    mla = job.model.latent_attention
    products = 2 if mla is None else 4 + (mla.q_lora_rank > 0)
    forward = passes_of(job, on.way).forward
    others = sum(forward[over].kernels for over in ("hidden", "rotated", "inner"))
    return products + DENSE_PRODUCTS + 1 + others


DENSE_PRODUCTS: Final = 2
"""Matrix products of a feed-forward part, gate and up in one."""


def selective_times(job: Job, on: Device, core: Times) -> Times:
    """Return the time of what selective recomputation computes again in one layer.

    Scores and values [Korthikanti 2022, section 5]; with latent attention the up-projections
    instead, whose wide outputs need not be kept [DeepSeek-V3, section 3.2.3].
    """
    mla = job.model.latent_attention
    if mla is None or job.attention == "unfused":
        return core
    ranks = {mla.q_lora_rank, mla.kv_lora_rank}
    ups = [p for p in attention_products(job) if p.inner in ranks]
    return Times(matrix_s=sum(product_s(p, on) for p in ups), launch_s=len(ups) * on.kernel_s)


TRAINED_RATIO: Final = 0.5
"""Below it the model is an adapter (LoRA): the large products have no weight gradient."""


QUANTISED_AGAIN: Final = 1.6
"""Gradients of outputs are quantised for both products of backward; inputs are kept."""


def layer_elements(job: Job, on: Device, *, sparse: bool) -> dict[str, float]:
    """Count the elements, of 16 bits, that the memory-bound operations of a layer run over."""
    model, spread = job.model, spread_of(job)
    split = spread.tp if spread.sequence_parallel else 1
    tokens = tokens_of(job) * on.element_ratio
    found = {
        "hidden": tokens * model.hidden / split,
        "rotated": tokens * (model.heads + model.kv_heads) * model.head_dim / spread.tp,
    }
    experts = model.experts
    if not sparse or experts is None:
        return found | {"inner": tokens * model.ffn_hidden / spread.tp}
    split_tokens = spread.tp if spread.ep > 1 else 1
    copies = tokens * experts.experts_per_token / split_tokens
    return found | {
        "inner": copies * experts.ffn_hidden + tokens * experts.shared_width / spread.tp,
        "copies": on.fitted.route_passes * copies * model.hidden,
    }


def _quantised_bytes(products: Iterable[Product], on: Device) -> float:
    """Count the bytes of quantising: read 16 bits, write the value and its transpose."""
    if on.operand_bytes >= ACTIVATION_BYTES:
        return 0.0
    return sum(p.rows * p.inner * p.groups for p in products) * 4


def head_times(job: Job, on: Device) -> tuple[Times, Times]:
    """Return forward and backward time of the vocabulary head and its loss."""
    product = head_product(job)
    forward_s = product_s(product, on, on.half_flop_per_s)
    passes = passes_of(job, on.way)
    moved = passes.bytes_moved({"logits": product.rows * product.columns * on.element_ratio})
    kernels = passes.kernels("logits")
    weights = 1.0 if job.model.trainable_ratio > TRAINED_RATIO else 0.0
    return Times(
        matrix_s=forward_s,
        memory_s=moved[0] / on.memory_bytes_per_s,
        launch_s=kernels[0] * on.kernel_s,
    ), Times(
        matrix_s=forward_s * (1 + weights),
        memory_s=moved[1] / on.memory_bytes_per_s,
        launch_s=kernels[1] * on.kernel_s,
    )


def accumulate_s(job: Job, on: Device) -> float:
    """Return the time to add up the gradients of all micro-batches of one step."""
    spread = spread_of(job)
    if spread.sharding in {"zero3", "hsdp"}:
        return 0.0
    weights = dense_parameters(job.model, spread) + expert_parameters(job.model, spread)
    trained = weights * job.model.trainable_ratio
    once = sum(passes_of(job, on.way).bytes_moved({"weights": trained}))
    return once * (micro_batches(job) - 1) / on.memory_bytes_per_s


OPTIMIZER_BYTES: Final = {"fp32": 30, "bf16": 14}
"""A fused Adam, read and write: gradient, weight and two moments in that format, and beside
masters of 32 bits a weight of 16."""


def optimizer_s(job: Job, on: Device) -> float:
    """Return the time of the optimiser's pass over what this GPU holds of its state."""
    spread, model = spread_of(job), job.model
    dense = dense_parameters(model, spread)
    experts = expert_parameters(model, spread)
    ranks = (spread.dp or 1) * spread.cp
    if spread.sharding != "none":
        dense /= ranks
        experts /= max(1, ranks * spread.tp // spread.ep) if spread.ep > 1 else ranks
    moved = OPTIMIZER_BYTES[job.optimizer_states]
    return (dense + experts) * model.trainable_ratio * moved / on.memory_bytes_per_s
