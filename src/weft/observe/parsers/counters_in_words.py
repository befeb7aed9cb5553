"""Counters of adapters that somebody picked out and put into a sentence or a list of his own.

The kernel's names are kept in such lists: ``packet_seq_err=220118``, ``rx_discards_phy 12``.
"""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import Counter
from weft.observe.parser import Parser
from weft.observe.patterns import Line, words

_ONE = re.compile(
    r"\b(?P<name>packet_seq_err|out_of_sequence|local_ack_timeout_err|implied_nak_seq_err|"
    r"roce_adp_retrans|rx_out_of_buffer|out_of_buffer|rx_discards_phy|rx_prio\d_discards)\b"
    r"[\s:=+\"]{1,8}(?P<value>\d{1,15}(?:,\d{3})*)\b(?![.\d]| ?%)"
)


def _counters(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    return [
        Counter(
            where="",
            name=one["name"],
            value=int(one["value"].replace(",", "")),
            host=line.host,
            evidence=line.evidence,
        )
        for one in _ONE.finditer(line.text)
    ]


counters_in_words = Parser(
    tool="counters in words",
    marks=(
        "packet_seq_err", "out_of_sequence", "local_ack_timeout_err", "implied_nak_seq_err",
        "roce_adp_retrans", "out_of_buffer", "rx_discards_phy", "_discards",
    ),
    reader=words((_ONE, _counters)),
    rank=88,
    longest=512,
)  # fmt: skip
