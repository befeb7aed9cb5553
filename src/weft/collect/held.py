"""Holding what runs elsewhere: it lives while lines come, and ends when who asked is gone.

Killing ``ssh``, ``kubectl exec`` or ``srun`` ends nothing at the other end, but it closes the
standard input there. A shell that watches it ends itself with all that it started.
"""

from contextlib import suppress
from importlib.resources import files
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import subprocess
    import threading

BEAT_S: Final = 10.0
"""Between two lines that tell the other end that somebody still waits."""
READS: Final = ("sh", "-s", "--")
"""A shell that takes its program, and then those lines, from standard input."""
_MARK: Final = "# <held>\n"


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
