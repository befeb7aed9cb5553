"""The command line: words in, one verb, one report out.

Standard output carries the result and nothing else. Exit codes: 0 ok, 1 internal error,
2 input, 3 cannot read, 4 the verdict is a failure, 5 partial or inconclusive.
"""

import gc
import sys
from collections.abc import Sequence
from typing import Final

_BETWEEN_COLLECTIONS: Final = 100_000
"""Objects made before Python looks for cycles. A command makes few cycles, and keeps most of
what it makes until it ends: at Python's own 700, looking took a tenth of a long ``weft lint``.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words in (["--version"], ["-V"]):
        # Nothing but this line is imported here: version checks run in every login shell.
        from weft.cli.commands.version import version

        sys.exit(version())
    from weft.cli.app import run
    from weft.cli.signals import leave_in_order

    leave_in_order()
    gc.set_threshold(_BETWEEN_COLLECTIONS)
    sys.exit(run(words))
