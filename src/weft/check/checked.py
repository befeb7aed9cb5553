"""The checklist over an inventory: each item PASS, FAIL or NOT MEASURED."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import re2

from weft.check.item import Item, Test, items
from weft.errors import SpecError
from weft.expectations.compare import applies, differs, expected, growth, observed
from weft.expectations.derive import derive
from weft.expectations.expectation import Deviation, Expectation, expectations
from weft.expectations.known import Known
from weft.generate.alert import filled, quantities
from weft.generate.plan import Plan
from weft.generate.plan import plan as planned
from weft.inventory.entity import Entity, kind
from weft.inventory.evidence import Evidence
from weft.inventory.inventory import FileRead, Inventory
from weft.inventory.shown import shown
from weft.readers.read import read
from weft.results import Provenance
from weft.spec.cluster import Cluster

_ONCE: Final = ""
"""Stands for the host of what is no host's: a subnet, a job."""
_PRIORITIES: Final = 8
MOST_SHOWN: Final = 3


class Outcome(StrEnum):
    """What came of an item."""

    PASS = "PASS"  # noqa: S105 - an outcome, no secret
    FAIL = "FAIL"
    UNMEASURED = "NOT MEASURED"


def worst(outcomes: Iterable[Outcome]) -> Outcome:
    """Return FAIL where there is one, then NOT MEASURED, as for none; PASS where all pass."""
    found = set(outcomes)
    order = (Outcome.FAIL, Outcome.UNMEASURED, Outcome.PASS)
    return next((outcome for outcome in order if outcome in found), Outcome.UNMEASURED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One item, what came of it, and why."""

    item: str
    title: str
    group: str
    outcome: Outcome
    reason: str
    measured: int
    """Entities that were compared."""
    evidence: tuple[Evidence, ...] = ()
    measure: str = ""
    """What measures it, where it was not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checklist:
    """Every item of the checklist for one cluster and one bundle."""

    cluster: str
    gate: bool
    hosts: tuple[str, ...]
    items: tuple[Checked, ...]
    files: tuple[FileRead, ...]
    provenance: Provenance

    @property
    def outcome(self) -> Outcome:
        """Return the worst: FAIL, then NOT MEASURED; PASS where all items pass."""
        return worst(item.outcome for item in self.items)

    @property
    def exit_code(self) -> int:
        """Return 0 where all items pass, 4 where one fails, else 5."""
        return {Outcome.PASS: 0, Outcome.FAIL: 4, Outcome.UNMEASURED: 5}[self.outcome]


@dataclass(slots=True)
class _Bundle:
    """What the items are judged on."""

    inventory: Inventory
    plan: Plan
    hosts: tuple[str, ...]
    gate: bool
    known: Known
    quantities: Mapping[str, str]
    devices: frozenset[str]
    interfaces: dict[str, set[str]] = field(default_factory=dict)
    """Network interfaces of compute ports, by host."""


@dataclass(frozen=True, slots=True)
class _Tried:
    """One test on one host."""

    outcome: Outcome
    reason: str
    measured: int = 0
    evidence: tuple[Evidence, ...] = ()


def check(
    observed: Iterable[Path] | Inventory,
    cluster: Cluster,
    *,
    gate: bool = False,
    only: Sequence[str] = (),
) -> Checklist:
    """Check a bundle against the plan of a cluster; with ``gate`` the items of one node.

    Raises SpecError for an item that does not exist.
    """
    inventory = observed if isinstance(observed, Inventory) else read(*observed)
    derive(inventory)
    bundle = _bundle(inventory, cluster, gate=gate)
    chosen = _chosen(cluster, gate=gate, only=only)
    results = [_checked(item, bundle) for item in chosen]
    if not gate and not only:
        results.insert(0, _covered(bundle))
    return Checklist(
        cluster=cluster.name, gate=gate, hosts=bundle.hosts, items=tuple(results),
        files=tuple(inventory.files), provenance=bundle.plan.provenance,
    )  # fmt: skip


def _chosen(cluster: Cluster, *, gate: bool, only: Sequence[str]) -> list[Item]:
    listed = [
        item for item in items() if not item.fabrics or cluster.fabric.kind in item.fabrics
    ]
    names = [item.name for item in listed]
    strange = [text for text in only if text not in names]
    if strange:
        raise SpecError(f"no item is called {strange[0]!r}; there are: {', '.join(names)}")
    return [
        item for item in listed if (item.gate or not gate) and (not only or item.name in only)
    ]


def _bundle(inventory: Inventory, cluster: Cluster, *, gate: bool) -> _Bundle:
    made = planned(cluster)
    hosts = {
        entity.key[0] for entity in inventory.readings
        if entity.key and kind(entity.kind).key[0] == "host"
    }  # fmt: skip
    bundle = _Bundle(
        inventory, made, tuple(sorted(hosts)), gate, Known(inventory, cluster),
        _known(made), frozenset(made.names.device_list()),
    )  # fmt: skip
    for entity, readings in inventory.of("port"):
        if "interface" in readings and _is_compute(entity, bundle):
            name = str(readings["interface"][-1].value)
            bundle.interfaces.setdefault(entity.key[0], set()).add(name)
    return bundle


def _known(made: Plan) -> dict[str, str]:
    found = quantities(made) | {"gpus": str(made.cluster.host.gpus)}
    link = made.link
    if link.path_mtu_bytes is not None:
        found["path_mtu"] = link.path_mtu_bytes.text()
    if link.host_mtu_bytes is not None:
        found["host_mtu"] = link.host_mtu_bytes.text()
    if made.labels is not None:
        one = made.labels.priority.whole()
        found["pfc_flags"] = " ".join(str(int(n == one)) for n in range(_PRIORITIES))
    return found


def _covered(bundle: _Bundle) -> Checked:
    """Return whether every host of the cluster is in the bundle."""
    planned_hosts, read_hosts = bundle.plan.cluster.hosts, len(bundle.hosts)
    whole = read_hosts >= planned_hosts
    return Checked(
        item="hosts-read", title="Every host of the cluster is in the bundle",
        group="coverage", outcome=Outcome.PASS if whole else Outcome.UNMEASURED,
        reason=f"{read_hosts} of {planned_hosts} hosts", measured=read_hosts,
        measure="weft collect --via ssh HOST ...",
    )  # fmt: skip


def _checked(item: Item, bundle: _Bundle) -> Checked:
    once = item.needs == "once"
    places = (_ONCE,) if once or not bundle.hosts else bundle.hosts
    short = len(bundle.hosts) < item.hosts
    tried = {place: _on(item, place, bundle) for place in places}
    failed = {place: item for place, item in tried.items() if item.outcome is Outcome.FAIL}
    missing = {
        place: item for place, item in tried.items() if item.outcome is Outcome.UNMEASURED
    }
    shown_first = failed or missing or tried
    outcome = next(iter(shown_first.values())).outcome
    reason = _reason(shown_first, len(places))
    if short and outcome is Outcome.PASS:
        outcome, reason = Outcome.UNMEASURED, f"needs {item.hosts} hosts to compare"
    return Checked(
        item=item.name, title=item.title, group=item.group, outcome=outcome, reason=reason,
        measured=sum(item.measured for item in tried.values()),
        evidence=tuple(line for tried in shown_first.values() for line in tried.evidence)[:1],
        measure=item.measure if outcome is Outcome.UNMEASURED else "",
    )  # fmt: skip


def _reason(tried: Mapping[str, _Tried], places: int) -> str:
    (place, first), *rest = tried.items()
    where = f"{place}: " if place not in first.reason else ""
    more = f", and {len(rest)} more hosts" if rest and first.outcome is not Outcome.PASS else ""
    if first.outcome is Outcome.PASS:
        total = sum(item.measured for item in tried.values())
        return f"{total} measured on {places} hosts" if place else f"{total} measured"
    return f"{where}{first.reason}{more}"


def _on(item: Item, place: str, bundle: _Bundle) -> _Tried:
    """Try the alternatives on one host: one that passes is enough."""
    tried = [_try(item, test, place, bundle) for test in item.tests]
    for wanted in (Outcome.PASS, Outcome.FAIL, Outcome.UNMEASURED):
        for trial in tried:
            if trial.outcome is wanted:
                return trial
    raise AssertionError(item.name)


def _try(item: Item, test: Test, place: str, bundle: _Bundle) -> _Tried:
    entities = list(_entities(test, place, bundle)) if test.measured else []
    if test.events:
        return _of_events(test, place, entities, bundle)
    good: list[tuple[Entity, str]] = []
    bad: list[tuple[Entity, str]] = []
    for entity in entities:
        reason = _wrong(test, entity, bundle)
        if reason is None:
            continue
        (bad if reason else good).append((entity, reason))
    if bad and not test.select:
        listed = [reason for _, reason in bad[:MOST_SHOWN]]
        lines = tuple(_line(test, entity, bundle) for entity, _ in bad[:MOST_SHOWN])
        return _Tried(Outcome.FAIL, "; ".join(listed), len(good) + len(bad), lines)
    needed = _needed(item, bundle)
    passed = len({entity.key[: _depth(test)] for entity, _ in good})
    if passed >= needed:
        return _Tried(Outcome.PASS, "", passed)
    if bad and not good:
        return _Tried(Outcome.FAIL, f"none of {len(bad)} has {test.value}", len(bad))
    return _Tried(Outcome.UNMEASURED, f"{passed} of {needed} measured", passed + len(bad))


def _depth(test: Test) -> int:
    """Return how many fields of the key make one entity: GIDs count by their port."""
    fields = kind(test.measured.partition(".")[0]).key
    return len(fields) - 1 if fields[-1] == "index" else len(fields)


def _needed(item: Item, bundle: _Bundle) -> int:
    if item.needs == "nics":
        return len(bundle.devices)
    return bundle.plan.cluster.host.gpus if item.needs == "gpus" else 1


def _entities(test: Test, place: str, bundle: _Bundle) -> Iterator[Entity]:
    wanted, _, name = test.measured.partition(".")
    for entity, readings in bundle.inventory.of(wanted):
        if name not in readings or (place and entity.key[0] != place):
            continue
        if test.of and not re2.fullmatch(test.of, entity.key[-1]):
            continue
        if wanted in {"port", "gid"} and not _is_compute(entity, bundle):
            continue
        if test.of_port and not _of_compute_port(entity, bundle):
            continue
        if test.least_bytes and float(entity.field("size") or 0) < test.least_bytes:
            continue
        yield entity


def _is_compute(entity: Entity, bundle: _Bundle) -> bool:
    """Return whether a port is one of the plan: by its adapter, else by its link layer."""
    host, adapter = entity.key[0], entity.key[1]
    there = {
        entity.key[1] for entity, _ in bundle.inventory.of("port") if entity.key[0] == host
    }
    if there >= bundle.devices:
        return adapter in bundle.devices
    layer = bundle.inventory.value(Entity("port", entity.key[:3]), "link_layer")
    infiniband = bundle.plan.cluster.fabric.kind == "infiniband"
    return layer is None or (layer == "infiniband") == infiniband


def _of_compute_port(entity: Entity, bundle: _Bundle) -> bool:
    named = bundle.interfaces.get(entity.key[0])
    return named is None or entity.key[1] in named


def _wrong(test: Test, entity: Entity, bundle: _Bundle) -> str | None:
    """Return why an entity fails, an empty text where it passes, None where it is unknown."""
    name = test.attribute.partition(".")[2]
    if test.deviation:
        return _deviates(test.attribute, entity, bundle)
    seen = bundle.inventory.value(entity, name)
    wanted = (
        filled(test.value, bundle.quantities) if isinstance(test.value, str) else test.value
    )
    if _meets(test.compare, seen, wanted):
        return ""
    text = shown(test.attribute, seen) if seen is not None else "unknown"
    return f"{entity}: {name} is {text}, expected {_as_shown(test, wanted)}"


def _deviates(attribute: str, entity: Entity, bundle: _Bundle) -> str | None:
    """Return how an attribute deviates, an empty text where it does not, None if unknown.

    A counter that was read once, and a value of which nothing is expected, are unknown.
    """
    name, inventory = attribute.partition(".")[2], bundle.inventory
    counter = kind(entity.kind).attributes[name].type == "counter"
    if counter and growth(entity, name, inventory) is None:
        return None
    judged = False
    for row in expectations():
        seen = observed(row, entity, inventory) if row.attribute == attribute else None
        if seen is None or not applies(row, entity, inventory):
            continue
        wanted = expected(row, entity, bundle.known)
        if wanted is not None and differs(row, seen[0], wanted):
            return Deviation(
                expectation=row, entity=entity, observed=seen[0], expected=wanted,
                severity=row.severity, evidence=seen[1],
            ).text  # fmt: skip
        judged = judged or wanted is not None or _has_peers(row, inventory)
    return "" if judged else None


def _has_peers(row: Expectation, inventory: Inventory) -> bool:
    """Return whether equal values of others were compared: then nothing deviates."""
    with_it = (entity for entity, found in inventory.of(row.kind) if row.name in found)
    return "peers" in row.sources and len({*with_it}) > 1


def _meets(compare: str, seen: Any, wanted: Any) -> bool:  # noqa: ANN401 - any attribute
    if compare == "one_of":
        return seen in wanted
    if compare == "count":
        return isinstance(seen, tuple) and len(set(seen)) == int(wanted)
    if compare == "at_least":
        return isinstance(seen, int | float) and bool(seen >= float(wanted))
    if isinstance(seen, tuple):
        return bool(" ".join(seen) == wanted)
    if isinstance(seen, bool) or not isinstance(seen, int | float):
        return bool(seen == wanted)
    return bool(seen == float(wanted))


def _as_shown(test: Test, wanted: Any) -> str:  # noqa: ANN401 - any attribute
    if test.compare == "count":
        return f"{wanted} of them"
    if isinstance(wanted, str) and wanted.replace(".", "", 1).isdigit():
        return ("at least " if test.compare == "at_least" else "") + shown(
            test.attribute, float(wanted)
        )
    if isinstance(wanted, list):
        return " or ".join(map(str, wanted))
    return shown(test.attribute, wanted) if isinstance(wanted, bool) else str(wanted)


def _of_events(test: Test, place: str, entities: Sequence[Entity], bundle: _Bundle) -> _Tried:
    for code in test.events:
        for event in bundle.inventory.coded(code):
            if not place or event.entity.field("host") in {place, ""}:
                return _Tried(
                    Outcome.FAIL, f"{event.entity}: {event.evidence[0].text.strip()}", 1,
                    (event.evidence[0],),
                )  # fmt: skip
    if entities or _read(test.source, place, bundle):
        return _Tried(Outcome.PASS, "", max(1, len(entities)))
    return _Tried(Outcome.UNMEASURED, f"{test.source or test.read} was not read")


def _read(source: str, place: str, bundle: _Bundle) -> bool:
    """Return whether a file of this name, of this host, was read."""
    return bool(source) and any(
        source in file.file.rpartition("/")[2] and file.lines and not file.skipped
        for file in bundle.inventory.files
        if len(bundle.hosts) <= 1 or place in file.file
    )


def _line(test: Test, entity: Entity, bundle: _Bundle) -> Evidence:
    reading = bundle.inventory.reading(entity, test.attribute.partition(".")[2])
    assert reading is not None
    return reading.evidence
