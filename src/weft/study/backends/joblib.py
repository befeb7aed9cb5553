"""The cores of this machine, through joblib's process pool (loky)."""

from collections.abc import Iterable, Iterator
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Final

from weft.errors import ToolFailed
from weft.study.backend import Backend, Task, batches
from weft.study.points import Point

if TYPE_CHECKING:
    from weft.study.task import Row

BATCH: Final = 1024
"""Points that wait in the pool at once."""
MOST_LOSSES: Final = 3
"""Times that a batch may lose a worker without one point done in between."""


def _run(
    task: Task, points: Iterable[Point], workers: int | None, _address: str | None
) -> Iterator[tuple[Point, "Row"]]:
    for batch in batches(points, BATCH):
        waiting = {point.number: point for point in batch}
        losses = 0
        while waiting:
            before = len(waiting)
            try:
                for point, row in _batch(task, waiting.values(), workers):
                    del waiting[point.number]
                    yield point, row
            except BrokenProcessPool as error:
                losses = losses + 1 if len(waiting) == before else 0
                if losses >= MOST_LOSSES:
                    raise ToolFailed(
                        f"the workers of the study end at once: {error}"
                    ) from error


def _batch(
    task: Task, points: Iterable[Point], workers: int | None
) -> Iterator[tuple[Point, "Row"]]:
    from joblib.externals.loky import get_reusable_executor  # noqa: PLC0415 - slow to import

    pool = get_reusable_executor(max_workers=workers)
    futures = {pool.submit(task, point): point for point in points}
    for future in as_completed(futures):
        yield futures[future], future.result()


joblib = Backend(
    title="the cores of this machine", needs="joblib", run=_run, takes_address=False
)
