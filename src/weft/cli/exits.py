"""Exit codes of verdicts; those of errors are in ``failures``."""

from typing import Final

FAILED: Final = 4
"""The verdict is a failure."""
PARTIAL: Final = 5
"""The result is of a part of what was asked for, or decides nothing."""
