"""What the cluster file declares."""

from typing import Any

from weft.expectations.expectation import Expectation, Expected
from weft.expectations.known import Known
from weft.inventory.entity import Entity
from weft.inventory.values import Value


def expected(
    row: Expectation,
    entity: Entity,
    value: Value,
    known: Known,
    told: Any,  # noqa: ANN401 - what the row says
) -> Expected | None:
    """Return what the cluster file says: ``told`` names the field, and how to read it."""
    del row, value
    if known.cluster is None or not _is_compute(entity, known):
        return None
    found: Any = known.cluster
    for part in told["field"].split("."):
        found = getattr(found, part, None)
    if found is None:
        return None
    mapped = told.get("values", {}).get(found, found)
    if mapped is None or mapped == "":
        return None
    basis = f"declared by {known.cluster.name}: {told['field']}"
    return Expected(value=mapped, source="declared", basis=basis)


def _is_compute(entity: Entity, known: Known) -> bool:
    """Return whether an entity can be of the compute network of the cluster file."""
    if entity.kind != "port" or known.cluster is None:
        return True
    layer = known.inventory.value(entity, "link_layer")
    infiniband = known.cluster.fabric.kind == "infiniband"
    if layer is not None and (layer == "infiniband") != infiniband:
        return False
    from weft.expectations.rated import rate_of_adapter  # noqa: PLC0415 - it needs the catalogue

    rated = rate_of_adapter(entity, known)
    return rated is None or rated >= known.cluster.host.nic_bytes_per_s
