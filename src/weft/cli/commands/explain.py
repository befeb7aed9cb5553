"""`weft explain` (diagnose): what was understood of the output of a tool."""

from pathlib import Path

from weft.cli import options


def explain(
    paths: list[Path],
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
