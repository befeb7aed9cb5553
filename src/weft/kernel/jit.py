"""Kernels compiled by numba: the one file that hands functions to it, and tries whether it can.

What is beside this file extends numba where it has no public way (``compilers``, ``rows``).
A release of numba may break that, so the extension is tried once for each installed version:
where it fails, or where numba is missing, kernels run as plain Python.
"""

import functools
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar, cast

import numba
import numpy as np

from weft.kernel import cache, compilers, rows
from weft.kernel.table import table

F = TypeVar("F", bound=Callable[..., Any])
IS_WANTED = not getattr(numba.config, "DISABLE_JIT")  # noqa: B009 - its stub does not know it
_TRIED = "tried"
"""File in the cache folder: the extension works with these versions."""


def _jit(function: Callable[..., Any], **flags: Any) -> Any:
    njit: Any = numba.njit  # its stub does not know every flag
    return njit(error_model="numpy", **flags)(function)


def inner(function: F) -> F:
    """Compile a function that other kernels call; it is always inlined."""
    flags = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast("F", _jit(function, pipeline_class=compilers.Inner, **flags))


def entry(function: F) -> F:
    """Compile a kernel that Python calls with a state; it releases the interpreter's lock."""
    compiled = _jit(function, pipeline_class=compilers.Entry, nogil=True)
    compiled._cache = compilers.Kept(function)

    @functools.wraps(function)
    def call(state: Any, *arguments: Any) -> Any:
        return compiled(prepared(state), *map(rows.given, arguments))

    return cast("F", call)


def prepared(state: Any) -> Any:
    """Return what kernels are given for a state; what is given may be prepared before."""
    return state if isinstance(state, rows.Addresses) else rows.Addresses(state)


class _Trial(NamedTuple):
    rows: Any
    numbers: Any


def why_not() -> str:
    """Return why kernels cannot be compiled here, or an empty text.

    The first process of a version compiles a small kernel (about a second); a mark in the
    cache folder keeps the others from doing so.
    """
    mark = cache.CACHE / f"{_TRIED}-{numba.__version__}-{np.__version__}"
    if mark.is_file():
        return ""
    try:
        works = _try() == 2 * 3 + 4
    except Exception as error:  # noqa: BLE001 - whatever another numba raises
        return f"{type(error).__name__}: {str(error).strip().partition(os.linesep)[0]}"
    if not works:
        return "it gives wrong results"
    with suppress(OSError):
        mark.touch()
    return ""


def _try() -> float:
    """Compile all that the extension teaches numba: rows, fields, columns, inlining."""

    @inner
    def twice(number):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        return 2 * number

    def add(state, place):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        rows.prefetch(state.rows, place, 0)  # type: ignore[call-arg]
        row = state.rows[place]
        row.count = twice(row.count)
        if rows.choice(state):
            return 0.0
        return row.count + state.numbers[place]

    compiled = _jit(add, pipeline_class=compilers.Quiet)
    made = table(2, np.dtype([("count", np.int32), ("rate", np.float64)]))
    made[1].count = 3
    return float(compiled(rows.Addresses(_Trial(made, np.array([0.0, 4.0]))), 1))
