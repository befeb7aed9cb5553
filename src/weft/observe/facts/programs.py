"""What any program of a job or host says of itself, and how it ends."""

from dataclasses import dataclass

from weft.observe.facts.base import NOBODY, Evidence, Moment, Process


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftwareVersion:
    """A library, driver, firmware or kernel named its version."""

    software: str
    version: str
    built_for: str = ""
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A variable or option in force; ``origin`` is environment, file, command or program."""

    name: str
    value: str
    origin: str = "environment"
    ignored: bool = False
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A line a program wrote that is no other fact; ``level`` is error, warning or info.

    ``software`` is who wrote it, ``place`` is the file and line in its source.
    """

    software: str
    level: str
    text: str
    place: str = ""
    moment: Moment | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command somebody typed before the output, with the host of the prompt."""

    command: str
    host: str = ""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessEnded:
    """A process died: ``how`` is oom, signal, segfault, bus error, exception, exit or killed.

    It is ``killed`` where somebody notes that he killed it, or has a harness do so.

    ``by_kernel`` where the kernel's log tells it, which tells of every process of a host; the
    rest is told by the job, its launcher or its scheduler.
    """

    how: str
    pid: int | None = None
    name: str = ""
    signal: int | None = None
    exit_code: int | None = None
    rank: int | None = None
    by_kernel: bool = False
    host: str = ""
    moment: Moment | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRaised:
    """A program raised an exception of its own, which nobody caught."""

    name: str
    rank: int | None = None
    host: str = ""
    moment: Moment | None = None
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadAt:
    """What a process does: its main thread by the stack of Python, or of the kernel.

    ``kind`` is "collective", "storage", "loader" (the next batch) or "other".
    """

    kind: str
    function: str = ""
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageFailed:
    """Reading or writing a file failed (28: no space left; 122: quota; 5: input or output)."""

    errno: int | None = None
    error: str = ""
    path: str = ""
    server: str = ""
    moment: Moment | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageAnswers:
    """A server of files that had not answered does so again."""

    server: str
    moment: Moment | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedMemoryFailed:
    """A segment of shared memory could not be made or opened."""

    segment: str = ""
    size_bytes: int | None = None
    errno: int | None = None
    error: str = ""
    process: Process = NOBODY
    evidence: Evidence
