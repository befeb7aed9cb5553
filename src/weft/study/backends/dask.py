"""A Dask cluster, or one of this machine's cores where no address is given."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from weft.study.backend import Backend, Task, batches
from weft.study.points import Point

if TYPE_CHECKING:
    from weft.study.task import Row

BATCH: Final = 4096
"""Points that the scheduler holds at once; it gives those of a lost worker to another."""


def _run(
    task: Task, points: Iterable[Point], workers: int | None, address: str | None
) -> Iterator[tuple[Point, "Row"]]:
    from distributed import Client, as_completed  # noqa: PLC0415 - not installed everywhere

    own: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": None}
    told = {"address": address} if address else {"n_workers": workers, **own}
    with Client(**told) as client:
        for batch in batches(points, BATCH):
            futures = {client.submit(task, point, pure=False): point for point in batch}
            for future in as_completed(futures):
                yield futures[future], future.result()


dask = Backend(title="a Dask cluster", needs="distributed", run=_run)
