"""Predicates on units of systemd."""

from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from weft.lint.names import names
from weft.lint.rule import Case, Found, grouped, path_of, problem

if TYPE_CHECKING:
    from weft.lint.facts import Option


_LIMITS: Final = tuple(names("systemd.limits"))
_TYPES: Final = frozenset(names("systemd.types"))
_EXECS: Final = tuple(names("systemd.execs"))
_TARGETS: Final = tuple(names("systemd.targets"))
_TOOLS: Final = ("mlnx_qos", "mlxconfig", "roce", "rdma")


def host_unit(case: Case) -> Found:
    for name, rows in grouped(case.options("systemd"), path_of).items():
        starts = [row for row in rows if row.name == "Service.ExecStart"]
        astray = [row for row in rows if row.name.endswith(".ExecStart") and row not in starts]
        if astray:
            yield problem("section", *astray, name=name)
        yield from _limits(rows)
        yield from _service(name, rows, starts)
        yield from _misnamed(case, name, starts)
        yield from _circle(rows)
        if not any(tool in start.value for start in starts for tool in _TOOLS):
            continue
        names = {row.name: row for row in rows}
        if "Install.WantedBy" not in names and "Install.RequiredBy" not in names:
            yield problem("install", *starts, name=name)
        if not {"Unit.After", "Unit.Requires", "Unit.BindsTo"} & names.keys():
            yield problem("early", *starts, name=name)
        kind = names.get("Service.Type")
        if kind and kind.value == "oneshot" and "Service.RemainAfterExit" not in names:
            yield problem("dead", kind, name=name)


def _service(name: str, rows: "list[Option]", starts: "list[Option]") -> Found:
    """Yield what keeps a service from being loaded at all."""
    for row in rows:
        if row.name == "Service.Type" and row.value not in _TYPES:
            yield problem("type", row, name=name)
        elif row.name == "Install.WantedBy" and row.value not in _TARGETS:
            near = get_close_matches(row.value, _TARGETS, n=1, cutoff=0.85)
            if near:
                yield problem("target", row, name=name, near=near)
    for start in starts:
        program = start.value.lstrip("-@+!:|").split(None, 1)[:1]
        if program and "/" in program[0] and program[0][0] not in "/$%":
            yield problem("path", start, name=name, program=program)
    for row in rows:
        own = row.name.removeprefix("Service.")
        if own.startswith("Exec") and own not in _EXECS:
            near = get_close_matches(own, _EXECS, n=1, cutoff=0)
            yield problem("key", row, name=name, own=own, value=near[0])
    service = [row for row in rows if row.name == "Service"]
    unit = name.endswith(".service") and any(row.name == "Unit" for row in rows)
    if unit and service and not any(row.name.startswith("Service.Exec") for row in rows):
        yield problem("nothing", *service, name=name)


def _misnamed(case: Case, name: str, starts: "list[Option]") -> Found:
    """Yield a unit whose script is not among the files while one with almost its name is."""
    files = case.files if starts else frozenset[str]()
    for start in starts:
        words = start.value.lstrip("-@+!:|").split(None, 1)
        program = words[0].rpartition("/")[2] if words else ""
        near = get_close_matches(program, files, n=1, cutoff=0.85) if program else []
        if near and program not in files:
            yield problem("script", start, name=name, program=program, near=near)


def _limits(rows: "list[Option]") -> Found:
    for row in rows:
        section, _, own = row.name.rpartition(".")
        if not own.startswith("Limit"):
            continue
        if not section:
            yield problem("no_section", row, own=own)
        near = get_close_matches(own, _LIMITS, n=1) if own not in _LIMITS else []
        if near:
            yield problem("limit", row, own=own, near=near)


def _circle(rows: "list[Option]") -> Found:
    ahead = (row for row in rows if row.name == "Unit.Before")
    before = {unit: option for option in ahead for unit in option.value.split()}
    for row in rows:
        for unit in row.value.split() if row.name == "Unit.After" else ():
            if unit in before:
                yield problem("circle", row, before[unit], unit=unit)
