"""Tables of records, which kernels see with and without compilation."""

from typing import Any, cast

import numpy as np

CACHE_LINE_BYTES = 64
Table = np.recarray[Any, Any]


def table(count: int, dtype: np.dtype[np.void]) -> Table:
    """Make a table of zeros; ``row.field`` works with and without compilation.

    It begins at a cache line, so that rows of 64 or 128 bytes share none.
    """
    size_bytes = count * dtype.itemsize
    raw = np.zeros(size_bytes + CACHE_LINE_BYTES, np.uint8)
    skip = -raw.ctypes.data % CACHE_LINE_BYTES
    return cast("Table", raw[skip : skip + size_bytes].view(dtype).view(np.recarray))
