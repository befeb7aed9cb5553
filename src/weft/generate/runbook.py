"""Runbooks: what to do about each cause, with the names and numbers of one cluster."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from weft.doctor.cause import Cause, causes
from weft.errors import UnknownName
from weft.generate.alert import Alert, alerts, filled, quantities
from weft.generate.plan import Plan
from weft.inventory.table import tables
from weft.plugins import unknown
from weft.results import Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A command, and what it prints where all is well."""

    command: str
    expected: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A cause that a runbook covers, as the doctor knows it."""

    cause: str
    title: str
    fix: str
    confirm: str
    follows: tuple[str, ...]
    """What it explains: events, deviations and causes that are consequences of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertNamed:
    """An alert that leads here."""

    name: str
    severity: str
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Runbook:
    """What one sees, what to check in which order, and what to do."""

    name: str
    title: str
    alerts: tuple[AlertNamed, ...]
    see: tuple[str, ...]
    check: tuple[Check, ...]
    apart: tuple[str, ...]
    causes: tuple[Row, ...]
    act: tuple[str, ...]
    verify: tuple[str, ...]
    escalate: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Runbooks:
    """Runbooks of one cluster."""

    cluster: str
    runbooks: tuple[Runbook, ...]
    provenance: Provenance


@cache
def _tables() -> tuple[Mapping[str, Any], ...]:
    found = tables("weft.generate", "runbooks")
    return tuple(row for table in found.values() for row in table)


@cache
def runbook_of(cause: str) -> str:
    """Return the name of the runbook that covers a cause; the cause where none does.

    >>> runbook_of("ib-link-errors")
    'link-flap'
    """
    named = (slug(row["title"]) for row in _tables() if cause in row["causes"])
    return next(named, cause)


def slug(title: str) -> str:
    """Return a title as it stands in an address.

    >>> slug("ECC and row remap")
    'ecc-and-row-remap'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def runbooks(plan: Plan, name: str = "") -> Runbooks:
    """Return the runbooks for a plan, or the one of a name or of a cause.

    Causes that no runbook covers have a short one of their own. Raises UnknownName.
    """
    known = _known(plan)
    raised = alerts(plan)
    written = [_runbook(row, known, raised) for row in _tables() if _fits(row, plan, known)]
    covered = {cause for row in _tables() for cause in row["causes"]}
    rest = [_short(cause, raised) for cause in _first_of_each() if cause.name not in covered]
    found = [*written, *rest]
    if name:
        wanted = {slug(name), runbook_of(name)}
        found = [runbook for runbook in found if runbook.name in wanted]
        if not found:
            names = [runbook.name for runbook in (*written, *rest)]
            raise UnknownName(unknown("runbook", name, sorted({*names, *covered})))
    return Runbooks(
        cluster=plan.names.cluster.text(), runbooks=tuple(found), provenance=plan.provenance
    )


def _fits(row: Mapping[str, Any], plan: Plan, known: Mapping[str, str]) -> bool:
    kinds = row.get("fabrics", ())
    return (not kinds or plan.cluster.fabric.kind in kinds) and known.keys() >= {
        *row.get("needs", ())
    }


def _known(plan: Plan) -> dict[str, str]:
    devices = plan.names.device_list()
    found = quantities(plan) | {
        "devices_listed": ", ".join(devices),
        "gpus": str(plan.cluster.host.gpus),
        "first_host": plan.names.first_host.text(),
        "last_host": plan.names.last_host.text(),
    }
    if plan.labels:
        found["dscp"] = plan.labels.dscp.text()
        found["traffic_class"] = plan.labels.traffic_class.text()
    return found


def _runbook(
    row: Mapping[str, Any], known: Mapping[str, str], raised: tuple[Alert, ...]
) -> Runbook:
    def lines(key: str) -> tuple[str, ...]:
        return tuple(filled(item, known) for item in row[key])

    return Runbook(
        name=slug(row["title"]),
        title=row["title"],
        alerts=tuple(_alerts(row["causes"], raised)),
        see=lines("see"),
        check=tuple(
            Check(command=filled(command, known), expected=filled(expected, known))
            for command, expected in row["check"]
        ),
        apart=lines("apart"),
        causes=tuple(_row(cause) for cause in _first_of_each() if cause.name in row["causes"]),
        act=lines("act"),
        verify=lines("verify"),
        escalate=filled(row["escalate"], known),
    )


def _short(cause: Cause, raised: tuple[Alert, ...]) -> Runbook:
    """Return the runbook of a cause of which the tables alone speak."""
    return Runbook(
        name=cause.name, title=_plain(cause.title), alerts=tuple(_alerts([cause.name], raised)),
        see=(_sentence(_plain(cause.title)),), check=(), apart=(), causes=(_row(cause),),
        act=(_sentence(_plain(cause.fix)),), verify=(_plain(cause.confirm),),
        escalate="It returns after the fix: run weft diagnose on a new bundle.",
    )  # fmt: skip


def _alerts(names: list[str], raised: tuple[Alert, ...]) -> Iterator[AlertNamed]:
    for alert in raised:
        if alert.cause in names:
            yield AlertNamed(name=alert.name, severity=alert.severity, because=alert.because)


def _first_of_each() -> list[Cause]:
    """Return the first row of every cause that is a fault, in the order of the tables."""
    found: dict[str, Cause] = {}
    for cause in causes():
        if not cause.benign:
            found.setdefault(cause.name, cause)
    return list(found.values())


def _row(cause: Cause) -> Row:
    return Row(
        cause=cause.name, title=_plain(cause.title), fix=_plain(cause.fix),
        confirm=_plain(cause.confirm), follows=cause.explains,
    )  # fmt: skip


_WORDS: Mapping[str, str] = {
    "{entities}": "the affected part", "{hosts}": "the host", "{adapter}": "DEVICE",
    "{interface}": "INTERFACE", "{slot}": "SLOT", "{gpu}": "GPU",
}  # fmt: skip


def _plain(text: str) -> str:
    for name, word in _WORDS.items():
        text = text.replace(name, word)
    return text


def _sentence(text: str) -> str:
    """Return a text as a sentence.

    >>> _sentence("reseat the card")
    'Reseat the card.'
    """
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}."
