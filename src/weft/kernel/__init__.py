"""The one place that talks to numba.

Kernels are plain functions of record tables and numbers. Three facts shape what is here:

* an array of numba's is seven numbers and counts its references, and a state of thirty of them
  fills every call; kernels see addresses instead (``rows``);
* a small function costs nothing only when it is inlined, so ``inner`` forces it, and leaves
  all optimising to the entry that it becomes a part of (``compilers``);
* numba's disk cache does not notice an edit in another file (``cache``); only entries are
  cached, which hold all the rest.

``NUMBA_DISABLE_JIT=1`` runs the same sources as plain Python, with the same results. So does an
installation whose numba is missing, or of a version that the extension does not fit: then the
first kernel that runs says why (``jit``).
"""

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

from weft.kernel.ladders import ladder
from weft.kernel.table import Table, table

__all__ = [
    "COMPILED",
    "Table",
    "choice",
    "entry",
    "inner",
    "ladder",
    "prefetch",
    "prepared",
    "table",
]

F = TypeVar("F", bound=Callable[..., Any])


def _plain_inner(function: F) -> F:
    """Return a function as it is, where nothing is compiled."""
    return function


def _plain_entry(function: F) -> F:
    """Return a kernel that Python runs; the first one says why nothing is compiled."""

    @functools.wraps(function)
    def call(state: Any, *arguments: Any) -> Any:
        _say_why()
        return function(state, *arguments)

    return cast("F", call)


@functools.cache
def _say_why() -> None:
    if WHY_NOT:
        sys.stderr.write(
            f"the simulator is not compiled and runs some 100 times slower: {WHY_NOT}\n"
        )


def _prefetch_nothing(rows: Table, row: int, line: int) -> None:
    """Stand in for ``prefetch`` where nothing is compiled: it changes no result."""


def _read_choice(state: Any) -> bool:
    """Stand in for ``choice`` where nothing is compiled."""
    return bool(getattr(type(state), "CHOICE", False))


def _plain_state(state: Any) -> Any:
    """Stand in for ``prepared`` where nothing is compiled."""
    return state


inner: Any = _plain_inner
entry: Any = _plain_entry
prepared: Any = _plain_state
prefetch: Any = _prefetch_nothing
choice: Any = _read_choice
COMPILED = False
WHY_NOT = ""
"""Why kernels run as plain Python although nobody asked for that."""
try:
    from weft.kernel import jit, rows
except Exception as _error:  # noqa: BLE001 - a numba of another kind, or none
    WHY_NOT = f"numba cannot be used: {type(_error).__name__}: {_error}"
else:
    if jit.IS_WANTED:
        WHY_NOT = jit.why_not()
        COMPILED = not WHY_NOT
    if COMPILED:
        inner, entry, prepared = jit.inner, jit.entry, jit.prepared
        prefetch, choice = rows.prefetch, rows.choice
