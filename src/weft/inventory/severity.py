"""How much something matters."""

from enum import StrEnum


class Severity(StrEnum):
    """How much it matters."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
