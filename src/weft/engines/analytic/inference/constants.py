"""The constants of the inference model: value, band and source of each, from one file."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from weft.results import Estimate


@cache
def constants() -> Mapping[str, Estimate]:
    """Return every constant with its 80 % band, in the unit of the file."""
    text = (files(__package__) / "constants.toml").read_text(encoding="utf-8")
    return {
        name: Estimate(float(row["value"]), float(row["low"]), float(row["high"]))
        for name, row in tomllib.loads(text).items()
    }
