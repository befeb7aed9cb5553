"""Ending the processes that were started, with all that they started, here or elsewhere.

Killing ``ssh``, ``kubectl exec`` or ``srun`` ends nothing at the other end, but it closes the
standard input there. A shell that watches it lives while lines come, and ends itself with all
that it started when who asked is gone.
"""

import os
import signal
import time
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import subprocess
    import threading
    from collections.abc import Iterator, Sequence

GRACE_S: Final = 3.0
"""What a process is given to end by itself."""
KILLED_S: Final = 60.0
"""What one that was killed is waited for at most; it goes as soon as it is scheduled."""
_POLL_S: Final = 0.05
_ZOMBIE: Final = "Z"
BEAT_S: Final = 10.0
"""Between two lines that tell the other end that somebody still waits."""
READS: Final = ("sh", "-s", "--")
"""A shell that takes its program, and then those lines, from standard input."""
_MARK: Final = "# <held>\n"


def end(processes: "Sequence[subprocess.Popen[bytes]]", grace_s: float = GRACE_S) -> None:
    """End what still runs, politely and then not; each must lead a session of its own."""
    for sign, patience_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, KILLED_S)):
        left = [process for process in processes if _runs(process)]
        for popen in left:
            _signal(popen, sign)
        until = time.monotonic() + patience_s
        while any(_runs(popen) for popen in left) and time.monotonic() < until:
            time.sleep(_POLL_S)


def _runs(process: "subprocess.Popen[bytes]") -> bool:
    """Tell whether a process runs, or one that it left in its session."""
    return process.poll() is None or any(_session(process))


def _session(process: "subprocess.Popen[bytes]") -> "Iterator[int]":
    """Find what lives in a process's session: mpirun gives each rank a group of its own."""
    return (
        number for number, state, session in _states()
        if session == process.pid and state != _ZOMBIE
    )  # fmt: skip


def _states() -> "Iterator[tuple[int, str, int]]":
    """Read state and session of every process, where the system tells (proc(5))."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            said = stat.read_text(encoding="utf-8", errors="replace")
        except OSError:  # it ended meanwhile
            continue
        state, _parent, _group, session, *_ = said.rpartition(")")[2].split()
        yield int(stat.parent.name), state, int(session)


def _signal(process: "subprocess.Popen[bytes]", sign: signal.Signals) -> None:
    try:
        os.killpg(process.pid, sign)  # its own session, so its own group
    except (ProcessLookupError, PermissionError):
        process.kill()
    if sign is signal.SIGKILL:
        for number in _session(process):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(number, sign)


def held(frame: str) -> str:
    """Return a script whose mark became what watches its input."""
    return frame.replace(_MARK, (files("weft.collect") / "held.sh").read_text("utf-8"))


def hold(process: "subprocess.Popen[bytes]", text: str, ended: "threading.Event") -> None:
    """Give the script, then a line now and then until the end: without, it ends itself."""
    assert process.stdin is not None
    with suppress(OSError), process.stdin as given:  # it may end before it has read all
        given.write(text.encode())
        given.flush()
        while not ended.wait(BEAT_S):
            given.write(b"\n")
            given.flush()
