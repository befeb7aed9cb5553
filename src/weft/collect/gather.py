"""Running the script on hosts: a bundle from each, whole or not at all."""

import os
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from weft.collect.children import GRACE_S, end, hold
from weft.collect.script import LONGEST_S, Wish, script
from weft.collect.way import Way
from weft.errors import SpecError, Unreadable

AT_ONCE: Final = 16
PATIENCE_S: Final = 300
"""Beyond what the script allows itself."""
MOST_BYTES: Final = 1 << 30
"""Of one host's archive."""
_CHUNK_BYTES = 1 << 20
_GZIP = b"\x1f\x8b"
_LAST_WORDS = 2000
_NO_SHELL = re.compile(
    r"exec: \"(?:/bin/)?sh\": |\bstat /bin/sh: no such file|\bsh: (?:command )?not found\s*$"
)
"""How container runtimes and shells on the way say that there is no sh where they are."""
_WITHOUT_SHELL = (
    "there is no shell (sh), so nothing inside was read: no adapters, counters, limits, logs; "
    "collect on its node (--via ssh), or in a container with a shell beside it "
    "(kubectl debug --target)"
)
_STATUS = re.compile(r"command terminated with exit code \d+")
"""What kubectl says below the words of the script."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What came of one host."""

    host: str
    file: str
    """Of its bundle; empty where there is none."""
    size_bytes: int
    took_s: float
    failure: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """The bundles of all hosts, in the order they were named."""

    folder: str
    way: str
    hosts: tuple[Taken, ...]

    @property
    def complete(self) -> bool:
        """Return whether every host gave its bundle."""
        return not any(host.failure for host in self.hosts)


@dataclass(frozen=True, slots=True)
class _Job:
    """The script for one host, and the processes of all of them."""

    words: tuple[str, ...]
    text: str
    host: str
    patience_s: float
    started: "list[subprocess.Popen[bytes]]"
    stopped: threading.Event


def gather(
    wish: Wish,
    way: Way,
    targets: Sequence[str],
    folder: Path,
    tell: Callable[[Taken], None] = lambda _: None,
) -> Gathered:
    """Run the script on each target, some at once, and keep each bundle as ``NAME.tar.gz``.

    Raises:
        SpecError: a target that is no host, or two whose bundles would have one name.
        Unreadable: the folder cannot be written.
    """
    names = {target: _file_name(target) for target in targets}
    if len(set(names.values())) < len(targets):
        raise SpecError(f"hosts: some are named twice: {', '.join(sorted(targets))}")
    commands = {target: way.words(target) for target in targets}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise Unreadable(f"{folder}: cannot be made: {failure.strerror}") from failure

    text, patience_s = script(wish), LONGEST_S + wish.interval_s + PATIENCE_S
    started: list[subprocess.Popen[bytes]] = []
    stopped = threading.Event()

    def take(target: str) -> Taken:
        host = target or "this host"
        job = _Job(commands[target], text, host, patience_s, started, stopped)
        taken = _take(job, folder / names[target])
        tell(taken)
        return taken

    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            hosts = tuple(pool.map(take, targets))
        except (
            BaseException
        ):  # Ctrl-C: each is in a session of its own, so nobody else tells it
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            end(started)
            raise
    return Gathered(folder=str(folder), way=way.title, hosts=hosts)


def _file_name(target: str) -> str:
    return (re.sub(r"[^\w.-]+", "_", target) or "local") + ".tar.gz"


def _take(job: _Job, file: Path) -> Taken:
    """Run the script by one command and keep its archive when it is whole."""
    began = time.monotonic()
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    part = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as kept:
            failure = _run(job, kept)
        size = part.stat().st_size
        if not failure:
            part.replace(file)
    finally:
        part.unlink(missing_ok=True)
    return Taken(
        host=job.host,
        file="" if failure else str(file),
        size_bytes=0 if failure else size,
        took_s=time.monotonic() - began,
        failure=failure,
    )


def _run(job: _Job, kept: IO[bytes]) -> str:
    """Copy what the command writes, bounded in size and time; return why it failed, or ""."""
    ended = threading.Event()
    with tempfile.TemporaryFile() as said:
        try:
            process = subprocess.Popen(  # noqa: S603 - words are checked, no shell takes them
                job.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said,
                start_new_session=True,
            )  # fmt: skip
        except OSError as failure:
            return f"{job.words[0]}: {failure.strerror}"
        job.started.append(process)
        if job.stopped.is_set():
            end([process])
        assert process.stdout is not None
        late = threading.Timer(job.patience_s, end, [[process]])
        late.daemon = True
        late.start()
        asking = threading.Thread(target=hold, args=(process, job.text, ended), daemon=True)
        asking.start()
        try:
            whole = _copy(process, kept)
            process.wait()
        finally:
            late.cancel()
            ended.set()
            end([process])
            asking.join(GRACE_S)
            process.stdout.close()
        said.seek(0)
        words = said.read()[-_LAST_WORDS:].decode("utf-8", "replace")
    if not whole:
        return f"it gave more than {MOST_BYTES} bytes"
    if process.returncode:
        return f"{job.words[0]} exited with code {process.returncode}: {_why(words)}"
    return "" if kept.tell() > len(_GZIP) else "it gave no bundle"


def _why(said: str) -> str:
    r"""Return why a command failed, by its last words.

    >>> _why("weft collect: nothing was collected\ncommand terminated with exit code 127")
    'weft collect: nothing was collected'
    """
    if _NO_SHELL.search(said):
        return _WITHOUT_SHELL
    lines = said.strip().splitlines()
    own = [line for line in lines if not _STATUS.match(line)]
    return (own or lines or ["no word"])[-1]


def _copy(process: "subprocess.Popen[bytes]", kept: IO[bytes]) -> bool:
    """Copy the process's output; stop it when it gives too much."""
    assert process.stdout is not None
    left = MOST_BYTES
    while chunk := process.stdout.read(_CHUNK_BYTES):
        left -= len(chunk)
        if left < 0:
            end([process])
            return False
        kept.write(chunk)
    return True
