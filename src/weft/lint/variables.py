"""What is known of NCCL's variables: since when, until when, which values."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

import re2

from weft.lint.names import names

PLUGINS: Final = tuple(names("variables.of_plugins"))
"""Names that plug-ins and frameworks read, not the library."""
OUTSIDE: Final = frozenset(names("variables.outside"))
"""Names that images and builds set."""
RENAMED: Final[Mapping[str, str]] = dict(names("variables.renamed"))
"""Old names and what they are called now: PyTorch 2.2 took its own, NCCL renamed others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One variable of the user guide."""

    name: str
    kind: str
    accepted: str
    since: tuple[int, ...] = ()
    ended: str = ""
    """What became of it, in words; empty while it is current."""


@cache
def _table() -> Any:  # noqa: ANN401 - what the document holds
    return json.loads(resources.files("weft.lint").joinpath("nccl_variables.json").read_bytes())


@cache
def documented() -> Mapping[str, Known]:
    """Return the variables of the user guide by name."""
    return {
        row["name"]: Known(
            name=row["name"],
            kind=row["type"],
            accepted=row["accepted"] or "",
            since=version(row["since"] or ""),
            ended=row["ended"] or "",
        )
        for row in _table()["documented"]
    }


@cache
def in_library() -> frozenset[str]:
    """Return the names that stand in the library itself, documented or not."""
    return frozenset(name for item in _table()["library"].values() for name in item)


def exists(name: str) -> bool:
    """Return whether anything reads a variable."""
    return (
        name in documented()
        or name in in_library()
        or name in OUTSIDE
        or name.startswith(PLUGINS)
    )


def version(text: str) -> tuple[int, ...]:
    """Return the first version in a text.

    >>> version("deprecated 2.17 (MAX_CTAS)"), version("")
    ((2, 17), ())
    """
    match = re2.search(r"\d+(?:\.\d+)+", text)
    return tuple(int(part) for part in match[0].split(".")) if match else ()
