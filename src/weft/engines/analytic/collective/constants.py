"""The constants that no source gives: fitted per class, with the date, rows and residuals."""

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).with_name("fitted.toml")
WITHOUT_FILE: Final = Path(__file__).with_name("fitted_without.toml")


@dataclass(frozen=True, eq=False)
class Fitted:
    """Values by dotted name (``channel.hopper``), and the spread of what they left over.

    Compared by identity, so that caches keyed by it stay cheap.
    """

    values: Mapping[str, float]
    bands: Mapping[str, tuple[float, float]]

    def __call__(self, name: str, default: float | None = None) -> float:
        """Return one constant; its class's default where it was not fitted."""
        found = self.values.get(name, default)
        assert found is not None, f"no fitted constant {name}"
        return found

    def band(self, *names: str) -> tuple[float, float]:
        """Return the 80 % band, as ratios of time, of the first class that has one."""
        for name in names:
            if name in self.bands:
                return self.bands[name]
        return self.bands["any"]


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
    bands = {k: (float(v["low"]), float(v["high"])) for k, v in raw["bands"].items()}
    return Fitted(dict(flat(raw["constants"])), bands)


@cache
def shipped() -> Fitted:
    """Return the constants that come with weft."""
    return read(FILE)


@cache
def _changes() -> Mapping[str, Mapping[str, float]]:
    raw = tomllib.loads(WITHOUT_FILE.read_text("utf-8"))
    return {site: dict(flat(changed)) for site, changed in raw["without"].items()}


@cache
def without(site: str) -> Fitted:
    """Return the constants fitted without one site; the shipped ones if it was not used.

    Scores of a row the fit has seen are made with these, so that errors are those of a site
    never seen.
    """
    changed = _changes().get(site)
    if changed is None:
        return shipped()
    return Fitted({**shipped().values, **changed}, shipped().bands)


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
