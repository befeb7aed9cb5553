"""Names that programs know, as ``names.yaml`` lists them."""

from typing import Any

from weft.inventory.table import rows


def names(key: str) -> Any:  # noqa: ANN401 - a list or a mapping
    """Return one list of the table: ``opensm.options``."""
    found: Any = rows("weft.lint", "names.yaml")
    for part in key.split("."):
        found = found[part]
    return found
