"""The constants of the inference model: value, band and source of each, from one file."""

from collections.abc import Mapping
from functools import cache

from weft.records import table
from weft.results import Estimate


@cache
def constants() -> Mapping[str, Estimate]:
    """Return every constant with its 80 % band, in the unit of the file."""
    return {
        name: Estimate(float(row["value"]), float(row["low"]), float(row["high"]))
        for name, row in table(__package__, "constants").items()
    }
