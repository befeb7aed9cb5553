"""Files that may be configurations, by their name or their first lines; others read them."""

from collections.abc import Callable
from functools import cache
from typing import Any, Final

import re2

from weft.inventory.table import rows
from weft.readers.matcher import Matcher

FRONT_BYTES: Final = 32 << 10
"""What a configuration is recognised by stands within so many bytes."""
Claim = Callable[[str, str, str], tuple[str, ...]]
"""What reads a configuration: its file, host and text in, the names of its formats out."""


def may_be_configuration(file: str, front: bytes) -> bool:
    """Return whether a file is worth a look by the readers of configurations.

    >>> may_be_configuration("etc/nccl.conf", b""), may_be_configuration("nccl.log", b"NCCL")
    (True, False)
    """
    named, lines = _patterns()
    return bool(named.match(file) or lines.match(front[:FRONT_BYTES]))


def is_output(file: str) -> bool:
    """Return whether a name is one of what programs print, so that other lines count too.

    >>> is_output("leaf1/show_running-config"), is_output("leaf1/config_db.json")
    (True, False)
    """
    return bool(_outputs().search(file))


@cache
def _patterns() -> tuple[Matcher, Matcher]:
    table: Any = rows("weft.readers", "configurations.yaml")
    return Matcher(table["named"]), Matcher(table["front"])


@cache
def _outputs() -> Any:  # noqa: ANN401 - re2 has no types
    table: Any = rows("weft.readers", "configurations.yaml")
    return re2.compile(table["outputs"])
