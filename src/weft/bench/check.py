"""What a check is: one more thing to look at, and what each fault would show there."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from weft import plugins
from weft.bench import checks
from weft.bench.expected import Setting
from weft.inventory.inventory import Inventory

MISLED: Final = 0.05
"""Chance that a check shows what is not so, or hides what is. Judgement: the doctor's findings
that exclude other causes are right in 19 of 20 cases [how-sure-the-doctor-is]."""
SOUND = ""
"""What a check shows under a fault that does not name it: nothing odd."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One thing that the files of a run say, or deny."""

    there: bool
    text: str
    """In words, as ``the log has NET/Socket``."""
    form: str = ""
    """The form of the fault that it names, as ``4 of 8 NICs work``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One more thing to look at. What a fault shows there stands in the fault (``shows``)."""

    title: str
    command: str
    read: Callable[[Setting, Inventory], Mapping[str, Seen]] | None = None
    """What the files of the run say of it already, by what a fault would show."""
    beside: Callable[[Setting], Setting | None] | None = None
    """Another sweep that the model can foresee; none where it would be the same again."""


@cache
def all_checks() -> tuple[tuple[str, Check], ...]:
    """Return every check by name."""
    return tuple((name, plugins.load(checks, name, Check)) for name in plugins.names(checks))
