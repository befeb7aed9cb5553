"""Configurations among the files of a diagnosis: read by weft lint, whose findings are events.

``weft.lint`` is imported where the first file may be a configuration, else never.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from weft.inventory.entity import Entity
from weft.inventory.evidence import Evidence
from weft.inventory.inventory import Event, Inventory

if TYPE_CHECKING:  # lint takes a tenth of a second to import
    from weft.lint.facts import Fact
    from weft.lint.gathered import Gathered

PREFIX: Final = "lint."
"""Begins the code of the event of a rule of weft lint."""


@dataclass(slots=True)
class Configurations:
    """What the configurations of an input set."""

    gathered: "Gathered | None" = None

    def claim(self, file: str, host: str, content: str) -> tuple[str, ...]:
        """Read a file as a configuration; return its formats, none where it is none."""
        if self.gathered is None:
            from weft.lint.gathered import Gathered  # noqa: PLC0415 - see above

            self.gathered = Gathered()
        return self.gathered.claim(file, host, content)
