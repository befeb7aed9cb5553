"""What several outputs state together: facts completed by what others say of the same thing."""

from collections.abc import Iterable
from dataclasses import replace

from weft.observe.facts.adapters import Gid, GidKind
from weft.observe.facts.base import Fact


def joined(facts: Iterable[Fact]) -> list[Fact]:
    """Return the facts, entries of GID tables with the version that another file tells."""
    seen = list(facts)
    kinds = {
        (one.host, one.adapter, one.port, one.index): one.version
        for one in seen
        if isinstance(one, GidKind)
    }
    return [_with_version(one, kinds) for one in seen] if kinds else seen


def _with_version(fact: Fact, kinds: dict[tuple[str, str, int, int], int]) -> Fact:
    if not isinstance(fact, Gid) or fact.version is not None:
        return fact
    return replace(fact, version=kinds.get((fact.host, fact.adapter, fact.port, fact.index)))
