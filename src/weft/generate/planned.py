"""One number of a configuration, with the reason that it is this and not another."""

from dataclasses import dataclass
from typing import Any, Final

from weft.records import records, table
from weft.sources import Source

SOURCES: Final = records("weft.generate", "sources", Source, named="key")
"""Where numbers of a plan are from."""
Scalar = int | float | str | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """One value: what it is, in which unit, why, and where that is from."""

    value: Scalar
    unit: str = ""
    reason: str
    source: str = "weft"
    """Key of a source in ``sources.toml``."""

    def whole(self) -> int:
        """Return the value as the whole number that it is."""
        assert isinstance(self.value, int), self
        return self.value

    def number(self) -> float:
        """Return the value as a number."""
        assert isinstance(self.value, int | float), self
        return self.value

    def text(self) -> str:
        """Return the value as configuration files write it.

        >>> Planned(value=True, reason="").text(), Planned(value=26, reason="").text()
        ('1', '26')
        """
        return str(int(self.value) if isinstance(self.value, bool) else self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A setting that was asked for and is left out, and why."""

    name: str
    value: str
    reason: str
    source: str


def numbered(
    path: str, value: Scalar | None = None, *, source: str = "", **fields: object
) -> Planned:
    """Return a number of ``numbers.toml``: its value unless given, its reason filled in.

    >>> numbered("labels.dscp_of_environment", 24, traffic_class=96).reason
    'nccl.env says NCCL_IB_TC=96, and its DSCP is 96 // 4'
    """
    part, _, name = path.partition(".")
    row = table("weft.generate", "numbers")[part][name]
    return Planned(
        value=row["value"] if value is None else value,
        unit=row.get("unit", ""),
        reason=row["reason"].format(**fields),
        source=source or row.get("source", "weft"),
    )


def constants(*parts: str) -> dict[str, Any]:
    """Return the numbers of some parts that are the same for every cluster; later parts win."""
    return {
        name: numbered(f"{part}.{name}")
        for part in parts
        for name, row in table("weft.generate", "numbers")[part].items()
        if "value" in row
    }
