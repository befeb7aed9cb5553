"""Predicates on the subnet manager."""

from difflib import get_close_matches
from typing import Final

from weft.lint.document import whole
from weft.lint.facts import Guids, Option, ServiceLevel, TreeSwitch
from weft.lint.names import names
from weft.lint.rule import Case, Found, Severity, path_of, problem, repeated

_LEVELS: Final = 16


def ib_adaptive_routing(case: Case) -> Found:
    for option in _options(case, "ar_sl_mask"):
        yield from _ib_adaptive_routing_levels(case, option)
    for option in _options(case, "enable_ar_by_device_cap"):
        if option.value.upper() == "FALSE" and _asked(case, option):
            yield problem("off", option)
    for option in _options(case, "routing_engine"):
        masks = [o for o in _options(case, "ar_sl_mask") if o.device == option.device]
        if masks and "ar_" not in option.value and not option.value.startswith("dor"):
            yield problem("static", option, masks[0])


def _options(case: Case, *names: str) -> list[Option]:
    return [*case.options("opensm", *names), *case.options("mlnxsm", *names)]


def _ib_adaptive_routing_levels(case: Case, one: Option) -> Found:
    mask = whole(one.value)
    if mask is None:
        return
    for variable in case.variables("NCCL_IB_SL"):
        level = whole(variable.value)
        if level is not None and 0 <= level < _LEVELS and not mask >> level & 1:
            yield problem("level", one, variable, level=level, value=mask | 1 << level)


def _asked(case: Case, one: Option) -> bool:
    return any(
        other.name == "ar_sl_mask" or (other.name == "routing_engine" and "ar_" in other.value)
        for other in _options(case)
        if other.device == one.device
    )


_MANAGEMENT: Final = 15
_HEAVIEST: Final = 255


def ib_lanes(case: Case) -> Found:
    for device in dict.fromkeys(option.device for option in case.options("opensm")):
        rows = {
            option.name: option for option in case.options("opensm") if option.device == device
        }
        most = rows.get("qos_max_vls")
        lanes = whole(most.value) if most else None
        if most is not None and (lanes is None or not 0 <= lanes <= _MANAGEMENT):
            yield problem("most", most)
        lanes = lanes or None
        used = set[int]()
        if "qos_sl2vl" in rows:
            yield from _ib_lanes_levels(rows["qos_sl2vl"], lanes, used)
        weights: dict[int, int] = {}
        for name in ("qos_vlarb_high", "qos_vlarb_low"):
            if name in rows:
                yield from _weights(rows[name], lanes, weights)
        starved = sorted(lane for lane in used if weights and not weights.get(lane))
        if starved:
            seen = [rows[name] for name in ("qos_vlarb_low", "qos_sl2vl") if name in rows]
            yield problem("no_weight", *seen, starved=starved)
    for level in case.of(ServiceLevel):
        if level.level >= _LEVELS:
            yield problem("level", level)


def _ib_lanes_levels(one: Option, lanes: int | None, used: set[int]) -> Found:
    numbers = [whole(part) for part in one.value.split(",")]
    if len(numbers) != _LEVELS:
        yield problem("entries", one, numbers=numbers)
    for level, lane in enumerate(numbers[: _LEVELS - 1]):
        if lane is None or not 0 <= lane <= _MANAGEMENT:
            yield problem("no_lane", one, level=level)
        elif lanes is not None and lane >= lanes:
            yield problem("lane_above", one, level=level, lane=lane, lanes=lanes)
        else:
            used.add(lane)


def _weights(one: Option, lanes: int | None, weights: dict[int, int]) -> Found:
    for part in one.value.split(","):
        lane, _, weight = part.partition(":")
        number, heavy = whole(lane), whole(weight)
        if number is None or heavy is None or not 0 <= heavy <= _HEAVIEST:
            yield problem("weights", one, part=part)
        elif lanes is not None and number >= lanes and heavy:
            yield problem("weight_above", one, number=number, lanes=lanes)
        else:
            weights[number] = weights.get(number, 0) + heavy


_MOST: Final = 15


def ib_managers(case: Case) -> Found:
    rows = case.options("opensm", "sm_priority")
    numbers = [(row, whole(row.value)) for row in rows]
    for number, value in numbers:
        if value is None or not 0 <= value <= _MOST:
            yield problem("priority", number)
    held = [(number, value) for number, value in numbers if value is not None]
    files = set(map(path_of, case.options("opensm")))
    top = max((value for _, value in held), default=None)
    masters = [option for option, value in held if value == top]
    if len(masters) > 1:
        yield problem("same", *masters, masters=masters, top=top)
    if len(files) > 1 and len(held) < len(files):
        said = set(map(path_of, rows))
        without = [option for option in case.options("opensm") if path_of(option) not in said]
        if without:
            yield problem("none", *without)
    prefixes = case.options("opensm", "subnet_prefix")
    if len({prefix.value.lower() for prefix in prefixes}) > 1:
        yield problem("prefixes", *prefixes)


_OWN: Final = frozenset(names("opensm.own"))


def ib_managers_differ(case: Case) -> Found:
    by_name: dict[str, dict[str, Option]] = {}
    for option in case.options("opensm"):
        by_name.setdefault(option.name, {})[option.device] = option
    files = {option.device for option in case.options("opensm")}
    for name, rows in by_name.items():
        if name in _OWN or len(files) < 2:  # noqa: PLR2004 - two that differ
            continue
        values = {row.value for row in rows.values()}
        if len(values) > 1:
            yield problem("differs", *(rows.values()), name=name)
        elif len(rows) < len(files):
            yield problem("one_alone", *(rows.values()), name=name)


_KNOWN: Final = frozenset(names("opensm.options"))
_FAMILIES: Final = tuple(names("opensm.families"))
_IB_OPTION_NVIDIA: Final = frozenset(names("opensm.nvidia"))
_SWITCHES: Final = frozenset(names("opensm.switches"))


def ib_option(case: Case) -> Found:
    overlay = any(option.name in _IB_OPTION_NVIDIA for option in case.options("opensm"))
    for option in case.options("opensm"):
        if option.name in _IB_OPTION_NVIDIA:
            yield problem("nvidia", option)
        elif option.name not in _KNOWN and not option.name.startswith(_FAMILIES):
            near = get_close_matches(option.name, _KNOWN, n=1, cutoff=0.75)
            fix = f"write {near[0]}" if near else "remove it"
            yield problem(
                "unknown", option, fix=fix, severity=Severity.INFO if overlay else None
            )
        elif option.name in _SWITCHES and option.value.upper() not in {"TRUE", "FALSE"}:
            yield problem("switch", option)


_ENGINES: Final = frozenset(names("opensm.engines"))
_IB_ROUTING_NVIDIA: Final = frozenset(names("opensm.nvidia_engines"))


def ib_routing(case: Case) -> Found:
    for option in case.options("opensm", "routing_engine"):
        names = [name.strip() for name in option.value.split(",")]
        unknown = [name for name in names if name not in _ENGINES | _IB_ROUTING_NVIDIA]
        own = [name for name in names if name in _IB_ROUTING_NVIDIA]
        if unknown:
            yield problem("unknown", option, unknown=unknown)
        elif own:
            yield problem("nvidia", option, own=own)
        elif names == ["minhop"] and any(f.switches for f in case.of(TreeSwitch)):
            yield problem("minhop", option)
    for guids, before in repeated(case.of(Guids), lambda guids: (guids.device, guids.values)):
        yield problem("twice", guids, before)
