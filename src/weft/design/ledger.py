"""The numbers that a bill rests on, each under one name, and how their ranges add up."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import hypot

from weft import catalogue
from weft.catalogue.devices import Assumption, Device
from weft.results import Estimate
from weft.sources import Source, Sourced

Terms = tuple[tuple[str, float], ...]
"""A sum: names of numbers, and how often each is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """Numbers by name, with the sources that they cite."""

    numbers: Mapping[str, Sourced]
    sources: Mapping[str, Source]
    labels: Mapping[str, "Label"] = field(default_factory=dict)

    def add(
        self,
        name: str,
        number: Sourced,
        sources: Mapping[str, Source],
        label: "Label | None" = None,
    ) -> "Ledger":
        """Return a ledger with one number more."""
        cited = {key: sources[key] for key in number.sources if key in sources}
        labels = {**self.labels, name: label} if label else self.labels
        return Ledger(
            numbers={**self.numbers, name: number},
            sources={**self.sources, **cited},
            labels=labels,
        )

    def estimate(self, terms: Terms) -> Estimate:
        """Return a sum of numbers with its band."""
        return spread(
            lambda x: {"sum": sum(x[name] * times for name, times in terms)},
            {name: self.numbers[name] for name, _ in terms},
        )["sum"]

    def weak(self) -> tuple[str, ...]:
        """Say which numbers have the lowest confidence, with unit and range."""
        return tuple(
            f"{self._said(name, number)}, low confidence"
            for name, number in sorted(self.numbers.items())
            if number.confidence == 1
        )

    def _said(self, name: str, number: Sourced) -> str:
        label = self.labels.get(name, Label(title=name, unit=""))
        value = f"{number.value:,g} {label.unit}".rstrip()
        return f"{label.title}: {value} ({number.low:,g} to {number.high:,g})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """What a reader is told of a number: its name in words, and its unit."""

    title: str
    unit: str


EMPTY = Ledger(numbers={}, sources={})


def stated(value: float, where: str) -> Sourced:
    """Make a number that the user wrote: no range, and it is believed."""
    return Sourced(value, value, value, (where,), 3)


def with_assumption(ledger: Ledger, name: str, stated_value: float | None, key: str) -> Ledger:
    """Add an assumption of the catalogue, or what the user wrote in its place."""
    if stated_value is not None:
        return ledger.add(name, stated(stated_value, f"prices.{key}"), {})
    assumption = catalogue.find("assumptions", name)
    return ledger.add(name, assumption.value, assumption.sources, label_of(assumption))


def label_of(assumption: Assumption) -> Label:
    """Return the words and the unit of an assumption of the catalogue."""
    unit = "" if assumption.unit == "ratio" else assumption.unit
    return Label(title=assumption.title, unit=unit)


def with_device(ledger: Ledger, name: str, number: Sourced | None, device: Device) -> Ledger:
    """Add one number of a device; one that was never published adds nothing."""
    if number is None or name in ledger.numbers:
        return ledger
    if isinstance(device, Assumption):
        return ledger.add(name, number, device.sources, label_of(device))
    unit = "W" if name.startswith("power") else "USD"
    return ledger.add(name, number, device.sources, Label(title=name, unit=unit))


def spread(
    function: Callable[[Mapping[str, float]], Mapping[str, float]],
    numbers: Mapping[str, Sourced],
) -> dict[str, Estimate]:
    """Carry the ranges of numbers through a function with several results.

    Each number goes to its low and to its high end alone; the deviations of a result add by
    root sum of squares. So numbers are independent of one another, and everything that rests
    on the same number moves with it.

    >>> price, count = Sourced(10, 7, 13, (), 2), Sourced(2, 2, 2, (), 3)
    >>> spread(lambda x: {"usd": x["a"] * x["n"] + x["a"]}, {"a": price, "n": count})
    {'usd': Estimate(value=30, low=21.0, high=39.0)}
    """
    middle = {name: number.value for name, number in numbers.items()}
    results = function(middle)
    below, above = dict.fromkeys(results, 0.0), dict.fromkeys(results, 0.0)
    for name, number in numbers.items():
        if number.low == number.high:
            continue
        ends = [function({**middle, name: end}) for end in (number.low, number.high)]
        for result, value in results.items():
            values = [end[result] for end in ends]
            below[result] = hypot(below[result], max(0.0, value - min(values)))
            above[result] = hypot(above[result], max(0.0, max(values) - value))
    return {
        name: Estimate(value, value - below[name], value + above[name])
        for name, value in results.items()
    }
