"""Leaving in order when told to: what was started is ended, what was begun is removed."""

import signal
import sys
from types import FrameType
from typing import Final

_ORDERS: Final = ("SIGTERM", "SIGHUP")
"""By name: not every system has the second."""
_ASKED: Final = 128
"""Added to the number of a signal, it is the exit code that shells give."""


def leave_in_order() -> None:
    """Unwind on SIGTERM and SIGHUP as on Ctrl-C; leave alone what nohup and others chose."""
    for name in _ORDERS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _leave)


def _leave(number: int, frame: FrameType | None) -> None:
    del frame
    sys.exit(_ASKED + number)
