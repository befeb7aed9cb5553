"""What a backend is: it runs a task at many points, in any order, and survives lost workers."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from weft.study.points import Point

if TYPE_CHECKING:
    from weft.study.task import Row

Task = Callable[[Point], "Row"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """Where points run."""

    title: str
    run: Callable[
        [Task, Iterable[Point], int | None, str | None], Iterator[tuple[Point, "Row"]]
    ]
    """Of a task, its points, the workers (none: all cores) and the address of a cluster
    (none: this machine): every point with its row, once, as they come."""
    needs: str
    """The package that it is made on."""
    takes_address: bool = True


def batches(points: Iterable[Point], size: int) -> Iterator[tuple[Point, ...]]:
    """Part points into batches of a size; the last may be smaller."""
    rest = iter(points)
    while batch := tuple(islice(rest, size)):
        yield batch
