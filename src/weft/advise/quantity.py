"""What a quantity is: a named function of the case that returns an estimate with its band."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from inspect import signature
from pkgutil import iter_modules
from typing import Final

from weft.advise import quantities
from weft.advise.break_even import BreakEven
from weft.advise.case import Case, Row
from weft.advise.spread import Spread, spread
from weft.errors import WeftError
from weft.results import Estimate

COMPUTED: Final = "computed by the analytic engine"
ASSUMED: Final = "computed with a sourced factor, not simulated"
ARITHMETIC: Final = "arithmetic on the article's own figures"
COUNTED: Final = "counted"
PACKETS: Final = "computed, each fabric's share simulated packet by packet where it can be"
SIMULATED: Final = "simulated packet by packet"


class NeedsPackets(WeftError):  # noqa: N818 - reads better at the raise
    """A quantity that closed forms do not have."""

    code = "needs_packets"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What quantities are computed from."""

    case: Case
    break_evens: Mapping[str, BreakEven]
    """What would change the recommendation, by input."""
    packets: bool = False
    """Whether the user asked for packets: what needs a simulation may take the time."""
    spreads: dict[str, Spread] = field(default_factory=dict)

    def row(self, name: str) -> Row:
        """Return a candidate at its best."""
        return self.case.row(name)

    def spread(self, name: str) -> Spread:
        """Return what is unknown of a candidate's own fabric."""
        if name not in self.spreads:
            self.spreads[name] = spread(self.case, self.row(name))
        return self.spreads[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """One function of a case."""

    name: str
    title: str
    """What it is, with its arguments in braces."""
    unit: str
    evidence: str
    compute: Callable[..., Estimate]
    """Takes the trial and the arguments of a statement. Raises WeftError where it has no
    value here."""

    def words(self, of: Mapping[str, object]) -> str:
        """Say what is computed."""
        known = signature(self.compute).parameters.values()
        given = {
            parameter.name: parameter.default
            for parameter in known
            if parameter.default is not parameter.empty
        }
        return self.title.format(**{k: _words(v) for k, v in {**given, **of}.items()})


_ALL: dict[str, Quantity] = {}


def quantity(
    title: str, unit: str, evidence: str = COMPUTED
) -> Callable[[Callable[..., Estimate]], Callable[..., Estimate]]:
    """Register a function as a quantity under its own name."""

    def register(compute: Callable[..., Estimate]) -> Callable[..., Estimate]:
        name = compute.__name__
        _ALL[name] = Quantity(
            name=name, title=title, unit=unit, evidence=evidence, compute=compute
        )
        return compute

    return register


@cache
def all_quantities() -> Mapping[str, Quantity]:
    """Return every quantity by name."""
    for module in iter_modules(quantities.__path__):
        import_module(f"{quantities.__name__}.{module.name}")
    return _ALL


def _words(value: object) -> str:
    if isinstance(value, list):
        return " or ".join(map(_words, value))
    text = str(value)
    return text if "." in text else text.replace("_", " ")


def exactly(value: float) -> Estimate:
    """Return a number that has no band: arithmetic, a count, a seed's own result."""
    return Estimate(value, value, value)
