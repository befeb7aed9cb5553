"""What would settle each cause, for a doctor that can only suspect it."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A cause and what to ask: the question that settles it, and a command that answers it."""

    name: str
    question: str
    command: str


@cache
def known() -> Mapping[str, Cause]:
    """Return all causes by name."""
    text = resources.files("weft.doctor").joinpath("causes.toml").read_text()
    return {name: Cause(name=name, **told) for name, told in tomllib.loads(text).items()}
