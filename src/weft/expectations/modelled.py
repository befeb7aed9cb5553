"""What the model predicts: the bus bandwidth of a collective, on the declared cluster."""

from typing import Any, Final

from weft.errors import WeftError
from weft.expectations.expectation import Expectation, Expected
from weft.expectations.known import Known
from weft.inventory.entity import Entity
from weft.inventory.values import Value, whole

_CLOSE: Final = 0.03
_PAIR: Final = 2
"""Of two ranks an all-reduce has equal bandwidths, as other operations have."""


def expected(
    row: Expectation,
    entity: Entity,
    value: Value,
    known: Known,
    told: Any,  # noqa: ANN401 - what the row says
) -> Expected | None:
    """Return the lower end of the 80 % band of the bus bandwidth of one size."""
    del row, value, told
    if known.cluster is None:
        return None
    key = ("modelled", entity.key)
    if key not in known.kept:
        known.kept[key] = _busbw(entity, known)
    found = known.kept[key]
    if found is None:
        return None
    return Expected(value=found, source="modelled", basis="lower end of what weft expect gives")


def _busbw(entity: Entity, known: Known) -> float | None:
    from weft.predict.collective import busbw, expect  # noqa: PLC0415 - only for benchmarks

    size = whole(entity.field("size"))
    ranks, hosts = _count(entity, "ranks", known), _count(entity, "hosts", known)
    operation = entity.field("operation") or _operation(entity, ranks, known)
    assert known.cluster is not None
    if not operation or not size:
        return None
    try:
        curve = expect(
            known.cluster, operation, smallest_bytes=size, largest_bytes=size, ranks=ranks,
            ranks_per_domain=ranks // hosts if ranks and hosts else None,
        )  # fmt: skip
    except (WeftError, ValueError):
        return None
    return busbw(curve.points[-1]).low


def _count(entity: Entity, name: str, known: Known) -> int | None:
    found = known.inventory.value(entity, name)
    return int(found) if isinstance(found, float) else None


def _operation(entity: Entity, ranks: int | None, known: Known) -> str:
    """Return the operation from the ratio of its bandwidths: 2(n-1)/n is an all-reduce."""
    bus, alg = (known.inventory.value(entity, one) for one in ("busbw", "algbw"))
    if not (isinstance(bus, float) and isinstance(alg, float) and alg):
        return ""
    count = ranks or (known.cluster.hosts * known.cluster.host.gpus if known.cluster else 2)
    all_reduce = 2 * (count - 1) / count
    if abs(bus / alg - all_reduce) <= _CLOSE * all_reduce and count > _PAIR:
        return "all_reduce"
    return "all_gather" if bus < alg else ""
