"""What a check is: one more thing to look at, and what each fault would show there."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Final

from weft.bench import check_readings
from weft.bench.check_readings import Seen
from weft.bench.expected import Setting
from weft.inventory.inventory import Inventory
from weft.records import table
from weft.traffic.collective import Group, Operation

MISLED: Final = 0.05
"""Chance that a check shows what is not so, or hides what is. Judgement: the doctor's findings
that exclude other causes are right in 19 of 20 cases [how-sure-the-doctor-is]."""
SOUND = ""
"""What a check shows under a fault that does not name it: nothing odd."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One more thing to look at: a row of ``checks.toml``."""

    title: str
    command: str
    read: Callable[[Setting, Inventory], Mapping[str, Seen]] | None = None
    """What the files of the run say of it already, by what a fault would show."""
    beside: Callable[[Setting], Setting | None] | None = None
    """Another sweep that the model can foresee; none where it would be the same again."""


@cache
def all_checks() -> tuple[tuple[str, Check], ...]:
    """Return every check by name."""
    return tuple(
        (name, _check(name, row)) for name, row in table("weft.bench", "checks").items()
    )


def _check(name: str, row: dict[str, Any]) -> Check:
    read = getattr(check_readings, name) if "reads" in row else None
    beside: Callable[[Setting], Setting | None] | None = None
    if "one_host" in row:
        beside = _inside_host
    elif "operation" in row:
        beside = partial(_of_operation, Operation(row["operation"]))
    return Check(title=row["title"], command=row["command"], read=read, beside=beside)


def _of_operation(operation: Operation, setting: Setting) -> Setting | None:
    if setting.sweep.operation is operation:
        return None
    return replace(setting, sweep=replace(setting.sweep, operation=operation))


def _inside_host(setting: Setting) -> Setting | None:
    ranks = setting.group.ranks_per_domain
    if 1 in (setting.group.domains, ranks):
        return None
    return replace(setting, group=Group(ranks=ranks, ranks_per_domain=ranks))
