"""Which secrets the collector removes, and the awk program that removes them on the host."""

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from weft.inventory.table import rows

_TIMES: Final = re.compile(r"(\[[^\]]*\]|[^\]\s])\{(\d+)\}")
_PART: Final = re.compile(r"\[[^\]]*\]|.", re.DOTALL)
_MARK: Final = "    # <rows>\n"
_COMMON_END: Final = "# ---- addresses ----"


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """One kind of secret: what stands before it, and its form."""

    kind: str
    value: str
    example: str
    """A line that holds one, in ⟨⟩."""
    source: str
    before: str = ""
    turn: str = ""
    """How its substitute is made; empty: it is removed."""

    @property
    def line(self) -> str:
        """Return the example as a tool prints it."""
        return self.example.replace("⟨", "").replace("⟩", "")

    @property
    def planted(self) -> str:
        """Return the secret of the example."""
        return self.example.partition("⟨")[2].partition("⟩")[0]


@cache
def secrets() -> tuple[Secret, ...]:
    """Return every kind of secret."""
    return tuple(Secret(**row) for row in rows("weft.collect", "secrets.yaml"))


def program() -> str:
    """Return the awk program that removes secrets from its input."""
    folder = files("weft.collect")
    common = (folder / "redact.awk").read_text("utf-8").partition(_COMMON_END)[0]
    common = common[common.index("function ") :]
    own = (folder / "secrets.awk").read_text("utf-8")
    return common + own.replace(
        _MARK, "".join(f"    {_call(secret)}\n" for secret in secrets())
    )


def _call(one: Secret) -> str:
    before, value = _either_case(one.before), one.value
    value = _expression(_either_case(value) if one.before else value)
    before = _expression(before)
    words = f'"{one.kind}", "{before}", "{value}", "{one.turn}"'
    return f'if (line ~ "{before}{value}") scrub({words})'


def _either_case(pattern: str) -> str:
    """Return an expression whose letters match both cases: awk has no option for that.

    >>> _either_case("key[a-z]")
    '[kK][eE][yY][a-zA-Z]'
    """
    return "".join(map(_both, _PART.findall(pattern)))


def _both(part: str) -> str:
    if part.startswith("["):
        return part.replace("a-z", "a-zA-Z").replace("a-f", "a-fA-F")
    return f"[{part}{part.upper()}]" if part.isalpha() else part


def _expression(pattern: str) -> str:
    """Return an expression as it stands in a string of awk within quotes of the shell."""
    plain = _TIMES.sub(lambda found: found[1] * int(found[2]), pattern)
    return plain.replace("\t", "\\t").replace('"', '\\"').replace("'", "\\047")
