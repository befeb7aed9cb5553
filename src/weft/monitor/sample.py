"""One look at a host: the files that `weft collect` reads counters from, as one text.

A line is ``PATH:VALUE``, as ``grep`` prints it, so the readers of the doctor understand it.
The files are foreign: a pipe, a device, a file that vanished or that is not text is passed
over, and of a long one the beginning counts.
"""

import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import re2

from weft.collect.probe import INTERFACES, Command, all_probes
from weft.inventory.inventory import Inventory
from weft.readers.read import read

LONGEST_VALUE: Final = 4096
"""Bytes that are read of one file; the kernel's values are shorter."""
MOST_FILES: Final = 20_000
MOST_OUTPUT: Final = 4 << 20
COMMAND_S: Final = 10.0
_TEXT: Final = re2.compile(rb"[\t\x20-\x7e]*")
"""What the kernel writes; a line with anything else would make the whole sample no text."""
_STATES: Final = (
    "/sys/class/infiniband/*/ports/*/state",
    "/sys/class/infiniband/*/ports/*/phys_state",
    "/sys/class/infiniband/*/ports/*/rate",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The host to look at: its file system below ``root``, and which commands may be run."""

    root: Path = Path("/")
    commands: bool = True
    fabric: bool = False
    """Whether it also asks what one host asks for all, as the state of NCCL's communicators."""


def sampled(host: Host) -> Inventory:
    """Look at a host once; return what its files and tools show."""
    with tempfile.TemporaryDirectory(prefix="weft-monitor-") as folder:
        place = Path(folder)
        (place / "sysfs.txt").write_bytes(b"".join(_lines(host)))
        if host.commands and host.root == Path("/"):
            (place / "tools.txt").write_bytes(b"".join(_outputs(host)))
        return read(place)


def _counters(*, fabric: bool) -> Iterator[Command]:
    for probe in all_probes():
        if fabric or not probe.fabric:
            yield from probe.counters


def _patterns() -> Iterator[str]:
    yield from _STATES
    for command in _counters(fabric=False):
        yield from (file for file in command.files if file.startswith("/sys/"))


def _lines(host: Host) -> Iterator[bytes]:
    count = 0
    for pattern in _patterns():
        for path in sorted(host.root.glob(pattern.lstrip("/"))):
            count += 1
            if count > MOST_FILES:
                return
            name = os.fsencode("/" / path.relative_to(host.root))
            for value in _value(path).splitlines():
                line = name + b":" + value
                if _TEXT.fullmatch(line):
                    yield line + b"\n"


def _value(path: Path) -> bytes:
    """Return the beginning of a regular file; nothing where it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return b""
        return os.read(descriptor, LONGEST_VALUE)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def _outputs(host: Host) -> Iterator[bytes]:
    """Yield the outputs of the tools that show counters, each below its command line."""
    for command in _counters(fabric=host.fabric):
        if command.files or shutil.which(command.words.split()[0]) is None:
            continue
        for name in _interfaces(host) if command.is_repeated else ("",):
            words = [name if word == "{}" else word for word in command.words.split()]
            yield f"$ {' '.join(words)}\n".encode() + _run(words) + b"\n"


def _interfaces(host: Host) -> Sequence[str]:
    found = sorted(host.root.glob(INTERFACES.lstrip("/")))
    return [path.parent.name for path in found if not path.parent.name.startswith("-")]


def _run(words: Sequence[str]) -> bytes:
    try:
        done = subprocess.run(  # noqa: S603 - words of weft's own table and names of sysfs
            words, capture_output=True, timeout=COMMAND_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return b""
    return done.stdout[:MOST_OUTPUT]
