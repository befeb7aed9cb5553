"""Where the numbers of a plan are from: the rows of ``sources.toml``."""

from typing import Final

from weft.generate.tables import table
from weft.sources import Kind, Source

SOURCES: Final = {
    key: Source(key=key, **{**row, "kind": Kind(row["kind"])})
    for key, row in table("sources").items()
}
