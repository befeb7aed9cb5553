"""What a knob is: one setting of a switch or a NIC that a search may turn."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from math import log10

from weft import plugins
from weft.engines.packet import congestion
from weft.engines.packet.control import Control
from weft.engines.packet.simulation import PS_PER_S, Options
from weft.engines.packet.tables import FlowControl
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
    """One setting; the file is named after it, with its unit at the end of the name."""

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
    parts = (one.options or options for one in options.classes)
    return any(map(pauses, parts)) if options.classes else pauses(options)


def shares_buffer(options: Options) -> bool:
    """Say whether the queues of a switch share its buffer."""
    return options.shared_buffer_bytes is not None


def whole_bytes(value: float) -> str:
    """Write a size as settings files do: a number of bytes with its unit."""
    return f"{round(value)}B"


def ecn(settings: NetworkSettings, **changes: float) -> NetworkSettings:
    """Change the marking thresholds."""
    return settings.with_(ecn=settings.ecn.with_(**changes))


def pfc(settings: NetworkSettings, **changes: float) -> NetworkSettings:
    """Change the pause thresholds."""
    return settings.with_(pfc=settings.pfc.with_(**changes))


def buffer(settings: NetworkSettings, **changes: float) -> NetworkSettings:
    """Change the memory of the switches."""
    return settings.with_(buffer=settings.buffer.with_(**changes))


def of_dcqcn(
    name: str, *, title: str, low: float, high: float, why: str, scale: Scale = Scale.LOG
) -> Knob:
    """Return a knob of DCQCN by the name that the engine has for it."""
    return Knob(
        title=title, place=Place.NIC, low=low, high=high, scale=scale, why=why,
        applies=runs_dcqcn, read=partial(_read, name), enter=partial(_enter, name),
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
