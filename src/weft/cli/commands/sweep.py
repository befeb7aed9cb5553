"""`weft sweep` (decide): a study of one verb over many keys, on cores or machines."""

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from weft import api
from weft.cli import options
from weft.cli.exits import PARTIAL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weft.study.run import Progress


def sweep(
    study: Path,
    *,
    table: Path,
    sets: list[str] = [],
    backend: str = "joblib",
    address: str | None = None,
    workers: int | None = None,
    fresh: bool = False,
    shown: options.Written,
    quiet: bool = False,
) -> int:
    """Run predict, expect, need or compare at every point of a study.

    A study names the verb, the documents, and for each key its values or a distribution; every
    point is a row of the table with its values, measures, bands and provenance. Rows are kept
    as they come: after Ctrl-C, or where the machine went down, the same command goes on. Where
    --backend and --address name a cluster, a lost worker's points are run by another.

    \b
    Examples:
      weft sweep examples/studies/fabric-under-load.yaml --table results.csv
      weft sweep study.yaml --table results.parquet --workers 8
      weft sweep study.yaml --table results.parquet --backend dask --address tcp://head:8786
    """
    shown.check()
    asked, documents = api.load_study(study, sets)
    with _bar(quiet=quiet) as report:
        result = api.run_study(
            asked, documents, table, backend=backend, address=address, workers=workers,
            fresh=fresh, report=report,
        )  # fmt: skip
    shown.emit(result)
    return 0 if result.complete and result.spreads else PARTIAL


@contextmanager
def _bar(*, quiet: bool) -> "Iterator[Callable[[Progress], None]]":
    """Show a bar with the time left on standard error, where a person is watching."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    with Bar(console=Console(stderr=True)) as bar:
        task = bar.add_task("points", total=None)
        yield lambda now: bar.update(task, completed=now.done, total=now.of)
