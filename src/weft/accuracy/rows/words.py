"""Reading the words of published tables: numbers, precisions, frameworks, settings."""

import re
from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

from weft import records

NUMBER: Final = re.compile(r"[-+]?\d+(?:[\d,]*\d)?(?:\.\d+)?(?:[eE][-+]?\d+)?")

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


def read(file: str) -> Mapping[str, Any]:
    """Return what a data file beside this one holds, in its order."""
    return records.table(__package__, file)


def table(name: str) -> Mapping[str, Any]:
    """Return a table of words: what is written, and what it stands for."""
    found: Mapping[str, Any] = read("words")[name]
    return found


def meant(name: str, text: str, flags: re.RegexFlag = re.IGNORECASE) -> Any:  # noqa: ANN401 - what the table holds
    """Return what the first pattern of a table that the text holds stands for, or nothing."""
    found = (value for words, value in table(name).items() if re.search(words, text, flags))
    return next(found, None)


def precision(text: str) -> str | None:
    """Return weft's name of a precision.

    >>> precision("amp_bf16"), precision("fp16 (Megatron default; not stated in file)")
    ('bf16', 'fp16')
    >>> precision("float8 rowwise"), precision("TE-fp8"), precision("mixed"), precision("")
    ('fp8', 'fp8', 'fp16', None)
    """
    found: str | None = meant("precisions", text)
    return found


def framework(text: str) -> str:
    """Return weft's class of a framework.

    >>> framework("NeMo 24.07 with vboost"), framework("Composer/PyTorch FSDP")
    ('megatron', 'fsdp')
    >>> framework("Megatron-DeepSpeed"), framework("Paxml/JAX"), framework("TensorFlow")
    ('deepspeed', 'jax', 'other')
    """
    return meant("frameworks", text) or "other"


def recompute(text: str) -> str | None:
    """Return weft's name of activation recomputation; nothing when the cell is empty.

    >>> recompute("full (use_checkpoint true in validation config)"), recompute("per-op SAC")
    ('full', 'selective')
    >>> recompute("selective + sequence parallel"), recompute("False"), recompute("")
    ('selective', 'none', None)
    """
    found: str | None = meant("recomputations", text)
    return found


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
