"""What is done at one point of a study; it travels to the machine that does it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from weft.errors import WeftError
from weft.predict.grid import Measures
from weft.results import Estimate, Provenance
from weft.spec.load import keys_written, load_case, load_cluster
from weft.study.points import Point

if TYPE_CHECKING:
    from weft.spec.document import Tree

Cell = float | str | None
Row = Mapping[str, Cell]
REASON: Final = "reason"
"""The column that says why a point has no measures."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A verb and the documents that each point changes."""

    verb: str
    documents: tuple["Tree", ...]
    operation: str
    fidelity: str

    def __call__(self, point: Point) -> Row:
        """Return the measures of a point and what made them, or the reason for none."""
        try:
            measures, made = VERBS[self.verb](self, point.sets())
        except WeftError as error:
            return {REASON: str(error)}
        return {**flat(measures), **_made(made)}


def flat(measures: Measures) -> dict[str, Cell]:
    """Return measures as columns: an estimate is three.

    >>> flat({"step_s": Estimate(2.0, 1.0, 3.0), "recommended": "roce"})
    {'step_s': 2.0, 'step_s_low': 1.0, 'step_s_high': 3.0, 'recommended': 'roce'}
    """
    found: dict[str, Cell] = {}
    for name, value in measures.items():
        if isinstance(value, Estimate):
            found |= {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}
        else:
            found[name] = value
    return found


def _made(made: Provenance) -> dict[str, Cell]:
    return {
        "weft": made.weft, "engine": made.engine, "spec_sha256": made.spec_sha256,
        "catalogue_sha256": made.catalogue_sha256, "overlay": made.overlay or "",
    }  # fmt: skip


Found = tuple[Measures, Provenance]


def _predict(task: Task, sets: Sequence[str]) -> Found:
    from weft.predict.training import predict  # noqa: PLC0415 - one study has one verb
    from weft.study.measures import predicted  # noqa: PLC0415 - as above

    result = predict(*load_case(task.documents, sets), fidelity=task.fidelity)
    return predicted(result), result.provenance


def _expect(task: Task, sets: Sequence[str]) -> Found:
    from weft.predict.collective import expect  # noqa: PLC0415 - as above
    from weft.study.measures import expected  # noqa: PLC0415 - as above

    (cluster,) = [tree for tree in task.documents if tree.data.get("kind") == "Cluster"]
    result = expect(load_cluster(cluster, sets), task.operation, fidelity=task.fidelity)
    return expected(result), result.provenance


def _need(task: Task, sets: Sequence[str]) -> Found:
    from weft.advise.need import need  # noqa: PLC0415 - as above
    from weft.study.measures import needed  # noqa: PLC0415 - as above

    pins = keys_written(task.documents, sets)
    result = need(*load_case(task.documents, sets), pins=pins)
    return needed(result), result.provenance


def _compare(task: Task, sets: Sequence[str]) -> Found:
    from weft.advise.compare import compare  # noqa: PLC0415 - as above
    from weft.study.measures import compared  # noqa: PLC0415 - as above

    pins = keys_written(task.documents, sets)
    result = compare(*load_case(task.documents, sets), pins=pins, fidelity=task.fidelity)
    return compared(result), result.provenance


VERBS: Final[Mapping[str, Callable[[Task, Sequence[str]], Found]]] = {
    "predict": _predict, "expect": _expect, "need": _need, "compare": _compare,
}  # fmt: skip
