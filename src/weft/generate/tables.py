"""Tables of this package: TOML files of rows by name."""

import tomllib
from functools import cache
from importlib import resources
from typing import Any


@cache
def table(name: str) -> dict[str, dict[str, Any]]:
    """Return the rows of a table by name, in the order of its file."""
    file = resources.files(__package__).joinpath(f"{name}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))
