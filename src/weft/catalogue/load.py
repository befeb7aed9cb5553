"""Read the catalogue: TOML files in, frozen dataclasses out.

A number is written ``{ value = "400Gb/s", low = .., high = .., source = ["key"],
confidence = 3 }``. Its key is the name of the field without the unit, and a rate ends in
``rate``: ``memory_bytes_per_s`` is ``memory_rate`` there, because text has its own unit.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args, overload

from weft import units
from weft.catalogue.devices import (
    Assumption,
    Cable,
    Device,
    FabricFacts,
    Gpu,
    Nic,
    Provider,
    Rental,
    RentalPoint,
    Rented,
    Server,
    Switch,
)
from weft.errors import SpecError, UnknownName
from weft.sources import Kind, Source, Sourced

Folder = Literal[
    "gpus", "nics", "switches", "cables", "servers", "fabrics", "providers", "assumptions",
    "rentals",
]  # fmt: skip
FOLDERS: Final[tuple[Folder, ...]] = get_args(Folder)

_ROOT: Final = Path(__file__).parent
_CLASSES: Final[Mapping[str, type[Device]]] = {
    "gpus": Gpu,
    "nics": Nic,
    "switches": Switch,
    "cables": Cable,
    "servers": Server,
    "fabrics": FabricFacts,
    "providers": Provider,
    "assumptions": Assumption,
    "rentals": Rental,
}
_READERS: Final[tuple[tuple[str, str, Callable[[str], float]], ...]] = (
    ("flop_per_s", "flops", units.parse_flop_rate),
    ("bytes_per_s", "rate", units.parse_rate),
    ("messages_per_s", "messages_per_s", float),
    ("_usd_per_h", "_per_h", units.parse_money),
    ("_bytes", "", units.parse_size),
    ("_usd", "", units.parse_money),
    ("_s", "", units.parse_time),
    ("_w", "", units.parse_power),
    ("_m", "", units.parse_length),
)
"""End of a field's name, what stands for it in a file, how its text is read."""
_BY_RATE: Final = frozenset({"radix", "usual_switches"})
"""Fields whose keys are link rates."""
_NUMBER_KEYS: Final = frozenset({"value", "low", "high", "source", "confidence"})


def names(kind: Folder) -> list[str]:
    """List the devices of a kind.

    >>> "h100_sxm" in names("gpus")
    True
    """
    return sorted(path.stem for path in _folder(kind).glob("*.toml"))


@overload
def find(kind: Literal["gpus"], name: str) -> Gpu: ...
@overload
def find(kind: Literal["nics"], name: str) -> Nic: ...
@overload
def find(kind: Literal["switches"], name: str) -> Switch: ...
@overload
def find(kind: Literal["cables"], name: str) -> Cable: ...
@overload
def find(kind: Literal["servers"], name: str) -> Server: ...
@overload
def find(kind: Literal["fabrics"], name: str) -> FabricFacts: ...
@overload
def find(kind: Literal["providers"], name: str) -> Provider: ...
@overload
def find(kind: Literal["assumptions"], name: str) -> Assumption: ...
@overload
def find(kind: Literal["rentals"], name: str) -> Rental: ...
@overload
def find(kind: Folder, name: str) -> Device: ...
def find(kind: Folder, name: str) -> Device:
    """Find one device by its slug.

    >>> find("gpus", "h100_sxm").power_w.value
    700.0
    >>> find("gpus", "mi300")
    Traceback (most recent call last):
    weft.errors.UnknownName: the catalogue has no gpus called 'mi300'; near it: mi300x
    """
    return _load(kind, name)


def all_of(kind: Folder) -> dict[str, Device]:
    """Load every device of a kind."""
    return {name: find(kind, name) for name in names(kind)}


def read_device(kind: Folder, name: str, text: str) -> Device:
    """Read the text of one device file; the message of an error names file and key."""
    where = f"catalogue/{kind}/{name}.toml"
    table = tomllib.loads(text)
    cited = _sources(table.pop("sources", {}), where)
    values: dict[str, Any] = {"name": name, "sources": cited}
    for field in fields(_CLASSES[kind]):
        if field.name in values:
            continue
        key, read = _key(field.name)
        if key in table:
            values[field.name] = _value(table.pop(key), read, cited, f"{where}: {key}")
        elif field.default is MISSING and field.default_factory is MISSING:
            raise SpecError(f"{where}: {key} is missing; every device of {kind} has one")
    if table:
        raise SpecError(f"{where}: no field of {kind} is called {', '.join(sorted(table))}")
    return _CLASSES[kind](**_shaped(values))


