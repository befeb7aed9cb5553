"""Channels, CTAs or buffers are limited so far that the network cannot be filled.

What it checks: NCCL_MAX_NCHANNELS and NCCL_MAX_CTAS below 8, minima above 32, NCCL_BUFFSIZE
below 1 MiB or no power of two, NCCL_NTHREADS below 256.
Why it matters: a channel carries 10 to 20 GB/s: one or two of them hold a 400G rail at a
fraction, on every host.
What to do: unset it; limit channels per communicator where computation needs the SMs.
References: NCCL user guide, NCCL_MAX_NCHANNELS, NCCL_MAX_CTAS, NCCL_BUFFSIZE, NCCL_NTHREADS.
"""

from typing import Final

from weft.lint.document import whole
from weft.lint.facts import Variable
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_FEW: Final = 8
_MANY: Final = 32
_SMALL_BYTES: Final = 1 << 20
_THREADS: Final = 256


def _check(case: Case) -> Found:
    for one in case.of(Variable):
        value = whole(one.value)
        said = _said(one.name, value) if value is not None and value >= 0 else ""
        if said:
            yield problem(one, f"{one.name}={one.value}: {said}", "unset it, and measure")


def _said(name: str, value: int) -> str:
    if name in {"NCCL_MAX_NCHANNELS", "NCCL_MAX_CTAS"} and value < _FEW:
        return "too few channels to fill the network"
    if name in {"NCCL_MIN_NCHANNELS", "NCCL_MIN_CTAS"} and value > _MANY:
        return "takes SMs from the computation whatever the size of the message"
    if name == "NCCL_BUFFSIZE" and value < _SMALL_BYTES:
        return "buffers too small to keep a link busy"
    if name == "NCCL_BUFFSIZE" and value & (value - 1):
        return "is no power of two"
    return (
        "too few threads to copy at full rate"
        if name == "NCCL_NTHREADS" and (value < _THREADS)
        else ""
    )


nccl_channels = Rule(
    layer=Layer.NCCL,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)
