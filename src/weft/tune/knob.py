"""What a knob is: one setting of a switch or a NIC that a search may turn."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial
from math import log10
from typing import Any, Final

from weft import plugins
from weft.engines.packet import congestion
from weft.engines.packet.control import Control
from weft.engines.packet.simulation import PS_PER_S, Options
from weft.engines.packet.tables import FlowControl
from weft.records import table
from weft.spec.settings import NetworkSettings

FIGURES = 3
"""Significant figures of a value: nobody sets a threshold to the byte."""


class Place(StrEnum):
    """Where a knob is turned."""

    SWITCH = "switch"
    NIC = "NIC"


class Scale(StrEnum):
    """How a knob is searched."""

    LINEAR = "linear"
    LOG = "log"
    WHOLE = "whole numbers"
    DOUBLING = "powers of two"


@dataclass(frozen=True, slots=True, kw_only=True)
class Knob:
    """One setting: a row of ``knobs.toml``, with its unit at the end of the name."""

    title: str
    place: Place
    low: float
    high: float
    scale: Scale = Scale.LOG
    why: str
    """Where the range comes from."""
    applies: Callable[[Options], bool]
    """Whether the settings have this knob at all."""
    read: Callable[[Options], float]
    """What it is set to, everything left out filled in."""
    enter: Callable[[NetworkSettings, float], NetworkSettings]
    relative: bool = False
    """Its value is a ratio to another knob, which enters before it."""

    def tidy(self, value: float) -> float:
        """Bring a value into the range and to as many figures as people write.

        >>> ring = Knob(title="", place=Place.NIC, low=1, high=1e9, why="",
        ...     applies=bool, read=float, enter=lambda s, v: s)
        >>> ring.tidy(123456.0)
        123000.0
        """
        value = float(min(self.high, max(self.low, value)))
        if self.scale in {Scale.WHOLE, Scale.DOUBLING}:
            return value
        return round(value, FIGURES - 1 - int(log10(value) // 1)) if value else value


def runs_dcqcn(options: Options) -> bool:
    """Say whether the NICs run DCQCN."""
    return options.congestion == "dcqcn"


def marks(options: Options) -> bool:
    """Say whether the congestion control listens to marks."""
    return bool(plugins.load(congestion, options.congestion, Control).marking)


def pauses(options: Options) -> bool:
    """Say whether switches pause."""
    return options.flow_control is FlowControl.PFC


def any_pauses(options: Options) -> bool:
    """Say whether switches pause in some class."""
    parts = (traffic.options or options for traffic in options.classes)
    return any(map(pauses, parts)) if options.classes else pauses(options)


def shares_buffer(options: Options) -> bool:
    """Say whether the queues of a switch share its buffer."""
    return options.shared_buffer_bytes is not None


def has_headroom(options: Options) -> bool:
    """Say whether pauses can come too late: without a limit there is always room."""
    return pauses(options) and options.headroom_bytes is not None


def drops(options: Options) -> bool:
    """Say whether nothing holds senders back."""
    return options.flow_control is FlowControl.NONE


_APPLIES: Final = {
    predicate.__name__: predicate
    for predicate in (runs_dcqcn, marks, pauses, shares_buffer, has_headroom, drops)
}


def whole_bytes(value: float) -> str:
    """Write a size as settings files do: a number of bytes with its unit."""
    return f"{round(value)}B"


def _with(settings: NetworkSettings, part: str, **changes: float) -> NetworkSettings:
    return settings.with_(**{part: getattr(settings, part).with_(**changes)})


def _kmin(settings: NetworkSettings, value: float) -> NetworkSettings:
    """Set Kmin; Kmax stays, but a Kmin above it takes it along."""
    kmin = round(value)
    kmax = max(kmin, settings.ecn.kmax_bytes or 0)
    return _with(settings, "ecn", kmin_bytes=kmin, kmax_bytes=kmax)


def _kmax(settings: NetworkSettings, ratio: float) -> NetworkSettings:
    return _with(settings, "ecn", kmax_bytes=round(ratio * (settings.ecn.kmin_bytes or 0)))


def _xoff(settings: NetworkSettings, value: float) -> NetworkSettings:
    """Set XOFF; XON stays below it by the same ratio."""
    before, xon = settings.pfc.xoff_bytes or 1, settings.pfc.xon_bytes or 0
    xon = max(1, round(xon * value / before))
    return _with(settings, "pfc", xoff_bytes=round(value), xon_bytes=xon)


def _xon(settings: NetworkSettings, ratio: float) -> NetworkSettings:
    xon = max(1, round(ratio * (settings.pfc.xoff_bytes or 0)))
    return _with(settings, "pfc", xon_bytes=xon)


_READ: Final[Mapping[str, Callable[[Options], float]]] = {
    "buffer_alpha_ratio": lambda options: options.alpha_ratio,
    "cnp_gap_s": lambda options: options.cnp_gap_ps / PS_PER_S,
    "headroom_bytes": lambda options: float(options.headroom_bytes or 0),
    "kmax_over_kmin_ratio": lambda options: options.kmax_bytes / options.kmin_bytes,
    "kmin_bytes": lambda options: float(options.kmin_bytes),
    "pmax_ratio": lambda options: options.pmax_ratio,
    "queue_limit_bytes": lambda options: float(options.queue_limit_bytes),
    "xoff_bytes": lambda options: float(options.xoff_bytes),
    "xon_over_xoff_ratio": lambda options: options.xon_bytes / options.xoff_bytes,
}
_ENTER: Final[Mapping[str, Callable[[NetworkSettings, float], NetworkSettings]]] = {
    "buffer_alpha_ratio": lambda settings, ratio: _with(settings, "buffer", alpha_ratio=ratio),
    "cnp_gap_s": lambda settings, gap_s: settings.with_(cnp_gap_s=gap_s),
    "headroom_bytes": lambda settings, size: _with(
        settings, "buffer", headroom_bytes=round(size)
    ),
    "kmax_over_kmin_ratio": _kmax,
    "kmin_bytes": _kmin,
    "pmax_ratio": lambda settings, ratio: _with(settings, "ecn", pmax_ratio=ratio),
    "queue_limit_bytes": lambda settings, size: settings.with_(queue_limit_bytes=round(size)),
    "xoff_bytes": _xoff,
    "xon_over_xoff_ratio": _xon,
}


@cache
def all_knobs() -> Mapping[str, Knob]:
    """Return every knob by name."""
    return {name: _knob(name, dict(row)) for name, row in table("weft.tune", "knobs").items()}


def _knob(name: str, row: dict[str, Any]) -> Knob:
    place, scale = Place(row.pop("place")), Scale(row.pop("scale", Scale.LOG))
    applies = _APPLIES[row.pop("applies", runs_dcqcn.__name__)]
    engine = row.pop("of_dcqcn", "")
    return Knob(
        **row, place=place, scale=scale, applies=applies,
        read=partial(_read, engine) if engine else _READ[name],
        enter=partial(_enter, engine) if engine else _ENTER[name],
    )  # fmt: skip


def _read(name: str, options: Options) -> float:
    default = plugins.load(congestion, "dcqcn", Control).knobs[name]
    value = float(options.knobs.get(name, default))
    return value / PS_PER_S if name.endswith("_ps") else value


def _enter(name: str, settings: NetworkSettings, value: float) -> NetworkSettings:
    if name.endswith("_ps"):
        written: dict[str, str | float] = {f"{name[:-3]}_s": f"{value * 1e6:.6g}us"}
    elif name.endswith("_bytes"):
        written = {name: whole_bytes(value)}
    else:
        written = {name: int(value) if float(value).is_integer() else value}
    return settings.with_(knobs={**settings.knobs, **written})
