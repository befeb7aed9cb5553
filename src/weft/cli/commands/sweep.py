"""`weft sweep` (decide): a study of one verb over many keys, on cores or machines."""

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from weft.cli import options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weft.study.run import Progress

PARTIAL: Final = 5
"""Exit code where points are left to run, or none has measures."""


def sweep(
    study: Annotated[Path, typer.Argument(metavar="STUDY", help="Study document (YAML).")],
    *,
    table: Annotated[
        Path,
        typer.Option("--table", metavar="FILE.csv|parquet", help="Where the rows go."),
    ],
    sets: options.Sets = [],  # noqa: B006 - typer reads the default, nobody changes it
    backend: Annotated[
        str, typer.Option("--backend", metavar="NAME", help="joblib, dask or ray.")
    ] = "joblib",
    address: Annotated[
        str | None,
        typer.Option("--address", metavar="ADDRESS", help="Of the Dask or Ray cluster."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", metavar="N", min=1, help="Processes here; default: all cores."
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin again, without the points of an earlier run.")
    ] = False,
    output: options.OutputFormat = "text",
    full: options.Full = False,
    out: options.OutFile = None,
    quiet: options.Quiet = False,
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
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.cli.output import check_format, check_places, emit  # noqa: PLC0415 - as above

    check_format(output)
    check_places(out)
    asked, documents = api.load_study(study, sets)
    with _bar(quiet=quiet) as report:
        result = api.run_study(
            asked, documents, table, backend=backend, address=address, workers=workers,
            fresh=fresh, report=report,
        )  # fmt: skip
    emit(result, output, full=full, out=out)
    return 0 if result.complete and result.spreads else PARTIAL


@contextmanager
def _bar(*, quiet: bool) -> "Iterator[Callable[[Progress], None]]":
    """Show a bar with the time left on standard error, where a person is watching."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415 - a person can wait for it, a pipe not
    from rich.progress import Progress as Bar  # noqa: PLC0415 - as above

    with Bar(console=Console(stderr=True)) as bar:
        task = bar.add_task("points", total=None)
        yield lambda now: bar.update(task, completed=now.done, total=now.of)
