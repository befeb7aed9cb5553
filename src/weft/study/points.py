"""The points of a study: combinations of listed values, and draws from distributions."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from math import log, prod
from typing import TYPE_CHECKING, Final

from weft.errors import SpecError
from weft.spec.study import Distribution, Study, Value

if TYPE_CHECKING:
    import numpy as np

MOST_POINTS: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One point: its number in the study, and each key's value as a document has it."""

    number: int
    values: tuple[tuple[str, str], ...]

    def sets(self) -> list[str]:
        """Return the values as ``--set`` takes them."""
        return [f"{key}={value}" for key, value in self.values]


def count(study: Study) -> int:
    """Return how many points a study has; raise SpecError where they are too many or none."""
    listed = prod(len(values) for values in study.keys.values() if isinstance(values, list))
    drawn = any(isinstance(values, Distribution) for values in study.keys.values())
    if not drawn and study.samples != 1:
        raise SpecError(f"samples: value {study.samples}: no key has a distribution; remove it")
    found = listed * study.samples
    if not 1 <= found <= MOST_POINTS:
        raise SpecError(f"keys: give {found:,} points; a study has 1 to {MOST_POINTS:,}")
    return found


def points(study: Study) -> Iterator[Point]:
    """Yield the points, the last key fastest; the same study gives the same points.

    The draws of a combination depend on the seed and its number alone, so more samples or
    other keys do not change those before.
    """
    import numpy as np  # noqa: PLC0415 - a study that only lists values needs none

    count(study)
    listed = {key: v for key, v in study.keys.items() if isinstance(v, list)}
    drawn = {key: v for key, v in study.keys.items() if isinstance(v, Distribution)}
    for place, combination in enumerate(product(*listed.values())):
        chosen = {key: _text(v) for key, v in zip(listed, combination, strict=True)}
        for sample in range(study.samples):
            number = place * study.samples + sample
            chance = np.random.default_rng((study.seed, number))
            own = chosen | {key: _draw(chance, of) for key, of in drawn.items()}
            yield Point(number=number, values=tuple((key, own[key]) for key in study.keys))


def _text(value: Value) -> str:
    """Return a value as YAML writes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _draw(chance: "np.random.Generator", of: Distribution) -> str:
    ((kind, (first, second)),) = of.kinds().items()
    value = DRAWS[kind](chance, first, second)
    return f"{round(value)}{of.unit}" if of.whole else f"{value:.6g}{of.unit}"


DRAWS: Final[dict[str, Callable[["np.random.Generator", float, float], float]]] = {
    "uniform": lambda chance, least, most: chance.uniform(least, most),
    "loguniform": lambda chance, least, most: float(
        least * (most / least) ** chance.uniform(0.0, 1.0)
    ),
    "normal": lambda chance, mean, deviation: chance.normal(mean, deviation),
    "lognormal": lambda chance, median, deviation: chance.lognormal(log(median), deviation),
}
