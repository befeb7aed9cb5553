"""What the tools of hosts and switches print: the formats of ``formats.yaml``, filled."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Final

from weft.emulate.fields import Fields, guid_of, of_gpus, of_host, of_rail
from weft.emulate.state import Host, State
from weft.emulate.switches import (
    PORT_NAMES,
    all_switches,
    dialect_of,
    leaves,
    of_port,
    of_switch,
    plugged,
)
from weft.errors import SpecError
from weft.generate.wiring import Wired
from weft.inventory.table import rows
from weft.plugins import unknown

Texts = Iterator[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A part of a file: what it is for, and its text."""

    file: str
    of: str = "host"
    each: str = ""
    """What ``text`` is repeated for."""
    head: str = ""
    text: str = ""
    between: str = ""
    foot: str = ""
    tree: Mapping[str, str] = field(default_factory=dict)
    """Files below ``file``, each of one line."""
    asked: str = ""
    """What must be asked for; else it is always written."""
    fabrics: Sequence[str] = ("infiniband", "roce")
    sampled: bool = False


@cache
def forms() -> tuple[Form, ...]:
    """Return every row of the table."""
    return tuple(Form(**row) for row in rows("weft.emulate", "formats.yaml"))


def extras(kind: str) -> tuple[str, ...]:
    """Return what may be asked for on a kind of fabric."""
    wanted = (form.asked for form in forms() if form.asked and kind in form.fabrics)
    return tuple(dict.fromkeys(wanted))


def check_extras(state: State, asked: Sequence[str]) -> None:
    """Raise SpecError for what is not known, or not on this kind of fabric."""
    known = extras(state.kind)
    for text in asked:
        if text not in known:
            raise SpecError(f"--with: {unknown('output', text, known)} (fabric {state.kind})")
    systems = [name for name in PORT_NAMES if name in asked]
    if len(systems) > 1:
        raise SpecError(f"--with: {' and '.join(systems)}: switches run one system; name one")


def outputs(
    state: State, at_s: float, sample: str, asked: Sequence[str] = (), *, sampled: bool
) -> Texts:
    """Yield files and their parts, in order: those read once, or the samples of a time."""
    dialect = next((text for text in asked if text in PORT_NAMES), dialect_of(state))
    fill = _Filling(state, at_s, dialect, sample)
    for form in forms():
        wanted = not form.asked or form.asked in asked
        if wanted and form.sampled is sampled and state.kind in form.fabrics:
            yield from fill.texts(form)


@dataclass(frozen=True, slots=True)
class _Filling:
    """One look at a state."""

    state: State
    at_s: float
    dialect: str
    sample: str

    def texts(self, form: Form) -> Texts:
        for fields, parts in _PLACES[form.of](self):
            fields["sample"] = self.sample
            file = fields.fill(form.file)
            for name, text in form.tree.items():
                yield file + name, fields.fill(text) + "\n"
            if form.tree:
                continue
            filled = [
                Fields.fill(item, form.text) for item in parts.get(form.each, lambda: ())()
            ]
            middle = form.between.join(filled)
            yield file, fields.fill(form.head) + middle + fields.fill(form.foot)

    def hosts(self) -> "_Places":
        for host in self.state.hosts:
            yield of_host(host), {
                "rail": partial(self._rails, host), "gpu": partial(of_gpus, host),
                "kernel line": partial(_lines, host),
            }  # fmt: skip

    def _rails(self, host: Host) -> Iterator[Fields]:
        return (self._rail(host.number, rail.number) for rail in host.rails)

    def _rail(self, number: int, nic: int) -> Fields:
        fields = of_rail(self.state, number, self.state.part(number, nic), self.at_s)
        fields.update(plugged(self.state, number, nic, self.dialect))
        return fields

    def rails(self) -> "_Places":
        return ((rail, {}) for host in self.state.hosts for rail in self._rails(host))

    def adapters(self) -> "_Places":
        for number in range(self.state.plan.cluster.hosts):
            for nic in range(self.state.rails):
                rail = self._rail(number, nic)
                if rail["port.state"] == "active":
                    yield rail, {}

    def switches(self, found: Sequence[Wired]) -> "_Places":
        for wired in found:
            fields = of_switch(self.state, wired)
            yield fields, {
                "port": partial(self._ports, wired, fields, (True, False)),
                "link": partial(self._ports, wired, fields, (True,)),
                "dark": partial(self._ports, wired, fields, (False,)),
                "unused": partial(_unused, wired, fields),
            }  # fmt: skip

    def _ports(self, one: Wired, switch: Fields, wanted: tuple[bool, ...]) -> Iterator[Fields]:
        for port in one.ports:
            fields = of_port(self.state, port, self.dialect, self.at_s)
            fields.update(switch)
            if fields["up"] in wanted:
                yield fields


_Places = Iterator[tuple[Fields, Mapping[str, Any]]]
_PLACES: Final[Mapping[str, Any]] = {
    "host": _Filling.hosts, "rail": _Filling.rails, "adapter": _Filling.adapters,
    "switch": lambda fill: fill.switches(all_switches(fill.state)),
    "leaf": lambda fill: fill.switches(leaves(fill.state)),
    "fabric": lambda _: [(Fields({"guid": guid_of(0, 0)}), {})],
}  # fmt: skip


def _unused(one: Wired, switch: Fields) -> Iterator[Fields]:
    """Yield the ports of a switch that no cable is in."""
    used = {port.number for port in one.ports}
    free = (number for number in range(switch["radix"]) if number not in used)
    return (Fields({**switch, "port": number + 1}) for number in free)


def _lines(host: Host) -> Iterator[Fields]:
    return (Fields({"number": n, "line": line}) for n, line in enumerate(host.kernel))
