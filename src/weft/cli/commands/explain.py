"""`weft explain` (diagnose): what was understood of the output of a tool."""

from pathlib import Path
from typing import Annotated

import typer

from weft.cli import options


def explain(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH", help="Logs, outputs, folders or bundles."),
    ],
    *,
    output: options.OutputFormat = "text",
    full: options.Full = False,
    out: options.OutFile = None,
) -> None:
    """Show what was understood of files: attributes by entity, events, how much was read.

    It draws no conclusions; `weft diagnose` does.

    \b
    Examples:
      weft explain nccl.log
      weft explain topo.txt ibstat.txt
      weft explain bundle.tar.gz -o json
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft.cli.output import check_format, emit  # noqa: PLC0415 - after the words are understood
    from weft.inventory.explain import explain as explained  # noqa: PLC0415 - as above
    from weft.readers.read import read  # noqa: PLC0415 - as above

    check_format(output)
    emit(explained(read(*paths)), output, full=full, out=out)
