"""``ibdiagnet2.pm``: the counters of every port of a fabric, a heading and a line for each."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import Counter
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._ib_counters import kernel_name, saturated

_PORT = re.compile(
    r"Port=(?P<port>\d{1,3}) Lid=(?P<lid>0x[0-9a-fA-F]{1,8}|\d{1,6}) "
    r"GUID=(?P<guid>0x[0-9a-fA-F]{1,16})(?: Device=\d{1,8})?(?: Port Name=(?P<name>.{1,160}))?"
    r"\s*$"
)
_FIELD = re.compile(r"(?P<name>[a-z]\w{2,60})=(?P<value>0x[0-9a-fA-F]{1,16}|\d{1,20})\s*$")
_REST = re.compile(r"[a-z]\w{2,60}=(?:NA\b|N/A|-|\S{1,40}\s*$)|-{8,}\s*$")
_NAMES = {
    "link_down_counter": "link_downed", "symbol_error_counter": "symbol_error",
    "link_error_recovery_counter": "link_error_recovery", "vl15_dropped": "VL15_dropped",
    "port_xmit_discard": "port_xmit_discards", "port_rcv_error": "port_rcv_errors",
    "local_link_integrity_error": "local_link_integrity_errors",
    "excessive_buffer_errors": "excessive_buffer_overrun_errors",
    "port_xmit_pkts": "port_xmit_packets", "port_rcv_pkts": "port_rcv_packets",
}  # fmt: skip
_PATH = re.compile(r"/(?:U\d+/)?P?\d+(?:/\d+)*$")


@dataclass(slots=True)
class _Reader:
    """Reads the counters of the port named above."""

    source: Source
    where: str = ""
    port: int | None = None

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the counter of a line."""
        port = _PORT.match(text)
        if port:
            name = port["name"] or ""
            self.where = _PATH.sub("", name) or port["guid"]
            self.port = int(port["port"])
            return READ
        if not self.where:
            return None
        field = _FIELD.match(text)
        if not field:
            return READ if _REST.match(text) else None
        value = int(field["value"], 0)
        name = _NAMES.get(field["name"], kernel_name(field["name"].replace("_", "")))
        if name == field["name"].replace("_", ""):
            name = field["name"].removesuffix("_extended")
        if not value:
            return READ
        return (
            Counter(
                where=self.where, port=self.port, name=name, value=value,
                saturated=saturated(name, value), sample=self.source.sample,
                sampled_s=self.source.sampled_s, host=self.source.host,
                evidence=self.source.evidence(text, number),
            ),
        )  # fmt: skip

    def end(self) -> Iterable[Fact]:
        """Forget the port."""
        self.where, self.port = "", None
        return READ


ibdiagnet_counters = Parser(
    tool="ibdiagnet pm", marks=("Port=", "_counter="), reader=_Reader, rank=45
)
