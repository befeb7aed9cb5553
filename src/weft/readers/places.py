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

_OF_A_MACHINE: Final = frozenset(("etc", "proc", "sys", "var", "tmp", "run", "usr", "log"))
"""Folders of the root of a machine [Filesystem Hierarchy Standard 3.0, chapters 3 and 5]."""
_OF_THE_KERNEL: Final = frozenset(("class", "devices", "bus", "infiniband", "net", "bonding"))
"""Folders below /sys and /proc [Linux, Documentation/ABI/stable/sysfs-class-infiniband,
Documentation/networking/bonding.rst]."""
_OF_BUNDLES: Final = frozenset(
    ("sos_commands", "sos_reports", "dump", "support", "nodes", "pods", "diagnostics", "hosts")
)
"""Folders of sosreport, of show techsupport of SONiC, of cl-support, of must-gather, of the
Network Operator, and of ``weft collect``: see ``layouts``."""
_BY_HAND: Final = frozenset(
    ("switches", "logs", "data", "output", "outputs", "commands", "before", "after", "first",
     "second", "fabric", "job", "jobs", "bundle", "report", "k8s", "kubernetes", "kubectl",
     "subnet", "network", "gpu", "nccl", "tests", "cluster", "bench", "benchmarks", "slurm",
     "scheduler", "storage", "monitoring", "config", "configs", "topology")
)  # fmt: skip
"""Names of folders that people make around what they copied. No source states them: a host of
one of these names is not told from such a folder."""
_PARTS: Final = _OF_A_MACHINE | _OF_THE_KERNEL | _OF_BUNDLES | _BY_HAND
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
    rank: str = ""
    """The rank of a job that wrote it."""
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
            yield Place(member.name, stream, host, known.rank, title, known.sampled_s)


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
