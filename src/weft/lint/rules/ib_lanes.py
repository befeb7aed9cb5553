"""Virtual lanes do not fit: too few, without a share, or out of range.

What it checks: qos_max_vls (1 to 15), 16 entries of qos_sl2vl, lanes below qos_max_vls, weights
0 to 255 and not all 0, service levels of the policy.
Why it matters: a lane without weight never sends; a level on a lane that is not there is
dropped; OpenSM programs garbage for a weight of 999.
What to do: lanes 0 to qos_max_vls - 1, each with a weight; level 15 on 15.
References: man opensm, QOS CONFIGURATION; InfiniBand specification, VL arbitration.
"""

from typing import Final

from weft.lint.document import whole
from weft.lint.facts import Option, ServiceLevel
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_LEVELS: Final = 16
_MANAGEMENT: Final = 15
_HEAVIEST: Final = 255


def _check(case: Case) -> Found:
    for device in dict.fromkeys(one.device for one in case.options("opensm")):
        rows = {one.name: one for one in case.options("opensm") if one.device == device}
        most = rows.get("qos_max_vls")
        lanes = whole(most.value) if most else None
        if most is not None and (lanes is None or not 0 <= lanes <= _MANAGEMENT):
            yield problem(
                most, f"qos_max_vls {most.value}", "use 1 to 15, or 0 for the default"
            )
        lanes = lanes or None
        used = set[int]()
        if "qos_sl2vl" in rows:
            yield from _levels(rows["qos_sl2vl"], lanes, used)
        weights: dict[int, int] = {}
        for name in ("qos_vlarb_high", "qos_vlarb_low"):
            if name in rows:
                yield from _weights(rows[name], lanes, weights)
        starved = sorted(lane for lane in used if weights and not weights.get(lane))
        if starved:
            yield problem(
                [rows[name] for name in ("qos_vlarb_low", "qos_sl2vl") if name in rows],
                f"lane {starved[0]} carries a service level and has no weight: it never sends",
                "give it a weight",
            )
    for level in case.of(ServiceLevel):
        if level.level >= _LEVELS:
            yield problem(level, f"service level {level.level}", "use 0 to 15")


def _levels(one: Option, lanes: int | None, used: set[int]) -> Found:
    numbers = [whole(part) for part in one.value.split(",")]
    if len(numbers) != _LEVELS:
        yield problem(one, f"qos_sl2vl has {len(numbers)} entries", "give 16")
    for level, lane in enumerate(numbers[: _LEVELS - 1]):
        if lane is None or not 0 <= lane <= _MANAGEMENT:
            yield problem(one, f"service level {level} is mapped to no lane", "use 0 to 14")
        elif lanes is not None and lane >= lanes:
            yield problem(
                one,
                f"service level {level} is mapped to lane {lane}; qos_max_vls is {lanes}",
                "use a lane below it",
            )
        else:
            used.add(lane)


def _weights(one: Option, lanes: int | None, weights: dict[int, int]) -> Found:
    for part in one.value.split(","):
        lane, _, weight = part.partition(":")
        number, heavy = whole(lane), whole(weight)
        if number is None or heavy is None or not 0 <= heavy <= _HEAVIEST:
            yield problem(one, f"{one.name}: {part!r}", "write lane:weight, weights 0 to 255")
        elif lanes is not None and number >= lanes and heavy:
            yield problem(
                one,
                f"{one.name}: lane {number} has a weight; qos_max_vls is {lanes}",
                "use lanes below it",
                severity=Severity.WARNING,
            )
        else:
            weights[number] = weights.get(number, 0) + heavy


ib_lanes = Rule(
    layer=Layer.INFINIBAND,
    severity=Severity.ERROR,
    reference="https://github.com/linux-rdma/opensm",
    check=_check,
)
