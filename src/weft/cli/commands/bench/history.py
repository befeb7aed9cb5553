"""`weft bench history`: the runs that were kept, like with like, and what became slower."""

from weft.cli import options
from weft.cli.exits import FAILED, PARTIAL


def history(
    *,
    url: str | None = None,
    label: str | None = None,
    shown: options.Drawn,
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
    """
    from weft.bench.history import history as read

    shown.check()
    result = read(url, label=label)
    shown.emit(result)
    if not result.runs:
        return PARTIAL
    return FAILED if result.regressions else 0
