"""Shared memory between the ranks of a host is full, or a segment is gone.

What it checks: segments that could not be made (no space) or opened (no such file), and how
full /dev/shm is. Docker gives 64 MB unless told otherwise.
Why it matters: ranks of one host cannot meet, so the job stops at its start.
What to do: --shm-size=1g or --ipc=host; on Kubernetes an emptyDir of medium Memory; remove
segments that crashed runs left in /dev/shm.
References: docker run --shm-size; NCCL troubleshooting, shared memory.
"""

import errno
import re
from collections.abc import Iterator
from dataclasses import replace

from weft.doctor import job
from weft.doctor.rule import Facts, Finding, Rule, Severity, finding
from weft.observe.facts.base import Fact
from weft.observe.facts.hosts import Filesystem
from weft.observe.facts.programs import ProcessEnded, SharedMemoryFailed, StorageFailed
from weft.observe.facts.verbs import CallFailed

_FULL_RATIO = 0.9
_SMALL_BYTES = 1 << 28
_OPENED = frozenset({"open", "shm_open"})
_SEGMENT = re.compile(r"\bshm(?:utils)?\.(?:h|cc):|\bshm_open\b")
"""Where the library opens segments, in lines that do not name one."""
_SIGBUS = 7
"""A page of a mapped file that cannot be had: of /dev/shm, where it is full."""
_SHARED = re.compile(r"/dev/sh[m]|/psm_|\bshm_open\b|\bshm\b|shared.?mem", re.IGNORECASE)
_NO_ROOM = (
    r"shared.?mem.{0,120}(?:no space left|not enough space)|"
    r"/dev/shm\b.{0,40}(?:\bis |\W)full\b|"
    r"shm_open.{0,40}no space left"
)
_NO_SEGMENT = (
    r"shm_open\(.{0,80}no such file|shmat\(.{0,40}(?:invalid argument|identifier removed)|"
    r"no such file.{0,30}/psm_"
)
_LOOK = "df -h /dev/shm; ls /dev/shm | wc -l   # inside the container"


def _check(facts: Facts) -> Iterator[Finding]:
    failed: list[SharedMemoryFailed | CallFailed] = list(facts.of(SharedMemoryFailed))
    failed += [
        one for one in facts.of(CallFailed)
        if "fallocate" in one.call
        or (one.call in _OPENED and _SEGMENT.search(one.evidence.text))
    ]  # fmt: skip
    told: list[Fact] = [*job.said(facts, _NO_ROOM)]
    told += [one for one in facts.of(StorageFailed) if of_shared_memory(one)]
    lost = job.said(facts, _NO_SEGMENT)
    buses: list[Fact] = [one for one in facts.of(ProcessEnded) if one.signal == _SIGBUS]
    mounts: list[Fact] = [
        one
        for one in facts.of(Filesystem)
        if one.mount == "/dev/shm" and _is_tight(one)  # noqa: S108 - a mount point
    ]
    gone = [one for one in failed if _is(one, errno.ENOENT, "no such file") or _unheld(one)]
    full = [one for one in failed if one not in gone]
    if gone and not any(_is(one, errno.ENOSPC, "no space left") for one in full):
        full = []  # what says no reason says it of the same segment
    if full:
        sure = mounts or any(_is(one, errno.ENOSPC, "no space left") for one in full)
        yield _small([*full, *mounts], 0.9 if sure else 0.7)
    elif gone:
        yield _gone(gone)
    elif told:
        yield _small([*told, *mounts], 0.85)
    elif lost:
        yield _not_found(lost)
    elif buses and (mounts or _of_shared_queue(facts)):
        found = _small([*buses, *mounts], 0.8 if mounts else 0.65)
        yield replace(found, explains=found.explains | {"peer-process-died"})
    elif buses and job.began(facts):
        found = replace(_small(buses, 0.6), missing=("df -h /dev/shm inside the container",))
        yield replace(found, explains=found.explains | {"peer-process-died"})
    elif beside := job.said(facts, r"instead of /dev/shm because /dev/shm has only"):
        yield _small([*beside, *mounts], 0.65, Severity.WARNING)
    elif mounts:
        yield _small(mounts, 0.55, Severity.WARNING)


def _gone(failed: list[SharedMemoryFailed | CallFailed]) -> Finding:
    return finding(
        "shm-segment-missing",
        failed,
        0.6 if all(map(_unheld, failed)) else 0.8,
        message="a shared segment is gone before its reader came: it is not that it is full",
        advice="look whether a rank died first, and whether ranks share /dev/shm and IPC",
        next_command=_LOOK,
        missing=("the first error of the other ranks on this host",),
    )


def _not_found(told: list[Fact]) -> Finding:
    return finding(
        "shm-segment-missing",
        told,
        0.7,
        message="a process does not find the shared segment that its fellow made",
        advice="let the containers of a host share /dev/shm and IPC; look who died first",
        next_command=_LOOK,
        explains=("mpi-ucx-not-nccl",),
    )


def of_shared_memory(failed: StorageFailed) -> bool:
    """Return whether what failed is shared memory rather than storage."""
    return bool(_SHARED.search(f"{failed.path} {failed.evidence.text}"))


def _of_shared_queue(facts: Facts) -> bool:
    """Return whether a stack or message of the dying process names shared memory."""
    return bool(job.said(facts, r"\bshm\b|shm_|shared.?memory"))


def _is(failed: SharedMemoryFailed | CallFailed, number: int, words: str) -> bool:
    return failed.errno == number or words in f"{failed.error} {failed.evidence.text}".lower()


def _unheld(failed: SharedMemoryFailed | CallFailed) -> bool:
    """Return whether a reader came to no segment, and the line does not say why."""
    silent = isinstance(failed, SharedMemoryFailed) and not (failed.errno or failed.error)
    return silent and "attaching to" in failed.evidence.text


def _is_tight(mount: Filesystem) -> bool:
    used = mount.used_ratio
    if used is None and mount.size_bytes and mount.used_bytes is not None:
        used = mount.used_bytes / mount.size_bytes
    return (used or 0) >= _FULL_RATIO or (
        mount.size_bytes is not None and mount.size_bytes < _SMALL_BYTES
    )


def _small(
    seen: list[Fact] | list[SharedMemoryFailed | CallFailed],
    confidence_ratio: float,
    severity: Severity = Severity.ERROR,
) -> Finding:
    return finding(
        "shm-too-small",
        seen,
        confidence_ratio,
        severity=severity,
        message="shared memory is too small for the ranks of this host",
        advice="--shm-size=1g or --ipc=host; remove stale segments in /dev/shm",
        next_command=_LOOK,
        explains=("app-storage-stall", "mpi-ucx-not-nccl"),
    )


shared_memory = Rule(causes=("shm-too-small", "shm-segment-missing"), check=_check)
