"""Settings of the configurations among the files of an input, and what is wrong in them.

``weft diagnose`` gives each file that may be a configuration to ``Gathered.claim``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from weft.lint.facts import Fact
from weft.lint.lint import Finding, ReaderError, facts_of, finding, problems
from weft.lint.rule import Case
from weft.lint.text import Text
from weft.readers.rendered import MANIFEST


@dataclass(slots=True)
class Gathered:
    """Facts of several files, with the host that each file was copied from."""

    facts: list[Fact] = field(default_factory=list)
    hosts: dict[str, str] = field(default_factory=dict)
    """By the name of the file; only where the place of the file says it."""

    def claim(self, file: str, host: str, content: str) -> tuple[str, ...]:
        """Read a file as a configuration; return the formats, none where it is no such file.

        Raises ReaderError where a reader fails.
        """
        if file.rpartition("/")[2] == MANIFEST:
            return ("manifest",)
        names, facts = facts_of(Text(name=file, content=content), printed=False)
        if names:
            self.facts.extend(facts)
            if host:
                self.hosts[file] = host
        return tuple(names)

    def findings(self) -> Iterator[tuple[Fact, Finding]]:
        """Yield what is wrong, with the first setting that it is about."""
        for name, rule, one in problems(Case(self.facts))[0]:
            yield one.seen[0], finding(name, rule, one)

    def host(self, fact: Fact) -> str:
        """Return the host that the file of a fact was copied from, as far as that is known."""
        return self.hosts.get(fact.at.text.name, "")


__all__ = ["Gathered", "ReaderError"]
