"""The one place that talks to numba.

Kernels are plain functions of record tables and numbers. Three facts shape what is here:

* an array of numba's is seven numbers and counts its references, and a state of thirty of them
  fills every call; kernels see addresses instead (``rows``);
* a small function costs nothing only when it is inlined, so ``inner`` forces it, and leaves
  all optimising to the entry that it becomes a part of (``compilers``);
* numba's disk cache does not notice an edit in another file (``cache``); only entries are
  cached, which hold all the rest.

``NUMBA_DISABLE_JIT=1`` runs the same sources as plain Python, with the same results.
"""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

from weft.kernel import compilers, rows
from weft.kernel.ladders import ladder

__all__ = ["COMPILED", "Table", "choice", "entry", "inner", "ladder", "prefetch", "table"]

F = TypeVar("F", bound=Callable[..., Any])
Table = np.recarray[Any, Any]
COMPILED = not getattr(numba.config, "DISABLE_JIT")  # noqa: B009 - its stub does not know it


def _jit(function: Callable[..., Any], **flags: Any) -> Any:
    njit: Any = numba.njit  # its stub does not know _nrt
    return njit(error_model="numpy", **flags)(function)


def inner(function: F) -> F:
    """Compile a function that other kernels call; it is always inlined."""
    flags = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return cast("F", _jit(function, pipeline_class=compilers.Inner, **flags))


def entry(function: F) -> F:
    """Compile a kernel that Python calls with a state; it releases the interpreter's lock."""
    if not COMPILED:
        return function
    compiled = _jit(function, pipeline_class=compilers.Entry, nogil=True)
    compiled._cache = compilers.Kept(function)

    @functools.wraps(function)
    def call(state: Any, *arguments: Any) -> Any:
        return compiled(rows.Addresses(state), *map(rows.given, arguments))

    return cast("F", call)


def table(count: int, dtype: np.dtype[np.void]) -> Table:
    """Make a table of zeros; ``row.field`` works with and without compilation.

    It begins at a cache line, so that rows of 64 or 128 bytes share none.
    """
    size_bytes = count * dtype.itemsize
    raw = np.zeros(size_bytes + rows.CACHE_LINE_BYTES, np.uint8)
    skip = -raw.ctypes.data % rows.CACHE_LINE_BYTES
    return cast("Table", raw[skip : skip + size_bytes].view(dtype).view(np.recarray))


def _prefetch_nothing(rows: Table, row: int, line: int) -> None:
    """Stand in for ``prefetch`` where nothing is compiled: it changes no result."""


def _read_choice(state: Any) -> bool:
    """Stand in for ``choice`` where nothing is compiled."""
    return bool(getattr(type(state), "CHOICE", False))


prefetch: Any = rows.prefetch if COMPILED else _prefetch_nothing
choice: Any = rows.choice if COMPILED else _read_choice
