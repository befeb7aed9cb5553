"""Joins over the ranks of a job, by name; each yields the clue where it holds."""

from collections import Counter
from collections.abc import Iterator

from weft.doctor.case import Case, Hit, last
from weft.doctor.cause import Clue
from weft.inventory.entity import Entity
from weft.inventory.inventory import Reading
from weft.inventory.values import number, whole


def _waiting(case: Case) -> dict[Entity, dict[str, list[Reading]]]:
    return {e: found for e, found in case.inventory.of("rank") if "sequence" in found}


def ranks_behind(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield ranks that wait in an earlier collective than most, or that wait in none."""
    waiting = _waiting(case)
    at = Counter(last(found, "sequence") for found in waiting.values())
    if not at:
        return
    furthest = max(text for text in at if isinstance(text, float))
    for entity, found in case.inventory.of("rank"):
        sequence = last(found, "sequence")
        behind = isinstance(sequence, float) and sequence < furthest
        idle = sequence is None and last(found, "status") == "idle"
        if behind or idle:
            yield Hit(clue, entity, (next(iter(found.values()))[-1].evidence,))


def ranks_differ_in_operation(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield ranks that wait in one sequence number with another operation or shape."""
    groups: dict[object, Counter[tuple[object, object]]] = {}
    waiting = _waiting(case)
    for found in waiting.values():
        what = (last(found, "operation"), last(found, "shape"))
        groups.setdefault(last(found, "sequence"), Counter())[what] += 1
    for entity, found in waiting.items():
        mine = groups[last(found, "sequence")]
        what = (last(found, "operation"), last(found, "shape"))
        if len(mine) > 1 and mine.most_common(1)[0][0] != what:
            yield Hit(clue, entity, (found["operation"][-1].evidence,))


def ranks_absent(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield ranks of which there is no dump beside those of the others."""
    waiting = _waiting(case)
    sizes = [last(found, "ranks") for _, found in case.inventory.of("job")]
    world = max((int(size) for size in sizes if isinstance(size, float)), default=0)
    there = {whole(entity.key[-1]) for entity, _ in case.inventory.of("rank")}
    few = world < 2 * len(there)  # else the other ranks wrote no dump at all
    absent = sorted(set(range(world)) - there) if few else []
    if waiting and absent and len(absent) < world / 2:
        line = next(iter(waiting.values()))["sequence"][-1].evidence
        for rank in absent:
            yield Hit(clue, Entity("rank", ("", str(rank))), (line,))


def ranks_stand_behind(clue: Clue, case: Case) -> Iterator[Hit]:
    """Yield ranks that launched fewer collectives than others, where none launches any."""
    jobs: dict[str, dict[Entity, list[Reading]]] = {}
    for entity, found in case.inventory.of("rank"):
        if "launched" in found:
            jobs.setdefault(entity.key[0], {})[entity] = found["launched"]
    for ranks in jobs.values():
        counts = {entity: number(readings[-1].value) for entity, readings in ranks.items()}
        furthest = max((count for count in counts.values() if count is not None), default=0.0)
        stalled = all(len(found) == 1 and found[0].count > 1 for found in ranks.values())
        for entity, count in counts.items() if stalled else ():
            if count is not None and count < furthest:
                yield Hit(clue, entity, (ranks[entity][-1].evidence,))
