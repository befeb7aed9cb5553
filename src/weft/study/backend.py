"""Where points run: a backend runs a task at many points, in any order, whatever is lost."""

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from weft.errors import ToolFailed
from weft.study.points import Point

if TYPE_CHECKING:
    from weft.study.task import Row

Task = Callable[[Point], "Row"]
JOBLIB_BATCH: Final = 1024
"""Points that wait in the pool at once."""
MOST_LOSSES: Final = 3
"""Times that a batch may lose a worker without one point done in between."""
CLUSTER_BATCH: Final = 4096
"""Points that a scheduler holds at once; it gives those of a lost worker to another."""
RETRIES: Final = 3
"""Times that Ray runs a point again whose worker was lost."""


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


def _with_dask(
    task: Task, points: Iterable[Point], workers: int | None, address: str | None
) -> Iterator[tuple[Point, "Row"]]:
    from distributed import Client, as_completed  # noqa: PLC0415 - not installed everywhere

    own: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": None}
    told = {"address": address} if address else {"n_workers": workers, **own}
    with Client(**told) as client:
        for batch in batches(points, CLUSTER_BATCH):
            futures = {client.submit(task, point, pure=False): point for point in batch}
            for future in as_completed(futures):
                yield futures[future], future.result()


def _with_joblib(
    task: Task, points: Iterable[Point], workers: int | None, _address: str | None
) -> Iterator[tuple[Point, "Row"]]:
    """Run points in joblib's process pool (loky)."""
    for batch in batches(points, JOBLIB_BATCH):
        waiting = {point.number: point for point in batch}
        losses = 0
        while waiting:
            before = len(waiting)
            try:
                for point, row in _in_pool(task, waiting.values(), workers):
                    del waiting[point.number]
                    yield point, row
            except BrokenProcessPool as error:
                losses = losses + 1 if len(waiting) == before else 0
                if losses >= MOST_LOSSES:
                    raise ToolFailed(
                        f"the workers of the study end at once: {error}"
                    ) from error


def _in_pool(
    task: Task, points: Iterable[Point], workers: int | None
) -> Iterator[tuple[Point, "Row"]]:
    from joblib.externals.loky import get_reusable_executor  # noqa: PLC0415 - slow to import

    pool = get_reusable_executor(max_workers=workers)
    futures = {pool.submit(task, point): point for point in points}
    for future in as_completed(futures):
        yield futures[future], future.result()


def _with_ray(
    task: Task, points: Iterable[Point], workers: int | None, address: str | None
) -> Iterator[tuple[Point, "Row"]]:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    import ray  # noqa: PLC0415 - not installed everywhere

    told: dict[str, Any] = {"address": address, "log_to_driver": False}
    if address is None:
        told |= {"num_cpus": workers, "include_dashboard": False}
    ray.init(logging_level=logging.ERROR, **told)
    try:
        at = ray.remote(max_retries=RETRIES)(_at)
        shared = ray.put(task)
        for batch in batches(points, CLUSTER_BATCH):
            waiting = {at.remote(shared, point): point for point in batch}
            while waiting:
                done, _ = ray.wait(list(waiting))
                for reference in done:
                    yield waiting.pop(reference), ray.get(reference)
    finally:
        ray.shutdown()


def _at(task: Task, point: Point) -> "Row":
    return task(point)


BACKENDS: Final[Mapping[str, Backend]] = {
    "dask": Backend(title="a Dask cluster", needs="distributed", run=_with_dask),
    "joblib": Backend(
        title="the cores of this machine",
        needs="joblib",
        run=_with_joblib,
        takes_address=False,
    ),
    "ray": Backend(title="a Ray cluster", needs="ray", run=_with_ray),
}
"""Dask and Ray use the cores of this machine where no address is given."""
