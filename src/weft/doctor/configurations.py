"""Configurations among the files of a diagnosis: read by weft lint, whose findings are events.

``weft.lint`` is imported where the first file may be a configuration, else never.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from weft.expectations.derive import TUNING
from weft.inventory.entity import Entity, kind
from weft.inventory.evidence import Evidence
from weft.inventory.inventory import Event, Inventory, Setting

if TYPE_CHECKING:  # lint takes a tenth of a second to import
    from weft.lint.facts import Fact
    from weft.lint.gathered import Gathered
    from weft.lint.text import Evidence as Line
    from weft.spec.cluster import Cluster

PREFIX: Final = "lint."
"""Begins the code of the event of a rule of weft lint."""
_KERNEL: Final = "kernel "
"""Begins the name of a setting that is a parameter of the kernel."""
_TUNING: Final = tuple(f"{_KERNEL}{name.removesuffix('=')}" for name in TUNING)
_UNSET: Final = "unset"


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

    def record(self, inventory: Inventory, cluster: "Cluster | None") -> None:
        """Add what is set to an inventory, and what is wrong in it as events."""
        if self.gathered is None:
            return
        if cluster is not None:
            self.gathered.describe(cluster)
        inventory.contained("the configurations", lambda: self._record(inventory))

    def _record(self, inventory: Inventory) -> Iterator[None]:
        assert self.gathered is not None
        known = {entity.key[0] for entity in inventory.readings if entity.key}
        self.gathered.observe(inventory)
        for entity, name, value, fact in self.gathered.settings():
            setting = Setting(value, partial(_line_of, fact))
            inventory.configure(_placed(entity, known), name, setting)
            yield
        _kernel_parameters(inventory)
        for entity, found, about in self.gathered.findings():
            lines = [_evidence(line) for line in found.evidence]
            fields = {"message": found.message, "fix": found.fix, "about": about}
            code = f"{PREFIX}{found.rule}"
            at = _placed(entity, known)
            inventory.happened(Event(code, at, found.severity.value, fields, lines))
            yield


def configured(event: Event) -> tuple[str, str]:
    """Return what is wrong and what to change, of an event of a rule of weft lint."""
    if not event.code.startswith(PREFIX):
        return "", ""
    more = f" (and {event.count - 1} more)" if event.count > 1 else ""
    return f"{event.evidence[0].place}: {event.fields['message']}{more}", event.fields["fix"]


def _line_of(fact: "Fact") -> Evidence:
    return _evidence(fact.at.evidence())


def _evidence(line: "Line") -> Evidence:
    return Evidence(line.file, line.line, line.text)


def _placed(entity: Entity, known: set[str]) -> Entity:
    """Return an entity of no host where the folder of its file is none that was observed.

    What is written for all hosts lies in a folder that has the name of none.
    """
    if kind(entity.kind).key[:1] != ("host",) or entity.key[0] in known:
        return entity
    return Entity(entity.kind, ("", *entity.key[1:]))


def _kernel_parameters(inventory: Inventory) -> None:
    """Note of parameters that are configured what the running kernel was started with."""
    names = {
        entity.field("setting"): entity.field("setting").removeprefix(_KERNEL)
        for entity in inventory.configured
        if entity.kind == "setting" and entity.key[1].startswith(_TUNING)
    }
    for entity, found in list(inventory.of("host")):
        for reading in found.get("command_line", ())[-1:]:
            words = reading.value if isinstance(reading.value, tuple) else ()
            started = dict(word.partition("=")[::2] for word in words)
            for setting, name in names.items():
                at = Entity("setting", (entity.key[0], setting))
                said = started.get(name, _UNSET) or "set"
                inventory.record(at, "value", said, reading.evidence)
