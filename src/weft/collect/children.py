"""Ending the processes that were started, with all that they started themselves."""

import os
import signal
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Sequence

GRACE_S: Final = 3.0
"""What a process is given to end by itself."""
_POLL_S: Final = 0.05


def end(processes: "Sequence[subprocess.Popen[bytes]]", grace_s: float = GRACE_S) -> None:
    """End what still runs, politely and then not; each must lead a session of its own."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        left = [one for one in processes if one.poll() is None]
        for one in left:
            _signal(one, sign)
        until = time.monotonic() + grace_s
        while any(one.poll() is None for one in left) and time.monotonic() < until:
            time.sleep(_POLL_S)


def _signal(process: "subprocess.Popen[bytes]", sign: signal.Signals) -> None:
    try:
        os.killpg(process.pid, sign)  # its own session, so its own group
    except (ProcessLookupError, PermissionError):
        process.kill()
