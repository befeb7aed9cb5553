"""`weft bench history`: the runs that were kept, like with like, and what became slower."""

from typing import Annotated, Final

import typer

from weft.cli import options
from weft.cli.commands.bench.reach import HistoryUrl

SLOWER: Final = 4
NOTHING: Final = 5


def history(
    *,
    url: HistoryUrl = None,
    label: Annotated[
        str | None, typer.Option("--label", metavar="TEXT", help="Runs of this label alone.")
    ] = None,
    output: options.OutputFormat = "text",
    full: options.Full = False,
    out: options.OutFile = None,
    chart: options.ChartFile = [],  # noqa: B006 - typer reads the default, nobody changes it
) -> int:
    """List the runs that were kept and say whether the newest of a kind is slower.

    Only runs of the same operation, sizes, hosts, ranks, software and options are compared.
    The exit code is 0 where nothing became slower, 4 where the newest run of a kind did, 5
    where the history is empty.

    \b
    Examples:
      weft bench history
      weft bench history --label nightly --chart nightly.svg
      weft bench history --history postgresql://weft@db/weft -o json
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft.bench.history import history as read  # noqa: PLC0415 - as the words say
    from weft.cli.output import check_format, check_places, emit  # noqa: PLC0415 - as above

    check_format(output)
    check_places(out, charts=chart)
    result = read(url, label=label)
    emit(result, output, full=full, out=out, charts=chart)
    if not result.runs:
        return NOTHING
    return SLOWER if result.regressions else 0
