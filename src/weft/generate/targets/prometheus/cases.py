"""Tests of the rules for promtool: each alert on its fault, on health and on what is alike."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from weft.generate.alert import Alert, key_of, series_of
from weft.generate.dashboard import expressions
from weft.generate.expected_busbw import Point
from weft.generate.plan import Plan
from weft.inventory.table import rows
from weft.metrics.source import metrics
from weft.network.network import layout

_ROUNDS: Final = re.compile(r"^([0-9.]+|[ABGSH_])(?:x(\d+))?$")
_UNITS: Final = {"s": 1, "m": 60, "h": 3600}
_BUSY: Final = 0.5
"""Share of its rate that a rail of a healthy job sends."""
_SHORT: Final = 0.5
_LOWER: Final = 0.8
GIGA: Final = 1e9
MINUTE_S: Final = 60
SIZE: Final = "1GiB"
SIZE_RANGE: Final = "1-2GB"
"""The same as NCCL Inspector writes it."""
MINUTELY: Final = "1m"
LEAST: Final = 61
"""Values of every series, so that cases share those of a healthy fabric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fabric:
    """A plan, its alerts and what it expects of jobs: what the series of a case are made of."""

    plan: Plan
    chosen: Sequence[Alert]
    expected: Sequence[Point]

    @property
    def attributes(self) -> tuple[str, ...]:
        """Return the attributes that the rules read."""
        busbw = "collective.busbw"
        jobs = [busbw] if any(alert.observes == busbw for alert in self.chosen) else []
        asked = [*(alert.expr for alert in self.chosen), *expressions(self.plan)]
        used = [series.attribute for series in series_of(asked)]
        return tuple(dict.fromkeys([*used, *jobs]))


def cases(fabric: Fabric) -> dict[str, dict[str, Any]]:
    """Return files of tests for ``promtool test rules``: one an interval of evaluation."""
    files: dict[str, list[Any]] = {MINUTELY: [_healthy(fabric)]}
    for alert in fabric.chosen:
        tests = files.setdefault(alert.interval, [])
        tests += [_test(fabric, alert, name) for name in ("fault", "alike")]
    return {
        f"weft-{interval}.test.yml": {
            "rule_files": ["weft.rules.yml"],
            "evaluation_interval": interval,
            "tests": tests,
        }
        for interval, tests in files.items()
    }


def _healthy(fabric: Fabric) -> dict[str, Any]:
    return {
        "name": "a healthy fabric raises nothing",
        "interval": MINUTELY,
        "input_series": list(_input(fabric, {}, 91, 1)),
        "promql_expr_test": [_firing("90m", [])],
    }


def _test(fabric: Fabric, alert: Alert, which: str) -> dict[str, Any]:
    told = alert.fault if which == "fault" else alert.alike
    about = "its fault" if which == "fault" else alert.alike_is
    raised = [alert.name, *alert.also] if which == "fault" else list(alert.alike_also)
    step = _minutes(alert.interval)
    length = _minutes(alert.at) // step + 1
    names = {alert.name for alert in fabric.chosen}
    return {
        "name": f"{alert.name}: {about}",
        "interval": alert.interval,
        "input_series": list(_input(fabric, told, length, step)),
        "promql_expr_test": [
            _firing(alert.at, sorted(text for text in raised if text in names))
        ],
    }


def _minutes(text: str) -> int:
    return int(text[:-1]) * _UNITS[text[-1]] // MINUTE_S


def _firing(at: str, names: Sequence[str]) -> dict[str, Any]:
    """Expect that these alerts fire and no other."""
    return {
        "expr": 'count by (alertname) (ALERTS{alertstate="firing"}) > bool 0',
        "eval_time": at,
        "exp_samples": [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in names],
    }


