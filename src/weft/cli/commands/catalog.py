"""`weft catalog` (design): hardware, prices and running costs, each figure with its sources."""

from typing import TYPE_CHECKING, Annotated, cast

import typer

from weft.cli import options

if TYPE_CHECKING:
    from weft.catalogue.load import Folder


def catalog(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="gpus, nics, switches, cables, servers, assumptions or rentals.",
            show_default=False,
        ),
    ] = "",
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="One device.", show_default=False)
    ] = "",
    *,
    output: options.OutputFormat = "text",
    full: options.Full = False,
    out: options.OutFile = None,
) -> None:
    """Show the catalogue: every figure with its range, its source and its confidence.

    \b
    Examples:
      weft catalog
      weft catalog switches
      weft catalog switches qm9700 -o json
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft.catalogue.sheet import listing, sheet  # noqa: PLC0415 - after the words are understood
    from weft.cli.output import check_format, emit  # noqa: PLC0415 - as above

    check_format(output)
    folder = cast("Folder", kind)
    result = sheet(folder, name) if name else listing(folder if kind else None)
    emit(result, output, full=full, out=out)
