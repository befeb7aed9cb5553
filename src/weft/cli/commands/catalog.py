"""`weft catalog` (design): hardware, prices and running costs, each figure with its sources."""

from typing import TYPE_CHECKING, cast

from weft.cli import options

if TYPE_CHECKING:
    from weft.catalogue.load import Folder


def catalog(
    kind: str = "",
    name: str = "",
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
