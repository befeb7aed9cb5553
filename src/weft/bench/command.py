"""A command as a list of words: no shell of ours ever reads it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from weft.errors import SpecError

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """Words to run, and the environment to add."""

    words: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)

    def through_env(self) -> tuple[str, ...]:
        """Return the words with the environment set by ``env``, for hosts that are not ours."""
        given = tuple(f"{name}={value}" for name, value in self.env.items())
        return ("env", *given, *self.words) if given else self.words


def variables(pairs: tuple[str, ...]) -> dict[str, str]:
    """Read NAME=VALUE pairs.

    >>> variables(("NCCL_DEBUG=INFO",))
    {'NCCL_DEBUG': 'INFO'}
    """
    found = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not _NAME.fullmatch(name) or "\0" in value:
            raise SpecError(f"{pair!r} sets no variable; write NAME=VALUE, as NCCL_DEBUG=INFO")
        found[name] = value
    return found


def places(text: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """Read hosts as A,B or NAME=ADDRESS,...: the names, and the addresses that are given.

    >>> places("a=10.0.0.1,b")
    (('a', 'b'), {'a': '10.0.0.1'})
    """
    names: list[str] = []
    addresses: dict[str, str] = {}
    for part in text.split(","):
        name, equals, address = part.strip().partition("=")
        if name:
            names.append(name)
            addresses |= {name: address} if equals else {}
    return tuple(names), addresses
