"""Lossless priorities as dcb of iproute2 and lldptool print them, in the form of mlnx_qos."""

import re2

from weft.readers.line import Line
from weft.readers.parser import Lines, Parser
from weft.readers.scribe import Scribe

_SWITCHED = re2.compile(r"\b([0-7]):(on|off)\b")
_LISTED = re2.compile(r"^\s*PFC enabled:((?: [0-7])*|\s*none)\s*$")


def _read(lines: Lines, scribe: Scribe) -> None:
    for line in lines:
        if line.text.lstrip().startswith("prio-pfc"):
            _state(
                {found for found, said in _SWITCHED.findall(line.text) if said == "on"},
                line,
                scribe,
            )
        elif listed := _LISTED.search(line.text):
            _state(set(listed.group(1).replace("none", "").split()), line, scribe)


def _state(lossless: set[str], line: Line, scribe: Scribe) -> None:
    value = tuple("1" if str(number) in lossless else "0" for number in range(8))
    scribe.state("interface.pfc", value, line, {})


dcb_pfc = Parser("dcb_pfc", opens=(r"^pfc-cap \d", r"^\s*PFC TLV\s*$"), reads=_read)
