"""The constants that no source gives: fitted per class, with the date, rows and residuals."""

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from weft.engines.analytic.collective.spread import Spread, from_raw

FILE: Final = Path(__file__).with_name("fitted.toml")
WITHOUT_FILE: Final = Path(__file__).with_name("fitted_without.toml")


@dataclass(frozen=True, eq=False)
class Fitted:
    """Values by dotted name (``channel.hopper``), and the spread of what they left over.

    Compared by identity, so that caches keyed by it stay cheap.
    """

    values: Mapping[str, float]
    spread: Spread

    def __call__(self, name: str, default: float | None = None) -> float:
        """Return one constant; its class's default where it was not fitted."""
        found = self.values.get(name, default)
        assert found is not None, f"no fitted constant {name}"
        return found


def flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, float]]:
    """Yield the numbers of nested tables with dotted names."""
    for key, value in table.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            yield from flat(value, f"{name}.")
        elif isinstance(value, int | float):
            yield name, float(value)


def read(path: Path) -> Fitted:
    """Read fitted constants from a file."""
    raw = tomllib.loads(path.read_text("utf-8"))
    return Fitted(dict(flat(raw["constants"])), from_raw(raw["spread"]))


@cache
def shipped() -> Fitted:
    """Return the constants that come with weft."""
    return read(FILE)


@cache
def nested() -> Mapping[str, Any]:
    """Return what was fitted with one product family left out at a time, as the file has it."""
    return tomllib.loads(WITHOUT_FILE.read_text("utf-8"))


def family(site: str) -> str:
    """Return the product family of a system that a fit has seen; empty for others."""
    return str(nested()["families"].get(site, ""))


@cache
def without_family(name: str) -> Fitted:
    """Return constants and spreads fitted without one product family."""
    left_out = nested()["without"][name]
    changed = dict(flat(left_out.get("constants", {})))
    return Fitted({**shipped().values, **changed}, from_raw(left_out["spread"]))


def without(site: str) -> Fitted:
    """Return what was fitted without the family of a site; as shipped if it was not used.

    Scores of a row the fit has seen are made with these, so that errors are those of a
    product family never seen.
    """
    name = family(site)
    return without_family(name) if name else shipped()


_CURRENT: Final[ContextVar[Fitted | None]] = ContextVar("fitted", default=None)


def current() -> Fitted:
    """Return the constants in force: the shipped ones, or those of an overlay."""
    return _CURRENT.get() or shipped()


@contextmanager
def using(fitted: Fitted) -> Iterator[None]:
    """Predict with other constants for a while (fits, calibration)."""
    token = _CURRENT.set(fitted)
    try:
        yield
    finally:
        _CURRENT.reset(token)