@cache
def _load(kind: Folder, name: str) -> Device:
    path = _folder(kind) / f"{name}.toml"
    if not path.is_file():
        raise UnknownName(_unknown(kind, name))
    device = read_device(kind, name, path.read_text(encoding="utf-8"))
    if isinstance(device, Gpu) and (_ROOT / "rentals" / f"{name}.toml").is_file():
        return replace(device, rental_usd_per_h=find("rentals", name).price_usd_per_h)
    return device


def _folder(kind: str) -> Path:
    if kind not in _CLASSES:
        known = ", ".join(_CLASSES)
        raise UnknownName(f"the catalogue has no kind {kind!r}; there are: {known}")
    return _ROOT / kind


def _unknown(kind: Folder, name: str) -> str:
    known = names(kind)
    near = [slug for slug in known if name and name in slug]
    near = near or get_close_matches(name, known, n=4, cutoff=0.5)
    listed = f"near it: {', '.join(near)}" if near else f"there are: {', '.join(known)}"
    return f"the catalogue has no {kind} called {name!r}; {listed}"


def _key(field: str) -> tuple[str, Callable[[str], float] | None]:
    for end, stands_for, read in _READERS:
        if field.endswith(end):
            return field.removesuffix(end) + stands_for, read
    return field, None


def _value(
    raw: Any,  # noqa: ANN401 - whatever TOML held
    read: Callable[[str], float] | None,
    cited: Mapping[str, Source],
    where: str,
) -> Any:  # noqa: ANN401 - a number, text, or a mapping of them
    if isinstance(raw, list):
        return tuple(_value(item, read, cited, where) for item in raw)
    if not isinstance(raw, dict):
        return float(read(raw)) if read and isinstance(raw, str) else raw
    if "value" in raw:
        return _number(raw, read, cited, where)
    return {key: _value(item, read, cited, f"{where}.{key}") for key, item in raw.items()}


def _number(
    raw: Mapping[str, Any],
    read: Callable[[str], float] | None,
    cited: Mapping[str, Source],
    where: str,
) -> Sourced:
    keys = tuple(raw.get("source", ()))
    if unknown := raw.keys() - _NUMBER_KEYS:
        raise SpecError(f"{where}: a number has no {', '.join(sorted(unknown))}")
    if not keys or raw.get("confidence") not in {1, 2, 3}:
        raise SpecError(f"{where}: a number needs source = [..] and confidence = 1, 2 or 3")
    if missing := [key for key in keys if key not in cited]:
        raise SpecError(f"{where}: source {missing[0]!r} is not under [sources]")
    value, low, high = (
        float(read(end) if read else end)
        for end in (raw["value"], raw.get("low", raw["value"]), raw.get("high", raw["value"]))
    )
    if not low <= value <= high:
        raise SpecError(f"{where}: {value:g} lies outside {low:g} to {high:g}")
    return Sourced(value, low, high, keys, raw["confidence"])


def _sources(table: Mapping[str, Mapping[str, str]], where: str) -> dict[str, Source]:
    if not table:
        raise SpecError(f"{where}: has no [sources]")
    return {
        key: Source(key=key, **{**entry, "kind": Kind(entry["kind"])})  # type: ignore[arg-type]
        for key, entry in table.items()
    }


def _shaped(values: dict[str, Any]) -> dict[str, Any]:
    """Turn rates that are keys into numbers, MTUs into whole bytes, points into records."""
    shaped = dict(values)
    for key in _BY_RATE & shaped.keys():
        by_rate = cast("Mapping[str, object]", shaped[key])
        shaped[key] = {units.parse_rate(rate): item for rate, item in by_rate.items()}
    if "mtus_bytes" in shaped:
        shaped["mtus_bytes"] = tuple(round(size) for size in shaped["mtus_bytes"])
        shaped["default_mtu_bytes"] = round(shaped["default_mtu_bytes"])
    if isinstance(shaped.get("servers"), dict):
        shaped["servers"] = {name: Rented(**net) for name, net in shaped["servers"].items()}
    if "points" in shaped:
        shaped["points"] = tuple(RentalPoint(**point) for point in shaped["points"])
    return shaped
