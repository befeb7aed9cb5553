"""Settings of the configurations among the files of an input, and what is wrong in them.

``weft diagnose`` gives each file that may be a configuration to ``Gathered.claim``.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from weft.inventory.entity import Entity
from weft.inventory.inventory import Inventory
from weft.inventory.values import Value
from weft.lint.configured import row_of
from weft.lint.facts import Described, Fact, Interfaces
from weft.lint.lint import Finding, description, facts_of, finding, problems
from weft.lint.rule import Case
from weft.lint.text import Place, Text
from weft.readers.rendered import MANIFEST

if TYPE_CHECKING:
    from weft.inventory.evidence import Evidence
    from weft.spec.cluster import Cluster


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
            self.hosts[file] = host
        return tuple(names)

    def describe(self, cluster: "Cluster") -> None:
        """Compare with a cluster document that was read before."""
        text = Text(name=f"the cluster document {cluster.name}", content="")
        self.facts.append(Described(at=Place(text, 1), cluster=cluster))

    def observe(self, inventory: Inventory) -> None:
        """Add the interfaces that hosts list, which settings name."""
        listed: dict[str, list[tuple[str, Evidence]]] = {}
        for entity, found in inventory.of("interface"):
            if "flags" in found:
                line = found["flags"][-1].evidence
                listed.setdefault(entity.key[0], []).append((entity.key[-1], line))
        for host, rows in listed.items():
            text = Text(name=rows[0][1].file, content="")
            names = tuple(name for name, _ in rows)
            self.facts.append(
                Interfaces(at=Place(text, rows[0][1].line), device=host, names=names)
            )

    def settings(self) -> Iterator[tuple[Entity, str, Value, Fact]]:
        """Yield the attributes of entities that configurations set, with the fact of each."""
        for fact in self.facts:
            row = row_of(fact)
            if row is not None:
                settings = list(row.settings(fact))
                for entity in row.entities(fact, self._host(fact)):
                    yield from ((entity, name, value, fact) for name, value in settings)

    def findings(self) -> Iterator[tuple[Entity, Finding, str]]:
        """Yield what is wrong, with the entity and what the rule is about in one sentence."""
        case = Case(self.facts)
        switches = {switch.name for switch in case.switches}
        for name, rule, problem in problems(case)[0]:
            entity = self._entity(problem.seen[0], switches)
            yield entity, finding(name, rule, problem), description(name)[0]

    def _entity(self, fact: Fact, switches: set[str]) -> Entity:
        """Return what a fact is about; of several ports, what they are ports of."""
        row = row_of(fact)
        if row is not None and not row.each:
            return next(row.entities(fact, self._host(fact)))
        if fact.device in switches:
            return Entity("switch", (fact.device,))
        return Entity("host", (self._host(fact),))

    def _host(self, fact: Fact) -> str:
        return self.hosts.get(fact.at.text.name, "")
