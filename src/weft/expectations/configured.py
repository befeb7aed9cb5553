"""What the entity's own configuration sets, as it was read beside the outputs."""

from collections.abc import Iterator
from typing import Any

from weft.expectations.cabling import short_port
from weft.expectations.expectation import Expectation, Expected
from weft.expectations.known import Known
from weft.inventory.entity import Entity
from weft.inventory.inventory import Setting
from weft.inventory.values import Value
from weft.readers.matcher import pattern


def expected(
    row: Expectation,
    entity: Entity,
    value: Value,
    known: Known,
    told: Any,  # noqa: ANN401 - what the row says
) -> Expected | None:
    """Return what is configured; where several files differ, the one that agrees if one does.

    ``alike`` of the row are patterns: two texts that match the same one are the same value.
    """
    readings = [
        setting for at in _places(entity, known) for setting in _of(at, row.name, known)
    ]
    alike = (told or {}).get("alike", {})
    same = [
        reading for reading in readings if _plain(reading.value, alike) == _plain(value, alike)
    ]
    if not readings:
        return None
    chosen = same[0] if same else readings[-1]
    return Expected(
        value=value if same else chosen.value, source="configured",
        basis=f"configured in {chosen.evidence.place}", evidence=(chosen.evidence,),
    )  # fmt: skip


def _places(entity: Entity, known: Known) -> Iterator[Entity]:
    """Yield the entity, that of every host, and every port where the entity is one of these."""
    yield entity
    first, *rest = entity.key
    if "host" in entity.fields:
        yield Entity(entity.kind, ("", *rest))
    if entity.kind == "switch_port" or (
        entity.kind == "interface" and entity in _of_adapters(known)
    ):
        yield Entity(entity.kind, (first, ""))
        if entity.kind == "interface":
            yield Entity(entity.kind, ("", ""))


def _of_adapters(known: Known) -> frozenset[Entity]:
    """Return the interfaces of RDMA devices: what is set for all interfaces means those."""
    if "interfaces of adapters" not in known.kept:
        known.kept["interfaces of adapters"] = frozenset(
            Entity("interface", (entity.key[0], str(reading.value)))
            for kind in ("port", "gid")
            for entity, found in known.inventory.of(kind)
            for reading in found.get("interface", ())
        )
    return known.kept["interfaces of adapters"]  # type: ignore[no-any-return]


def _of(entity: Entity, name: str, known: Known) -> list[Setting]:
    if entity.kind == "switch_port":
        return _by_port(known).get((short_port(entity), name), [])
    return known.inventory.configured.get(entity, {}).get(name, [])


def _by_port(known: Known) -> dict[tuple[tuple[str, str], str], list[Setting]]:
    """Return what is configured of ports of switches, however a port is spelled."""
    if "configured ports" not in known.kept:
        found: dict[tuple[tuple[str, str], str], list[Setting]] = {}
        for entity, attributes in known.inventory.configured.items():
            if entity.kind == "switch_port":
                for name, readings in attributes.items():
                    found.setdefault((short_port(entity), name), []).extend(readings)
        known.kept["configured ports"] = found
    return known.kept["configured ports"]  # type: ignore[no-any-return]


def _plain(value: Value, alike: dict[str, str]) -> Value:
    if not isinstance(value, str):
        return value
    text = " ".join(value.lower().split())
    return next((name for name, item in alike.items() if pattern(item).search(text)), text)
