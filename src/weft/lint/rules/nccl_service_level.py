"""NCCL asks for a service level that the subnet does not carry as meant.

What it checks: NCCL_IB_SL against opensm's qos, qos_sl2vl and qos_max_vls, and the service
level of the partition.
Why it matters: with qos off all levels share lane 0; a level that maps to lane 15 or to a lane
beyond qos_max_vls drops every packet: the job hangs at its start.
What to do: map the level to a lane below qos_max_vls, and switch qos on.
References: man opensm, QOS CONFIGURATION; InfiniBand specification, SL to VL mapping.
"""

from typing import Final

from weft.lint.document import whole
from weft.lint.facts import Option, Side, Variable
from weft.lint.rule import OF_ETHERNET, Case, Found, Layer, Rule, Severity, problem

_MANAGEMENT: Final = 15


def _check(case: Case) -> Found:
    for one in case.variables("NCCL_IB_SL"):
        level = whole(one.value)
        if level is None or not 0 <= level <= _MANAGEMENT:
            continue
        if level:
            off = [o for o in case.options("opensm", "qos") if o.value.upper() != "TRUE"]
            unsaid = case.options("opensm") and not case.options("opensm", "qos")
            if off or unsaid:
                yield problem(
                    [one, *off[:1]],
                    f"NCCL_IB_SL={level}, and the subnet manager has qos off: all share lane 0",
                    "set qos TRUE",
                    severity=Severity.WARNING,
                )
        yield from _lane(case, one, level)


def _lane(case: Case, one: Variable, level: int) -> Found:
    for row in case.options("opensm", "qos_sl2vl"):
        lanes = [whole(part) for part in row.value.split(",")]
        lane = lanes[level] if level < len(lanes) else None
        if lane is not None and lane >= _lanes(case, row):
            yield problem(
                [one, row],
                f"NCCL_IB_SL={level} is mapped to lane {lane}, which drops data",
                "map it to a lane below qos_max_vls",
            )
        elif level and lane == 0:
            yield problem(
                [one, row],
                f"NCCL_IB_SL={level} is mapped to lane 0, where everything else is",
                f"give level {level} a lane of its own",
                severity=Severity.WARNING,
            )


def _lanes(case: Case, row: Option) -> int:
    own = [o for o in case.options("opensm", "qos_max_vls") if o.device == row.device]
    count = whole(own[0].value) if own else None
    return count if count is not None else _MANAGEMENT


nccl_service_level = Rule(
    layer=Layer.NCCL,
    severity=Severity.ERROR,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
    needs=(Side.JOB, Side.SUBNET),
    not_on=OF_ETHERNET,
)
