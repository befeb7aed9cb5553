"""A study: one verb at many points of many keys, in a grid or drawn from distributions."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from weft.spec.base import Part
from weft.spec.quantities import Count, Whole

Value = str | int | float | bool
Pair = Annotated[tuple[float, float], Field(strict=False)]


class Distribution(Part):
    """What a key is drawn from; exactly one of the kinds."""

    uniform: Pair | None = None
    """Least and largest value."""
    loguniform: Pair | None = None
    """Least and largest value; the logarithm is uniform."""
    normal: Pair | None = None
    """Mean and standard deviation."""
    lognormal: Pair | None = None
    """Median, and standard deviation of the natural logarithm."""
    unit: str = ""
    """Written behind each number, as Gb/s."""
    whole: bool = False
    """Round to whole numbers."""

    @model_validator(mode="after")
    def _one_kind(self) -> "Distribution":
        if len(self.kinds()) != 1:
            raise ValueError("needs one of uniform, loguniform, normal and lognormal")
        (first, second) = next(iter(self.kinds().values()))
        if (self.uniform or self.loguniform) and not first < second:
            raise ValueError(
                f"needs a least value below the largest, not {first:g} to {second:g}"
            )
        if (self.loguniform or self.lognormal) and first <= 0:
            raise ValueError(f"has a logarithm, so {first:g} must be above 0")
        if (self.normal or self.lognormal) and second < 0:
            raise ValueError(f"needs a standard deviation of 0 or more, not {second:g}")
        return self

    def kinds(self) -> dict[str, tuple[float, float]]:
        """Return the kinds that are given, with their two numbers."""
        every = {
            "uniform": self.uniform, "loguniform": self.loguniform,
            "normal": self.normal, "lognormal": self.lognormal,
        }  # fmt: skip
        return {name: pair for name, pair in every.items() if pair is not None}


class Study(Part):
    """One verb at many points: every combination of the listed values, and draws."""

    name: str = "study"
    """What reports call it."""
    verb: Literal["predict", "expect", "need", "compare"]
    """What is asked at every point."""
    documents: tuple[str, ...] = Field(strict=False)
    """Files with the cluster and, but for expect, the job; relative to this file."""
    keys: dict[str, list[Value] | Distribution]
    """For each key of the documents its values, or what it is drawn from."""
    samples: Count = 1
    """Draws at every combination, where a key has a distribution."""
    seed: Whole = 0
    """Of the draws."""
    operation: str = "all_reduce"
    """What expect is asked for."""
    fidelity: str = "analytic"
    """The engine of predict, expect and compare."""
