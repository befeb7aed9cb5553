"""A Ray cluster, or one of this machine's cores where no address is given."""

import logging
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from weft.study.backend import Backend, Task, batches
from weft.study.points import Point

if TYPE_CHECKING:
    from weft.study.task import Row

BATCH: Final = 4096
"""Points that are given to Ray at once."""
RETRIES: Final = 3
"""Times that Ray runs a point again whose worker was lost."""


def _run(
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
        for batch in batches(points, BATCH):
            waiting = {at.remote(shared, point): point for point in batch}
            while waiting:
                done, _ = ray.wait(list(waiting))
                for reference in done:
                    yield waiting.pop(reference), ray.get(reference)
    finally:
        ray.shutdown()


def _at(task: Task, point: Point) -> "Row":
    return task(point)


ray = Backend(title="a Ray cluster", needs="ray", run=_run)
