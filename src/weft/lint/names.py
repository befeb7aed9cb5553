"""Names that programs know, as ``names.yaml`` lists them."""

from typing import Any

from weft.inventory.table import rows
from weft.readers.matcher import pattern


def names(key: str) -> Any:  # noqa: ANN401 - a list or a mapping
    """Return one list of the table: ``opensm.options``."""
    found: Any = rows("weft.lint", "names.yaml")
    for part in key.split("."):
        found = found[part]
    return found


def wrong_form(text: str, kind: str) -> str:
    """Return what is wrong with a setting by its form; empty where it is as NCCL reads it."""
    for form, words in names("variables.forms")[kind]:
        match = pattern(form).fullmatch(text)
        if match:
            return str(words).format(*match.groups())
    return ""
