"""Where the numbers of a plan are from: the rows of ``sources.toml``."""

import tomllib
from importlib import resources
from typing import Final

from weft.sources import Kind, Source

_TEXT: Final = resources.files(__package__).joinpath("sources.toml").read_text("utf-8")
SOURCES: Final = {
    key: Source(key=key, **{**row, "kind": Kind(row["kind"])})
    for key, row in tomllib.loads(_TEXT).items()
}
