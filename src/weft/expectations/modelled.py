"""What the model predicts: the bus bandwidth of a collective, on the declared cluster."""

from typing import Any, Final

from weft.errors import WeftError
from weft.expectations.expectation import Expectation, Expected
from weft.expectations.known import Known
from weft.inventory.entity import Entity
from weft.inventory.values import Value, whole
from weft.results import Estimate

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
    found = estimate(entity, known)
    if found is None:
        return None
    basis = "lower end of what weft expect gives"
    return Expected(value=found[1].low, source="modelled", basis=basis)


def estimate(entity: Entity, known: Known) -> tuple[str, Estimate] | None:
    """Return the operation of a collective and the 80 % band of its bus bandwidth."""
    if known.cluster is None:
        return None
    key = ("modelled", entity.key)
    if key not in known.kept:
        known.kept[key] = _busbw(entity, known)
    found: tuple[str, Estimate] | None = known.kept[key]
    return found


def _busbw(entity: Entity, known: Known) -> tuple[str, Estimate] | None:
    from weft.predict.collective import busbw, expect  # noqa: PLC0415 - only for benchmarks

    size = whole(entity.field("size"))
    ranks, hosts = taken_part(entity, known)
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
    return operation, busbw(curve.points[-1])


def taken_part(entity: Entity, known: Known) -> tuple[int | None, int | None]:
    """Return the ranks and hosts of a run, as it says or as it lists them; None if unknown."""
    ranks, hosts = _count(entity, "ranks", known), _count(entity, "hosts", known)
    if ranks is None:
        of_job = _hosts_by_rank(known).get(entity.field("job") or "", {})
        if len(of_job) > 1 and set(of_job) == {str(rank) for rank in range(len(of_job))}:
            return len(of_job), len(set(of_job.values()))
    return ranks, hosts


def _hosts_by_rank(known: Known) -> dict[str, dict[str, Value]]:
    """Return the host of each rank by the job."""
    if "hosts by rank" not in known.kept:
        found: dict[str, dict[str, Value]] = {}
        for rank, readings in known.inventory.of("rank"):
            if "host" in readings:
                of_job = found.setdefault(str(rank.key[0]), {})
                of_job[str(rank.key[1])] = readings["host"][-1].value
        known.kept["hosts by rank"] = found
    kept: dict[str, dict[str, Value]] = known.kept["hosts by rank"]
    return kept


def _count(entity: Entity, name: str, known: Known) -> int | None:
    found = known.inventory.value(entity, name)
    return int(found) if isinstance(found, float) else None


def _operation(entity: Entity, ranks: int | None, known: Known) -> str:
    """Return the operation from the ratio of its bandwidths: 2(n-1)/n is an all-reduce."""
    bus, alg = (known.inventory.value(entity, name) for name in ("busbw", "algbw"))
    if not (isinstance(bus, float) and isinstance(alg, float) and alg):
        return ""
    count = ranks or (known.cluster.hosts * known.cluster.host.gpus if known.cluster else 2)
    all_reduce = 2 * (count - 1) / count
    if abs(bus / alg - all_reduce) <= _CLOSE * all_reduce and count > _PAIR:
        return "all_reduce"
    return "all_gather" if bus < alg else ""
