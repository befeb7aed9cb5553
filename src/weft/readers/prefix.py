"""Which host, process and rank wrote a line, as far as the front of the line says."""

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any, Final

import re2

from weft.inventory.table import rows

LONGEST: Final = 300
"""A prefix stands within so many characters."""
_OF_NCCL: Final = " NCCL "
_NOT_HOSTS: Final = frozenset(
    (
        "error",
        "warning",
        "warn",
        "info",
        "debug",
        "fatal",
        "critical",
        "kernel",
        "note",
        "notice",
    )
)


def prefix(text: str) -> Mapping[str, str]:
    """Return the fields of keys that the front of a line names.

    >>> dict(sorted(prefix("node7:1234:1299 [3] NCCL INFO Using network IB").items()))
    {'device': '3', 'host': 'node7', 'pid': '1234'}
    """
    front = text[:LONGEST]
    own, mark, _ = front.partition(_OF_NCCL)
    return _found(own + mark if mark else front)


@lru_cache(maxsize=1 << 14)
def _found(front: str) -> Mapping[str, str]:
    """Return the fields in the front of a line: of NCCL, where every rank has its own."""
    found: dict[str, str] = {}
    for needs, pattern in _patterns():
        if needs in front and (match := pattern.search(front)):
            for name, said in match.groupdict().items():
                if said and not (name == "host" and not _is_host(said)):
                    found.setdefault(name, said)
    return found


def _is_host(said: str) -> bool:
    return said.lower() not in _NOT_HOSTS and not said.isdigit()


@cache
def _patterns() -> tuple[tuple[str, Any], ...]:
    table = rows("weft.readers", "prefixes.yaml")
    return tuple((row["needs"], re2.compile(row["match"])) for row in table)
