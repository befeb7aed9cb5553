"""chronyc sources: the time servers of a host, of which one is selected.

The second character of a line is ``*`` for the selected source, ``+`` for one that is combined
with it, ``?`` for one that does not answer [chronyc(1), sources].
"""

from weft.readers.parser import Lines, Parser
from weft.readers.scribe import Scribe

_MODES = "^=#"


def _read(lines: Lines, scribe: Scribe) -> None:
    sources = [line for line in lines if line.text[:1] in _MODES and len(line.text.split()) > 1]
    if sources and not any(line.text[1:2] == "*" for line in sources):
        scribe.state("host.clock_synchronised", False, sources[0], {})  # noqa: FBT003 - its value


chronyc_sources = Parser(
    "chronyc_sources", opens=(r"^MS Name/IP address\s+Stratum\s+Poll\s+Reach",), reads=_read
)
