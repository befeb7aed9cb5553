"""Reading the words of published tables: numbers, precisions, frameworks, settings."""

import re
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Final

NUMBER: Final = re.compile(r"[-+]?\d+(?:[\d,]*\d)?(?:\.\d+)?(?:[eE][-+]?\d+)?")

PRECISIONS: Final = (
    (r"nvfp4|mxfp4|\bfp4\b|_fp4", "nvfp4"),
    (r"mxfp8", "mxfp8"),
    (r"fp8|float8", "fp8"),
    (r"bf16|bfloat", "bf16"),
    (r"tf32", "tf32"),
    (r"fp16|float16|mixed|amp", "fp16"),
    (r"fp32|float32", "fp32"),
)
FRAMEWORKS: Final = (
    (r"jax|maxtext|pax|t5x", "jax"),
    (r"torchtitan|fsdp|composer", "fsdp"),
    (r"deepspeed", "deepspeed"),
    (r"megatron|nemo|nvidia recipe|megascale|meta internal|nvidia release", "megatron"),
)


LARGEST: Final = 10**9
"""No table counts more of anything that weft reads as a whole number."""


def number(text: str | None) -> float | None:
    """Return the first number of a cell, or nothing.

    >>> number("1,024 tokens"), number("n/a"), number(">90")
    (1024.0, None, 90.0)
    """
    match = NUMBER.search(text or "")
    value = float(match.group().replace(",", "")) if match else None
    return value if value is not None and isfinite(value) else None


def whole(text: str | None) -> int | None:
    """Return a cell that holds a count of at least one, or nothing."""
    value = number(text)
    return round(value) if value is not None and 1 <= value <= LARGEST else None


def first_match(table: Iterable[tuple[str, str]], text: str) -> str | None:
    """Return the name beside the first pattern that the text holds."""
    found = (name for pattern, name in table if re.search(pattern, text, re.IGNORECASE))
    return next(found, None)


def precision(text: str) -> str | None:
    """Return weft's name of a precision.

    >>> precision("amp_bf16"), precision("fp16 (Megatron default; not stated in file)")
    ('bf16', 'fp16')
    >>> precision("float8 rowwise"), precision("TE-fp8"), precision("mixed"), precision("")
    ('fp8', 'fp8', 'fp16', None)
    """
    return first_match(PRECISIONS, text)


def framework(text: str) -> str:
    """Return weft's class of a framework.

    >>> framework("NeMo 24.07 with vboost"), framework("Composer/PyTorch FSDP")
    ('megatron', 'fsdp')
    >>> framework("Megatron-DeepSpeed"), framework("Paxml/JAX"), framework("TensorFlow")
    ('deepspeed', 'jax', 'other')
    """
    return first_match(FRAMEWORKS, text) or "other"


def recompute(text: str) -> str | None:
    """Return weft's name of activation recomputation; nothing when the cell is empty.

    >>> recompute("full (use_checkpoint true in validation config)"), recompute("per-op SAC")
    ('full', 'selective')
    >>> recompute("selective + sequence parallel"), recompute("False"), recompute("")
    ('selective', 'none', None)
    """
    words = (
        (r"selective|sac\b|op\b", "selective"),
        (r"full|true|yes", "full"),
        (r"none|false|no\b|off", "none"),
    )
    return first_match(words, text)


def sizes_in(text: str) -> Mapping[str, int]:
    """Return parallel sizes written inside a name.

    >>> sizes_in("Llama 3.1 70b BF16 (TP=4, PP=4, CP=2, VP=5, MBS=1, GA=64)")["VP"]
    5
    >>> sizes_in("64x H100 GPUs (FSDP=64 GBS=128)")
    {'FSDP': 64, 'GBS': 128}
    """
    pairs = re.findall(r"\b(TP|PP|CP|DP|EP|VP|MBS|GA|GBS|SEQ|FSDP)\s*=\s*(\d+)", text)
    return {key: int(value) for key, value in pairs}


def settings_in(text: str) -> dict[str, str]:
    """Return ``key=value`` settings of a free-text cell.

    >>> settings_in("heads=24; hidden=2304; V=51200; aggregate 4.4 PFLOP/s")
    {'heads': '24', 'hidden': '2304', 'v': '51200'}
    """
    pairs = (part.rsplit("=", 1) for part in text.split(";") if "=" in part)
    return {key.strip().lower(): value.strip() for key, value in pairs}
