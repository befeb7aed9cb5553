"""One verb at several values of one or two keys: a curve, or a map."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from weft.errors import SpecError, WeftError
from weft.results import Estimate, Provenance

Measures = Mapping[str, Estimate | float | str]
"""What a verb gives at a point, by name with its unit at the end; the first matters most."""
MOST_AXES: Final = 2
MOST_POINTS: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A key of a document and the values that it takes, as they are written there."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GridPoint:
    """What a verb gives at one value of each axis, or why it gives nothing."""

    values: tuple[str, ...]
    measures: Measures
    reason: str = ""
    """Why there are no measures; empty where there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """A verb at every combination of the values of its axes."""

    verb: str
    subject: str
    """What is swept: the model and the cluster."""
    axes: tuple[Axis, ...]
    points: tuple[GridPoint, ...]
    provenance: Provenance
    """Of the first point that has measures."""

    @property
    def complete(self) -> bool:
        """Tell whether every point has measures."""
        return not any(point.reason for point in self.points)


def axis(text: str) -> Axis:
    """Read an axis as ``key=value,value``; a comma inside brackets parts nothing.

    >>> axis("hosts=64,128"), axis("nccl.env={A: 1, B: 2},{}").values
    (Axis(key='hosts', values=('64', '128')), ('{A: 1, B: 2}', '{}'))
    """
    key, equals, values = text.partition("=")
    found = tuple(value.strip() for value in _parted(values))
    if not (key.strip() and equals and all(found)):
        raise SpecError(f"{text!r}: write a key and its values, as hosts=64,128,256")
    return Axis(key=key.strip(), values=tuple(dict.fromkeys(found)))


def grid(
    verb: str,
    axes: Sequence[Axis],
    run: Callable[[Mapping[str, str]], tuple[str, Measures, Provenance]],
) -> Grid:
    """Run a verb at every combination; ``run`` gives its subject, measures and provenance.

    A point that cannot run keeps its reason. Where none can, the first reason is raised.
    """
    if not 1 <= len(axes) <= MOST_AXES:
        raise SpecError(f"{len(axes)} keys are swept; one gives a curve, two give a map")
    if len({axis.key for axis in axes}) != len(axes):
        raise SpecError(f"{axes[0].key} is swept twice; give all its values once")
    combinations = list(product(*(axis.values for axis in axes)))
    if len(combinations) > MOST_POINTS:
        raise SpecError(f"{len(combinations)} points are more than {MOST_POINTS}")
    points: list[GridPoint] = []
    subjects: dict[str, Provenance] = {}
    first: WeftError | None = None
    for values in combinations:
        named = dict(zip((axis.key for axis in axes), values, strict=True))
        try:
            about, measures, provenance = run(named)
        except WeftError as error:
            first = first or error
            points.append(GridPoint(values=values, measures={}, reason=str(error)))
            continue
        subjects.setdefault(about, provenance)
        points.append(GridPoint(values=values, measures=measures))
    if first is not None and not subjects:
        raise first
    return Grid(
        verb=verb,
        subject=", ".join(subjects),
        axes=tuple(axes),
        points=tuple(points),
        provenance=next(iter(subjects.values())),
    )


def _parted(text: str) -> Iterator[str]:
    depth, begin = 0, 0
    for place, sign in enumerate(text):
        depth += (sign in "[{") - (sign in "]}")
        if sign == "," and depth == 0:
            yield text[begin:place]
            begin = place + 1
    yield text[begin:]
