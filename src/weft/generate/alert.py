"""Alerts as rows: what is wrong when, how bad that is, and series that it must tell apart.

``[[attribute:op]]`` in an expression is a series that a recording rule makes from whatever
exporter has the attribute, ``[[=name]]`` a quantity of the plan and ``[[limit attribute key]]``
a limit of the expectation tables.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Final

from weft.design.cost import total_cost
from weft.doctor.cause import Cause, causes
from weft.expectations.expectation import expectations
from weft.generate.plan import Plan
from weft.inventory.table import tables
from weft.metrics.source import Metric, metrics
from weft.network.network import layout

SEVERITIES: Final = ("page", "ticket", "info")
"""Who acts and when: somebody now, somebody in working hours, nobody."""
SHORT: Final = "weft:collective_busbw:short"
"""Whether a collective is slower than expected: 0 or 1, by job, size and ranks."""
TYPICAL: Final = "weft:collective_busbw:typical"
"""Mean bus bandwidth of a collective by size and ranks, over all jobs."""
_PART: Final = re.compile(r"\[\[(?:=(?P<name>\w+)|limit (?P<limit>\S+) (?P<key>\w+)"
                          r"|(?P<attribute>[a-z_]+\.[a-z_]+):(?P<op>\w+))\]\]")  # fmt: skip
_OVER_TIME: Final = re.compile(r"(rate|increase)(\d+[smhd])")
_GAUGES: Final = {"now": "max", "avg": "avg"}
"""How series of one entity become one, by the operation on a gauge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One alert, its reason, and the series by which it is tested."""

    name: str
    cause: str
    """Row of the causes, or of the runbooks, that says what to do."""
    observes: str
    """Attribute or event that it sees, as causes name what they explain."""
    severity: str
    expr: str
    hold: str
    """For how long the expression must hold."""
    summary: str
    because: str
    fabrics: tuple[str, ...] = ()
    """Kinds of fabric that it is for; empty for all."""
    least_nics: int = 1
    explains: tuple[str, ...] = ()
    """What follows from it beside what its cause explains."""
    left: str = ""
    """Share of what was expected that is left, as an expression; empty where none is."""
    fault: Mapping[str, str] = field(default_factory=dict)
    also: tuple[str, ...] = ()
    """Other alerts that the series of the fault raise."""
    alike: Mapping[str, str] = field(default_factory=dict)
    alike_is: str = ""
    alike_also: tuple[str, ...] = ()
    at: str = "45m"
    interval: str = "1m"


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A recorded series: an attribute, whatever exporter has it, under one name and labels."""

    attribute: str
    op: str

    @property
    def record(self) -> str:
        """Return the name of the series.

        >>> Series(attribute="port.rate", op="now").record
        'weft:port_rate:now'
        """
        return f"weft:{self.attribute.replace('.', '_')}:{self.op}"

    def expr(self, key: Mapping[str, str]) -> str:
        """Return the expression that makes it; ``key`` fills names that hold a field."""
        return " or ".join(self._of(metric, key) for metric in metrics(self.attribute))

    def _of(self, metric: Metric, key: Mapping[str, str]) -> str:
        own = metric.labels()
        by = ", ".join(own)
        name = metric.name(key)
        over = _OVER_TIME.fullmatch(self.op)
        inner = f"{over[1]}({name}[{over[2]}])" if over else name
        for label, theirs in own.items():
            if label != theirs:
                inner = f'label_replace({inner}, "{label}", "$1", "{theirs}", "(.*)")'
        scaled = f"{inner} * {metric.factor:g}" if metric.factor != 1 else inner
        return f"{'sum' if over else _GAUGES[self.op]} by ({by}) ({scaled})"


@cache
def all_alerts() -> tuple[Alert, ...]:
    """Return every alert of the tables."""
    found = tables("weft.generate", "alerts")
    return tuple(_alert(row) for table in found.values() for row in table)


def _alert(row: Mapping[str, Any]) -> Alert:
    told = dict(row)
    for name in ("fabrics", "explains", "also", "alike_also"):
        told[name] = tuple(told.get(name, ()))
    return Alert(name=told.pop("alert"), hold=told.pop("for"), **told)


def alerts(plan: Plan) -> tuple[Alert, ...]:
    """Return the alerts for a plan, with its quantities filled in; series stay as they are.

    An alert that speaks of what the plan does not have, as marking where a provider runs the
    switches, is left out.
    """
    known = quantities(plan)
    kind = plan.cluster.fabric.kind
    return tuple(
        replace(alert, expr=filled(alert.expr, known), because=filled(alert.because, known),
                summary=filled(alert.summary, known), fault=_keys(alert.fault, known),
                alike=_keys(alert.alike, known))
        for alert in all_alerts()
        if (not alert.fabrics or kind in alert.fabrics)
        and plan.cluster.host.nics >= alert.least_nics
        and names_in(alert.expr, alert.because) <= known.keys()
    )  # fmt: skip


