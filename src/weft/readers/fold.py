"""Lines of a large log that say again what an earlier one said, found without a pattern.

Most of a log of NCCL are its channels: for every rank the same few transports, over and over.
An INFO line counts as said before where the same process wrote the same text; of a channel
only the transport counts, not which peers it joins.
"""

from typing import Final

_INFO: Final = b" NCCL INFO "
_CHANNEL: Final = b"Channel "
_VIA: Final = b" via "
MOST_KEYS: Final = 1 << 18
"""So many different lines are remembered; those beyond are read each time."""


class Seen:
    """INFO lines of one file that were read before."""

    def __init__(self) -> None:
        """Begin with none."""
        self._keys: set[bytes] = set()

    def repeats(self, raw: bytes) -> bool:
        """Return whether a line says only what an earlier one said."""
        at = raw.find(_INFO)
        if at < 0:
            return False
        key = raw
        if raw.startswith(_CHANNEL, at + len(_INFO)):
            via = raw.rfind(_VIA)
            if via > 0:
                key = raw[:at] + raw[via:]
        if key in self._keys:
            return True
        if len(self._keys) < MOST_KEYS:
            self._keys.add(key)
        return False
