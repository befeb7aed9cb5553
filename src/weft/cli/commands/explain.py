"""`weft explain` (diagnose): what was understood of the output of a tool."""

from pathlib import Path
from typing import Annotated

from weft.cli import options
from weft.cli.options import argument


def explain(
    paths: Annotated[list[Path], argument("PATH", "Logs, outputs, folders or bundles.")],
    *,
    shown: options.Written,
) -> None:
    """Show what was understood of files: attributes by entity, events, how much was read.

    It draws no conclusions; `weft diagnose` does.

    \b
    Examples:
      weft explain nccl.log
      weft explain topo.txt ibstat.txt
      weft explain bundle.tar.gz -o json
    """
    from weft.inventory.explain import explain as explained
    from weft.readers.read import read

    shown.check()
    shown.emit(explained(read(*paths)))
