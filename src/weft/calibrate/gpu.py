"""A short measurement on the GPU of this host: matrix products, attention, memory.

It needs PyTorch (``pip install weft[calibrate]``), which is imported when it is asked for.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from statistics import median
from typing import Any, Final

from weft.catalogue.devices import Gpu
from weft.errors import Unreadable

SHAPES: Final = (
    (4096, 4096, 4096),
    (8192, 8192, 8192),
    (8192, 4096, 14336),
    (16384, 8192, 8192),
)
"""Rows, inner and columns of products as layers of 7B to 70B models have them."""
DTYPES: Final = {
    "fp32": "float32", "tf32": "float32", "fp16": "float16", "bf16": "bfloat16",
    "fp8": "float8_e4m3fn",
}  # fmt: skip
SEQUENCE: Final = 8192
HEADS: Final = 32
WIDTH: Final = 128
COPIED_BYTES: Final = 4 * 2**30
REPEATS: Final = 20
WARM_UP: Final = 5
_ATTENTION_RATIO: Final = {"hopper": 0.60, "blackwell": 0.60, "ampere": 0.60}
"""Best share of the 16-bit peak that fused causal attention reaches [FlashAttention-2, -3]."""
_MEMORY_RATIO: Final = 0.92
"""Best share of the memory bandwidth that a copy reaches [BabelStream]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """One shape of a matrix product in one precision."""

    precision: str
    rows: int
    inner: int
    columns: int
    flop_per_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuMeasurement:
    """What one GPU reached."""

    device: str
    products: tuple[Product, ...]
    attention_flop_per_s: float
    memory_bytes_per_s: float


def measure(torch: Any | None = None) -> GpuMeasurement:  # noqa: ANN401 - a module
    """Measure the first GPU of this host; takes about ten seconds."""
    torch = torch or _torch()
    return GpuMeasurement(
        device=str(torch.cuda.get_device_name(0)),
        products=tuple(
            found
            for precision in DTYPES
            for shape in SHAPES
            if (found := _product(torch, precision, shape)) is not None
        ),
        attention_flop_per_s=_attention(torch),
        memory_bytes_per_s=_memory(torch),
    )


def _torch() -> Any:  # noqa: ANN401 - a module that is not typed here
    try:
        torch = import_module("torch")
    except ImportError as error:
        raise Unreadable(
            "no GPU measurement: PyTorch is not installed; pip install 'weft[calibrate]' on a "
            "GPU host, or give output of nccl-tests or perftest"
        ) from error
    if not torch.cuda.is_available():
        raise Unreadable(
            "no GPU measurement: this host has no GPU that PyTorch can use; run on a GPU host, "
            "or give output of nccl-tests or perftest"
        )
    return torch


def _seconds(torch: Any, run: Callable[[], object]) -> float:  # noqa: ANN401 - as above
    for _ in range(WARM_UP):
        run()
    times = []
    for _ in range(REPEATS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        run()
        end.record()
        torch.cuda.synchronize()
        times.append(float(start.elapsed_time(end)) * 1e-3)
    return median(times)


def _product(torch: Any, precision: str, shape: tuple[int, int, int]) -> Product | None:  # noqa: ANN401
    """Return the rate of one product; nothing where the GPU does not have the precision."""
    rows, inner, columns = shape
    torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
    try:
        kind = getattr(torch, DTYPES[precision])
        left = torch.randn(rows, inner, device="cuda").to(kind)
        right = torch.randn(columns, inner, device="cuda").to(kind)
        time_s = _seconds(torch, _multiply(torch, precision, left, right))
    except (AttributeError, RuntimeError, ValueError):
        return None
    return Product(
        precision=precision, rows=rows, inner=inner, columns=columns,
        flop_per_s=2.0 * rows * inner * columns / time_s,
    )  # fmt: skip


def _multiply(torch: Any, precision: str, left: Any, right: Any) -> Callable[[], object]:  # noqa: ANN401
    if precision != "fp8":
        return lambda: left @ right.T
    one = torch.ones((), device="cuda")
    return lambda: torch._scaled_mm(  # noqa: SLF001 - PyTorch's only product in 8 bits
        left, right.T, scale_a=one, scale_b=one, out_dtype=torch.bfloat16
    )


def _attention(torch: Any) -> float:  # noqa: ANN401
    query, key, value = (
        torch.randn(1, HEADS, SEQUENCE, WIDTH, device="cuda", dtype=torch.bfloat16)
        for _ in range(3)
    )
    attend = torch.nn.functional.scaled_dot_product_attention
    time_s = _seconds(torch, lambda: attend(query, key, value, is_causal=True))
    return 2.0 * HEADS * SEQUENCE**2 * WIDTH / time_s


def _memory(torch: Any) -> float:  # noqa: ANN401
    source = torch.empty(COPIED_BYTES, device="cuda", dtype=torch.uint8)
    target = torch.empty_like(source)
    return 2.0 * COPIED_BYTES / _seconds(torch, lambda: target.copy_(source))


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuRatios:
    """A GPU beside a healthy one of its kind."""

    matrix_ratio: dict[str, float]
    attention_ratio: float
    memory_ratio: float


def ratios(measured: GpuMeasurement, gpu: Gpu) -> GpuRatios:
    """Compare the best of each with the best published of the kind, or a share of its peak."""
    best: dict[str, float] = {}
    for product in measured.products:
        best[product.precision] = max(best.get(product.precision, 0.0), product.flop_per_s)
    half = gpu.peak_flop_per_s("bf16" if "bf16" in gpu.flop_per_s else "fp16")
    attention = half * _ATTENTION_RATIO.get(gpu.generation, 0.5)
    return GpuRatios(
        matrix_ratio={
            precision: rate / _best_known(gpu, precision)
            for precision, rate in best.items()
            if precision in gpu.flop_per_s
        },
        attention_ratio=measured.attention_flop_per_s / attention,
        memory_ratio=measured.memory_bytes_per_s
        / (gpu.memory_bytes_per_s.value * _MEMORY_RATIO),
    )


_PLAIN_RATIO: Final = 0.75
"""Share of the peak that large products reach where no best is published of any precision."""


def _best_known(gpu: Gpu, precision: str) -> float:
    """Return the best published rate; by the share of 16 bits where there is none."""
    known, half = gpu.measured_flop_per_s.get(precision), gpu.measured_flop_per_s.get("bf16")
    if known:
        return known.value
    share = half.value / gpu.peak_flop_per_s("bf16") if half else _PLAIN_RATIO
    return gpu.peak_flop_per_s(precision) * share
