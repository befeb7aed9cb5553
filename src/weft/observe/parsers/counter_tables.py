"""Tables of counters that sites keep of their ports: a heading, then one row a reading.

Columns are separated by commas, semicolons, tabs or blanks. A column of a known counter makes
it such a table; columns of a time, a host, an adapter or interface and a port say which.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import Counter
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._ib_counters import kernel_name, saturated
from weft.observe.parsers._values import integer

_COUNTED = re.compile(
    r"(?:symbol_error|link_(?:downed|error_recovery)|port_(?:rcv|xmit)_\w+|VL15_dropped|"
    r"local_link_integrity_errors|excessive_buffer_overrun_errors|out_of_sequence|"
    r"packet_seq_err|local_ack_timeout_err|rnr_nak_retry_err|implied_nak_seq_err|"
    r"duplicate_request|(?:np|rp)_\w+|(?:rx|tx)_(?:prio\d_)?\w+|carrier_changes)$"
)
_SAYS = {
    "time": re.compile(r"(?:time(?:stamp)?|date|datetime|ts|when|clock|epoch)$"),
    "host": re.compile(r"(?:host(?:name)?|node(?:name)?|server|machine)$"),
    "where": re.compile(
        r"(?:hca|ca|dev(?:ice)?|adapter|nic|ibdev|ib_dev(?:ice)?|rdma_dev(?:ice)?|"
        r"iface|interface|netdev|ifname)$"
    ),
    "port": re.compile(r"port(?:_?(?:num|number|id))?$"),
}
_NAME = re.compile(r"[A-Za-z]\w{1,60}$")
_CELLS = re.compile(r"[,;\t ]+")
_FEWEST, _MOST = 3, 40
"""Columns of a table; what has more is another tool's."""
_MOST_PLACES = 4096


@dataclass(slots=True)
class _Reader:
    """Remembers the heading, and which reading of each port comes next."""

    source: Source
    columns: tuple[str, ...] = ()
    says: dict[str, int] = field(default_factory=dict)
    times: dict[tuple[str, str, str], tuple[str, int]] = field(default_factory=dict)

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the counters of a row, where a heading of counters stood above."""
        heading = self._heading(text)
        if heading is not None:
            return heading
        cells = _CELLS.split(text.strip(" #\t,;"), _MOST) if self.columns else []
        if not self.columns or len(cells) != len(self.columns):
            self.columns = ()
            return None
        return self._row(cells, text, number)

    def end(self) -> Iterable[Fact]:
        """Forget the heading."""
        self.columns, self.says = (), {}
        return READ

    def _heading(self, text: str) -> Sequence[Fact] | None:
        names = _CELLS.split(text.strip(" #\t,;"), _MOST)
        if not _FEWEST <= len(names) <= _MOST or not all(map(_NAME.match, names)):
            return None
        columns = tuple(kernel_name(one) for one in names)
        says = {
            what: place
            for place, name in enumerate(names)
            for what, form in _SAYS.items()
            if form.match(name.lower())
        }
        counted = any(_COUNTED.match(one) for one in columns)
        if not counted or not says.keys() & {"time", "host", "where"}:
            return None
        self.columns, self.says, self.times = columns, says, {}
        return READ

    def _row(self, cells: list[str], text: str, number: int) -> Sequence[Fact] | None:
        told = {what: cells[place] for what, place in self.says.items()}
        values = [
            (name, value) for name, cell in zip(self.columns, cells, strict=True)
            if _COUNTED.match(name) and (value := integer(cell)) is not None
        ]  # fmt: skip
        if not values:
            return None
        host, where = told.get("host", self.source.host), told.get("where", "")
        sample = self._reading(host, where, told.get("port", ""), told.get("time", ""))
        evidence = self.source.evidence(text, number)
        return tuple(
            Counter(
                where=where, port=integer(told.get("port")), name=name, value=value,
                saturated=saturated(name, value), sample=sample, host=host, evidence=evidence,
            )
            for name, value in values
        )  # fmt: skip

    def _reading(self, host: str, where: str, port: str, time: str) -> int | None:
        """Return which reading of a port a row is; without times all are one."""
        if not time:
            return None
        before, count = self.times.get((host, where, port), ("", -1))
        count += time != before
        if len(self.times) < _MOST_PLACES:
            self.times[host, where, port] = (time, count)
        return count


counter_tables = Parser(
    tool="tables of counters",
    marks=(
        "symbol_error", "link_downed", "link_error_recovery", "port_rcv", "port_xmit",
        "out_of_sequence", "packet_seq_err", "local_ack_timeout", "SymbolError", "LinkDowned",
        "rx_prio", "tx_prio", "rx_discards", "np_cnp", "rp_cnp",
    ),
    reader=_Reader,
    rank=40,
)  # fmt: skip