def _input(
    fabric: Fabric, told: Mapping[str, str], length: int, step: int
) -> Iterator[dict[str, str]]:
    """Yield the series of a healthy fabric, but for those that a case states."""
    plan = fabric.plan
    letters = _letters(fabric)
    length = max(length, LEAST)
    healthy = {row["attribute"]: row["values"] for row in rows("weft.generate", "healthy.yaml")}
    for attribute in fabric.attributes:
        name = metrics(attribute)[0].name(key_of(plan))
        for number, place in enumerate(_places(fabric, attribute)):
            values = _stated(attribute, place, number, told, plan) or healthy[attribute]
            yield {
                "series": f"{name}{{{_labels(place)}}}",
                "values": _written(values, letters, length, step),
            }
    for key, values in told.items():
        if "{" in key:
            yield {"series": key, "values": _written(values, letters, length, step)}
    series = f'up{{instance="{plan.names.first_host.text()}",job="node"}}'
    if series not in told:
        yield {"series": series, "values": f"1x{length}"}


def _stated(
    attribute: str, place: Mapping[str, str], number: int, told: Mapping[str, str], plan: Plan
) -> str | None:
    """Return what a case says of a series: of the first, of those of a host, or of all."""
    if number == 0 and attribute in told:
        return told[attribute]
    if place.get("instance") == plan.names.first_host.text() and f"{attribute}@host" in told:
        return told[f"{attribute}@host"]
    return told.get(f"{attribute}@all")


def _places(fabric: Fabric, attribute: str) -> Iterator[dict[str, str]]:
    """Yield the labels of the series of an attribute on one host, as its exporter has them."""
    kind = attribute.partition(".")[0]
    own = metrics(attribute)[0].labels()
    host = fabric.plan.names.first_host.text()
    point = _judged(fabric.expected)
    if kind == "collective" and point is not None:
        shared = {name: label for name, label in point.labels.items() if name != "size"}
        yield {**shared, "instance": host, "comm_name": "dp", "slurm_job_id": "1",
               "message_size": SIZE_RANGE}  # fmt: skip
    elif kind in {"switch_port", "queue"}:
        queue = {"queue": key_of(fabric.plan)["priority"]} if kind == "queue" else {}
        yield {own["switch"]: "leaf-0000", own["port"]: "Ethernet0", **queue}
    elif kind == "job":
        yield {label: f"{label}-0" for label in own.values()}
    else:
        yield from ({"instance": host, **part} for part in _parts(fabric.plan, kind))


def _parts(plan: Plan, kind: str) -> Iterator[dict[str, str]]:
    if kind == "port":
        yield from ({"device": text, "port": "1"} for text in plan.names.device_list())
    elif kind == "gpu":
        yield from ({"gpu": str(number)} for number in range(2))
    else:
        yield {"device": "eth0"}


def _judged(expected: Sequence[Point]) -> Point | None:
    """Return the expected value that the series of a job are made from."""
    return next((point for point in expected if point.labels["size"] == SIZE), None)


def _labels(place: Mapping[str, str]) -> str:
    return ",".join(f'{name}="{value}"' for name, value in place.items())


def _letters(fabric: Fabric) -> dict[str, float]:
    """Return what the letters of tables stand for."""
    rate = layout(fabric.plan.cluster).link_bytes_per_s
    point = _judged(fabric.expected)
    good = point.busbw_bytes_per_s.value / GIGA if point else 0.0
    low = point.busbw_bytes_per_s.low / GIGA if point else 0.0
    return {"A": rate, "B": rate * _BUSY * MINUTE_S, "G": good, "S": _SHORT * low,
            "H": _LOWER * good}  # fmt: skip


def _written(text: str, letters: Mapping[str, float], length: int, step: int) -> str:
    """Return values as promtool reads them; the last one is held to the end."""
    parts = text.split()
    return " ".join(
        _part(part, letters, length if number == len(parts) - 1 else 0, step)
        for number, part in enumerate(parts)
    )


def _part(text: str, letters: Mapping[str, float], length: int, step: int) -> str:
    found = _ROUNDS.match(text)
    if found is None:
        return text
    value, times = found[1], max(int(found[2] or 1), length)
    if value == "B":
        return f"0+{letters['B'] * step:.0f}x{times}"
    shown = f"{letters[value]:.6g}" if value in letters else value
    return f"{shown}x{times - 1}" if times > 1 else shown
