"""`weft catalog` (design): hardware, prices and running costs, each figure with its sources."""

from typing import TYPE_CHECKING, Annotated, cast

from weft.cli import options
from weft.cli.options import argument

if TYPE_CHECKING:
    from weft.catalogue.load import Folder


def catalog(
    kind: Annotated[
        str,
        argument(
            "KIND",
            "gpus, nics, switches, cables, servers, assumptions or rentals.",
            show_default=False,
        ),
    ] = "",
    name: Annotated[str, argument("NAME", "One device.", show_default=False)] = "",
    *,
    shown: options.Written,
) -> None:
    """Show the catalogue: every figure with its range, its source and its confidence.

    \b
    Examples:
      weft catalog
      weft catalog switches
      weft catalog switches qm9700 -o json
    """
    from weft.catalogue.sheet import listing, sheet

    shown.check()
    folder = cast("Folder", kind)
    result = sheet(folder, name) if name else listing(folder if kind else None)
    shown.emit(result)
