"""Ansible plays and roles: sysctl, limits, modules, commands and variables in their tasks."""

from collections.abc import Iterator
from typing import Final

from weft.lint.document import Tree
from weft.lint.facts import Fact, Option, option
from weft.lint.jobs import job_facts
from weft.lint.names import names
from weft.lint.nics import nic_facts
from weft.lint.part import fact
from weft.lint.reader import File, Reader
from weft.lint.shell import commands_in

_RUNS: Final = tuple(names("ansible.runs"))
_SYSCTL: Final = ("sysctl", "ansible.posix.sysctl")
_LIMITS: Final = ("pam_limits", "community.general.pam_limits")
_MODULES: Final = ("modprobe", "community.general.modprobe")
_COLLECTIONS: Final = ("ansible.builtin.", "ansible.posix.", "community.general.")
"""How the names of modules begin that are written in full."""
_DEEPEST: Final = 6


def _claims(file: File) -> bool:
    return any(_is_play(tree) for tree in file.documents)


def _is_play(tree: Tree) -> bool:
    if not isinstance(tree.value, list):
        return False
    first = next(tree.each(), None)
    keys = set(first.value) if first and isinstance(first.value, dict) else set()
    modules = {*_RUNS, *_SYSCTL, *_LIMITS, *_MODULES, "tasks", "roles", "block"}
    runs = keys & modules or any(str(key).startswith(_COLLECTIONS) for key in keys)
    return bool(runs) and "set" not in keys and bool(keys & {"name", "hosts"})


def _read(file: File) -> Iterator[Fact]:
    for tree in file.documents:
        if isinstance(tree.value, list):
            yield from _tasks(tree, 0)


def _tasks(tree: Tree, depth: int) -> Iterator[Fact]:
    for task in tree.each():
        if not isinstance(task.value, dict) or depth > _DEEPEST:
            continue
        for key in ("tasks", "pre_tasks", "post_tasks", "handlers", "block"):
            yield from _tasks(task[key], depth + 1)
        yield from _task(task)


def _task(task: Tree) -> Iterator[Fact]:
    for key in _RUNS:
        part = task[key]
        text = part.string() or part["cmd"].string()
        if text:
            found = list(commands_in(text, part.at))
            yield from job_facts(found)
            yield from nic_facts(found)
    for part in (task[key] for key in _SYSCTL if task[key]):
        yield fact(Option, part, program="sysctl", name=part["name"], value=part["value"])
    for part in (task[key] for key in _LIMITS if task[key]):
        name = f"{part['limit_item'].string()} {part['limit_type'].string()}"
        value, domain = part["value"].string(), part["domain"].string()
        yield option(part.at, "limits", name, value, device=domain)
    for part in (task[key] for key in _MODULES if task[key]):
        state = "remove" if part["state"].string() == "absent" else "load"
        yield option(part.at, "modules", part["name"].string().replace("-", "_"), state)


ansible = Reader(title="Ansible", claims=_claims, read=_read)
