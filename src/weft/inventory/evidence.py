"""Where something was observed."""

from typing import Final, NamedTuple

LONGEST_TEXT: Final = 400
"""Characters of a line that are kept; a line can be a megabyte."""


class Evidence(NamedTuple):
    """One line of one file."""

    file: str
    line: int
    text: str = ""

    @property
    def place(self) -> str:
        """Return ``file:line``."""
        return f"{self.file}:{self.line}"
