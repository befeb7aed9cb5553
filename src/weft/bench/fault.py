"""What a fault is to the judge: a change of the cluster or the library that makes a curve."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, Final

from weft.bench import fault_forms
from weft.bench.expected import Setting
from weft.bench.fault_forms import Variant, crosses
from weft.records import table

_AMOUNTS: Final = 9
"""Of a fault that comes in every amount; the error of its cost covers what lies between."""
_NEEDS: Final[Mapping[str, Callable[[Setting], bool]]] = {
    "network": crosses,
    "collective": lambda setting: setting.sweep.what == "collective",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault that the judge knows the shape of: a row of ``faults.toml``."""

    title: str
    weight: float
    """How often it is the cause beside the other faults, before the curve is looked at."""
    check: str
    """What to look at, to be sure."""
    variants: Callable[[Setting], Iterable[Variant]] = lambda _: ()
    """Its forms on a setting; none where it cannot be there."""
    amount: Callable[[Setting, float], Variant | None] | None = None
    """Its form of an amount from 0 (slight) to 1 (heavy), where it comes in every amount."""
    command: str = ""
    """The next command to run."""
    likeness: str = ""
    """What else looks like it in a sweep, and how to tell them apart."""
    shows: Mapping[str, str] = field(default_factory=dict)
    """What each check finds under it; nothing odd where it is not named."""
    causes: frozenset[str] = frozenset()
    """Causes of the doctor's that are this fault."""

    def forms(self, setting: Setting) -> Iterator[Variant]:
        """Yield its forms on a setting: those there are, or amounts evenly apart."""
        yield from self.variants(setting)
        if self.amount is not None:
            found = (self.amount(setting, place / (_AMOUNTS - 1)) for place in range(_AMOUNTS))
            yield from filter(None, found)


@cache
def all_faults() -> tuple[tuple[str, Fault], ...]:
    """Return every fault by name."""
    rows = table("weft.bench", "faults")
    return tuple((name, _fault(name, dict(row))) for name, row in rows.items())


def _fault(name: str, row: dict[str, Any]) -> Fault:
    if "variable" in row:
        own = {key: row.pop(key) for key in ("variable", "values", "form")}
        form = partial(fault_forms.with_variable, **own)
    else:
        form = getattr(fault_forms, name)
    graded, needs = row.pop("graded", False), row.pop("needs", ())
    guarded = _where_possible(form, needs, None if graded else ())
    causes = frozenset(row.pop("causes", ()))
    return Fault(**row, **{"amount" if graded else "variants": guarded}, causes=causes)


def _where_possible(form: Callable[..., Any], needs: Sequence[str], none: object) -> Any:  # noqa: ANN401 - as the form
    """Return a form that is asked for only on settings that its fault can be in."""

    def guarded(setting: Setting, *amount: float) -> object:
        possible = all(_NEEDS[need](setting) for need in needs)
        return form(setting, *amount) if possible else none

    return guarded
