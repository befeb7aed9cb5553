"""What readers cannot accept, in the words of ``flaws.yaml``."""

from weft.inventory.table import rows
from weft.lint.facts import Flaw
from weft.lint.text import Place


def flaw(at: Place, name: str, /, **words: object) -> Flaw:
    """Return a flaw of the table; its texts name the words."""
    row: dict[str, str] = rows("weft.lint", "flaws.yaml")[name]  # type: ignore[call-overload]
    texts = {key: row[key].format(**words) for key in ("message", "fix")}
    return Flaw(at=at, rule=row.get("rule", "broken_line"), **texts)