def names_in(*texts: str) -> set[str]:
    """Return the quantities that texts speak of."""
    return {m["name"] for text in texts for m in _PART.finditer(text) if m["name"]}


def _keys(table: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    return {filled(key, known): value for key, value in table.items()}


def quantities(plan: Plan) -> dict[str, str]:
    """Return the quantities of a plan that alerts speak of, as text, by name."""
    devices = plan.names.device_list()
    cluster = plan.cluster
    usd_per_hour = total_cost(cluster).usd_per_gpu_hour.value * cluster.gpus
    found = {
        "host": plan.names.first_host.text(),
        "device": devices[0],
        "devices": "|".join(devices),
        "nics": str(len(devices)),
        "hosts": str(plan.cluster.hosts),
        "usd_per_hour": f"{usd_per_hour:.2f}",
        "link_bytes_per_s": f"{layout(plan.cluster).link_bytes_per_s:.0f}",
        "link_gbit": plan.link.rate_gbit_per_s.text(),
    }
    planned = {
        "priority": plan.labels.priority if plan.labels else None,
        "headroom_bytes": plan.pause.headroom_bytes if plan.pause else None,
        "kmin_bytes": plan.marking.kmin_bytes if plan.marking else None,
    }
    found |= {name: item.text() for name, item in planned.items() if item is not None}
    if plan.cluster.hosts > 1 and plan.cluster.host.nics:
        found |= {"short": SHORT, "typical": TYPICAL}
    return found


def filled(text: str, known: Mapping[str, str]) -> str:
    """Fill quantities and limits into a text; recorded series are left."""

    def part(found: re.Match[str]) -> str:
        if found["name"]:
            return known[found["name"]]
        return found[0] if found["attribute"] else limit(found["limit"], found["key"])

    return _PART.sub(part, text)


def recorded(text: str) -> str:
    """Return an expression with the names of the recorded series."""
    return _PART.sub(lambda m: Series(attribute=m["attribute"], op=m["op"]).record, text)


def series_of(texts: Iterable[str]) -> tuple[Series, ...]:
    """Return the recorded series that expressions use, each once."""
    found = (
        Series(attribute=m["attribute"], op=m["op"])
        for text in texts
        for m in _PART.finditer(text)
        if m["attribute"]
    )
    return tuple(dict.fromkeys(found))


def limit(attribute: str, key: str) -> str:
    """Return a limit of the expectation tables, or what it rests on (``basis``)."""
    rows = [item for item in expectations() if item.attribute == attribute]
    told = next(row.sources["standard"] for row in rows if "standard" in row.sources)
    return str(told[key])


def cause_of(alert: Alert) -> Cause | None:
    """Return the cause of an alert: of several rows of its name the one it is a clue of."""
    named = [cause for cause in causes() if cause.name == alert.cause]
    clue = (cause for cause in named if alert.observes in {c.name for c in cause.clues})
    return next(clue, named[0] if named else None)


def inhibitions(chosen: Iterable[Alert]) -> Iterator[tuple[Alert, Alert]]:
    """Yield pairs of a cause and what follows from it.

    No alert silences itself in a circle, and none silences one that is more severe.
    """
    listed = list(chosen)
    below: dict[str, set[str]] = {alert.name: set() for alert in listed}
    for source in listed:
        for target in listed:
            if (
                target.observes in _explained(source, target)
                and SEVERITIES.index(source.severity) <= SEVERITIES.index(target.severity)
                and source.name not in _reached(target.name, below)
            ):
                below[source.name].add(target.name)
                yield source, target


def _explained(source: Alert, target: Alert) -> set[str]:
    """Return what a source explains; alerts of one cause do not explain one another by it."""
    rows = [cause for cause in causes() if cause.name == source.cause != target.cause]
    return {name for row in rows for name in row.explains} | {*source.explains}


def _reached(start: str, below: Mapping[str, set[str]]) -> set[str]:
    found, left = set[str](), [start]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += below[name]
    return found


def key_of(plan: Plan) -> dict[str, str]:
    """Return the fields of keys that are part of names of metrics, as the priority."""
    return {"priority": plan.labels.priority.text()} if plan.labels else {"priority": "0"}
