"""What there is to read: each text with its name, host, command and time.

The host comes from the layout of a known bundle (``layouts``), else from the folder: folders
side by side are hosts, unless their names are those of parts of a bundle.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import re2

from weft.errors import Unreadable
from weft.readers.archives import Bounded, Budget, Joined, members
from weft.readers.layouts import owner, owners, placed, series
from weft.readers.untrusted import Bytes

_PARTS: Final = frozenset(
    ("hosts", "nodes", "switches", "logs", "log", "etc", "proc", "sys", "var", "tmp", "output",
     "outputs", "commands", "before", "after", "first", "second", "data", "dump", "run", "usr",
     "fabric", "job", "jobs", "bundle", "report", "sos_commands", "sos_reports", "k8s",
     "kubernetes", "diagnostics", "support", "subnet", "network", "gpu", "nccl", "tests",
     "cluster", "net", "bonding", "class", "devices", "bus", "infiniband", "kubectl", "pods",
     "bench", "benchmarks", "slurm", "scheduler", "storage", "monitoring", "config", "configs",
     "topology")
)  # fmt: skip
"""Folders that do not name a host."""
_OF_JOBS: Final = frozenset(("jobs", "job"))
"""Folders whose folders are jobs, not hosts."""
_SAMPLE: Final = re2.compile(r"^(?:sample|reading|t)_?\d+(?:_at_\d+)?$")
_SEPARATORS: Final = re2.compile(r"[_+]+")


@dataclass(frozen=True, slots=True)
class Place:
    """One text to read."""

    name: str
    stream: Bytes | None = None
    host: str = ""
    title: str = ""
    """The command that wrote it, as far as its name says."""
    sampled_s: float | None = None
    skipped: str = ""
    """Why it cannot be read, if it cannot."""


def places(*paths: Path) -> Iterator[Place]:
    """Yield what there is to read, in the order of names."""
    budget = Budget()
    for path in paths:
        if not path.exists():
            raise Unreadable(f"{path}: there is no such file or folder to read")
        within = f"{path.resolve().name}/" if path.is_dir() else ""
        parent = f"{path.resolve().parent.name}/" if path.is_dir() else ""
        dumps = owners(path) if path.is_dir() else {}
        for member in members(path):
            known = placed(parent + within + member.name)
            host = known.host or owner(member.name, dumps) or _folder(member.name, path)
            budget.members_left -= 1
            if budget.members_left < 0:
                yield Place(str(path), skipped="the rest is more than may be read in all")
                return
            if member.stream is None or budget.bytes_left <= 0:
                why = member.skipped or "more than may be read in all"
                yield Place(member.name, skipped=why)
                continue
            stream = Joined(known.before, Bounded(member.stream, member.limit, budget))
            title = known.command or title_of(member.name)
            yield Place(member.name, stream, host, title, known.sampled_s)


def title_of(name: str) -> str:
    """Return the name of a file as a command line: tools of support name files so."""
    base = Path(name).name
    stem = series(base.rsplit(".", 1)[0] if "." in base else base).replace("@", "")
    return str(_SEPARATORS.sub(" ", stem)).strip()


def _folder(name: str, given: Path) -> str:
    """Return the host that a folder of a file stands for, if one does: the outermost.

    An archive holds one folder of everything as a rule, which is no host.
    """
    folders = name.split("/")[:-1]
    if not given.is_dir() and (len(folders) > 1 or folders[:1] == [given.name.split(".")[0]]):
        folders = folders[1:]
    jobs = [n + 1 for n, folder in enumerate(folders) if folder.lower() in _OF_JOBS]
    found = (folder for n, folder in enumerate(folders) if n not in jobs and _is_host(folder))
    return next(found, "")


def _is_host(name: str) -> bool:
    return name.lower() not in _PARTS and not name.startswith(".") and not _SAMPLE.search(name)
