"""Labels of quality of service, as several rules look at them."""

from collections.abc import Iterable, Iterator
from typing import Final

from weft.lint import facts
from weft.lint.document import whole
from weft.lint.rule import Case

CNP_DSCP: Final = 48
"""Of the firmware of ConnectX, where nobody says another."""
ECN_BITS: Final = 4
"""A traffic class is DSCP x 4 and two bits of ECN. [RFC 3168]"""
CLASSES: Final = 8
DSCPS: Final = 64


def target(rows: dict[int, facts.Mapped], source: int) -> int:
    """Return where a label leads; to the same number where the map does not say."""
    return rows[source].target if source in rows else source


def traffic_classes(case: Case) -> Iterator[tuple[facts.Variable, int]]:
    """Yield the traffic classes of jobs that can be read."""
    for variable in case.variables("NCCL_IB_TC"):
        value = whole(variable.value)
        if value is not None:
            yield variable, value


def overlap(first: Iterable[str], second: Iterable[str]) -> bool:
    """Return whether two settings meet on a port; an empty list stands for all ports."""
    one, other = set(first), set(second)
    return not one or not other or bool(one & other)
