import sys
from types import SimpleNamespace

import pytest

from weft import catalogue
from weft.calibrate import calibrate, gpu
from weft.errors import Unreadable
from weft.spec.load import preset

ELAPSED_MS = 2.0


class Tensor:
    """Enough of a tensor for the measurement to run."""

    def __init__(self, kind="float32"):
        self.kind = kind

    def to(self, kind):
        if kind == "float8_e4m3fn":
            raise RuntimeError("no kernel for this GPU")
        return Tensor(kind)

    def __matmul__(self, _other):
        return Tensor()

    @property
    def T(self):  # noqa: N802 - torch's name
        return self

    def copy_(self, _other):
        return self


class Event:
    def __init__(self, *, enable_timing):
        assert enable_timing

    def record(self):
        pass

    def elapsed_time(self, _other):
        return ELAPSED_MS


def _attend(query, _key, _value, *, is_causal):
    assert is_causal
    return query


def torch(*, available=True):
    def tensor(*_shape, **_settings):
        return Tensor()

    return SimpleNamespace(
        float32="float32", float16="float16", bfloat16="bfloat16", uint8="uint8",
        float8_e4m3fn="float8_e4m3fn", randn=tensor, empty=tensor, ones=tensor,
        empty_like=lambda source: source,
        cuda=SimpleNamespace(
            is_available=lambda: available, get_device_name=lambda _index: "H100", Event=Event,
            synchronize=lambda: None,
        ),
        backends=SimpleNamespace(cuda=SimpleNamespace(matmul=SimpleNamespace())),
        nn=SimpleNamespace(functional=SimpleNamespace(
            scaled_dot_product_attention=_attend
        )),
    )  # fmt: skip


def test_rates_are_operations_over_time():
    """2 m n k / t for a product, half of 4 h s^2 d for causal attention, 2 bytes moved / t."""
    found = gpu.measure(torch())
    first = found.products[0]
    assert first.flop_per_s == pytest.approx(2 * 4096**3 / 2e-3)
    assert found.attention_flop_per_s == pytest.approx(2 * 32 * 8192**2 * 128 / 2e-3)
    assert found.memory_bytes_per_s == pytest.approx(2 * 4 * 2**30 / 2e-3)


def test_a_precision_that_the_gpu_lacks_is_left_out():
    found = gpu.measure(torch())
    assert {product.precision for product in found.products} == {"fp32", "tf32", "fp16", "bf16"}


def test_ratios_compare_with_the_best_published_of_the_kind():
    kind = catalogue.find("gpus", "h100_sxm")
    best = kind.measured_flop_per_s["bf16"].value
    measured = gpu.GpuMeasurement(
        device="H100",
        products=tuple(
            gpu.Product(precision="bf16", rows=1, inner=1, columns=1, flop_per_s=rate)
            for rate in (0.5 * best, 0.9 * best)
        ),
        attention_flop_per_s=1e14,
        memory_bytes_per_s=0.92 * kind.memory_bytes_per_s.value,
    )
    found = gpu.ratios(measured, kind)
    assert found.matrix_ratio == {"bf16": pytest.approx(0.9)}
    assert found.memory_ratio == pytest.approx(1)


def test_a_host_without_pytorch_is_told_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(Unreadable, match="PyTorch is not installed") as problem:
        calibrate(preset("dgx_h100"), measure_gpu=True)
    assert problem.value.exit_status == 3


def test_a_host_without_a_gpu_is_told_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", torch(available=False))
    with pytest.raises(Unreadable, match="no GPU that PyTorch can use"):
        gpu.measure()


def test_a_measured_gpu_is_in_the_overlay(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", torch())
    found = calibrate(preset("dgx_h100"), name="host", measure_gpu=True)
    assert found.gpu is not None
    assert set(found.overlay.matrix_ratio) == {"fp32", "tf32", "fp16", "bf16"}
    assert found.overlay.memory_ratio > 0
