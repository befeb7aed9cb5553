"""perftest (``ib_write_bw``, ``ib_send_lat`` and relatives): setup, rows, errors.

The table's heading gives the unit; the operation is in the title or the command.
"""

import errno
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft import units
from weft.observe.facts.adapters import AdapterPort
from weft.observe.facts.base import Evidence, Fact, LinkLayer
from weft.observe.facts.benchmarks import MeasuredLatency, MeasuredTransfer, TransferSetup
from weft.observe.facts.programs import Message
from weft.observe.facts.verbs import CallFailed, CompletionError
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer, layer, real, state

_MICRO = 1e-6
_MEGA = 1e6
_MEBI = 2**20
_TITLE = re.compile(

        r"\s+(?:RDMA_)?(?P<kind>Write|Read|Send|Atomic|raw_ethernet)\w* ?(?:Bidirectional "
        r"|Post List )*"
    r"(?P<what>BW|Latency|Bandwidth)\w* Test", re.IGNORECASE
)  # fmt: skip
_COMMAND = re.compile(r"ib_(?P<kind>write|read|send|atomic)_(?P<what>bw|lat)")
_FIELD = re.compile(
    r"(?P<name>[A-Za-z#][\w .*/()#-]{1,28}?)\s*: (?P<value>\S[^\t]*?)(?=\s{2,}|\t|\s*$)"
)
_FIELDS = frozenset(
    {
        "CQ Moderation",
        "CQE Poll Batch",
        "Connection type",
        "Data ex. method",
        "Device",
        "Dual-port",
        "GID index",
        "Gid index",
        "Link type",
        "Lock-free",
        "Max inline data",
        "Mtu",
        "Number of qps",
        "Outstand reads",
        "PCIe relax order",
        "RX depth",
        "TX depth",
        "Transport type",
        "Use CUDA",
        "Use ROCm",
        "Using DDP",
        "Using Enhanced Reorder",
        "Using SRQ",
        "ibv_wr* API",
        "rdma_cm QPs",
    }
)
_ADDRESS = re.compile(r"\s*(?P<end>local|remote) address: LID (?P<lid>\w+)(?: |$)")
_GID = re.compile(r"\s*GID: (?P<gid>[\d:]+)")
_HEADING = re.compile(r"\s*#bytes\s+#?iterations\s+(?P<columns>.*)")
_ROW = re.compile(
    r"\s*(?P<size>\d+)\s+(?P<iterations>\d+)\s+(?P<values>-?[\d.]+(?:\s+-?[\d.]+){1,12})\s*$"
)
_FAILED = re.compile(
    r"\s*Failed status (?P<status>\d+): wr_id \S+ syndro\w+ (?P<syndrome>0x[0-9a-f]+)"
)
_COMPLETION = re.compile(r"\s*Completion with error at (?P<end>client|server)")
_STATE = re.compile(r"\s*Failed to modify QP (?P<qp>\S+) to (?P<state>RTR|RTS|INIT)")
_TROUBLE = re.compile(
    r"\s*(?:Unexpected CM event|Unable to (?:perform|init|connect|resolve|open|"
    r"Connect)|Couldn't|Failed to|"
    r"Requested size larger|Conflicting CPU frequency|Error, |Error: (?:BW|Msg)|"
    r"Problems with|Sub-Par|"
    r"WARNING: BW peak|Port number \d)"
)
_UNCONNECTED = re.compile(r"\s*Couldn't connect to (?P<peer>\S+:\d+)")
_PORT = re.compile(r"(?:\S{1,80}[#$])?\s*Port number (?P<port>\d{1,3}) state is (?P<state>\w+)")
_ASKED = re.compile(r"\bib_\w+ .*?-d ?(?P<device>[\w.]+)")
_NOISE = re.compile(
    r"\s*(?:\* Waiting for client|initializing CUDA|There are \d+ device|Picking|"
    r"creating CUDA|making it the|cuMemAlloc|allocated GPU|\[pid = |Listing all CUDA|"
    r"device \d+:|scp|Warning: )"
)
_LATENCIES = {
    "t_min[usec]": "minimum_s",
    "t_max[usec]": "maximum_s",
    "t_typical[usec]": "typical_s",
    "t_avg[usec]": "average_s",
    "t_stdev[usec]": "deviation_s",
    "99%": "p99_s",
    "99.9%": "p999_s",
}


@dataclass(slots=True)
class _Reader:
    """Reads a run: its setup until the heading, then its rows."""

    source: Source
    operation: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    ends: dict[str, str] = field(default_factory=dict)
    last_end: str = ""
    where: Evidence | None = None
    columns: str = ""

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        if self.columns:
            row = _ROW.match(text)
            if row:
                return self._row(row, text, number)
        title = _TITLE.match(text)
        if title:
            done = tuple(self._setup())
            self.operation, self.columns = title["kind"].lower(), ""
            return done
        heading = _HEADING.match(text)
        if heading:
            self.columns = heading["columns"]
            return tuple(self._setup())
        return self._around(text, number)

    def end(self) -> Iterable[Fact]:
        """State a setup that no table followed."""
        done = tuple(self._setup())
        self.columns = ""
        return done

    def _around(self, text: str, number: int) -> Sequence[Fact] | None:
        """Read what stands around the table."""
        failed = _FAILED.match(text)
        if failed:
            return (self._failed(failed, text, number),)
        found = [
            (one["name"].strip(), one["value"].strip()) for one in _FIELD.finditer(text[:400])
        ]
        known = {name: value for name, value in found if name in _FIELDS}
        if known:
            self.fields |= known
            self.where = self.source.evidence(text, number)
            return READ
        address = _ADDRESS.match(text)
        if address:
            self.last_end = address["end"]
            self.ends[f"{self.last_end} lid"] = address["lid"]
            return READ
        gid = _GID.match(text)
        if gid and self.last_end:
            self.ends[f"{self.last_end} gid"] = _address(gid["gid"])
            return READ
        return self._trouble(text, number)

    def _trouble(self, text: str, number: int) -> Sequence[Fact] | None:
        evidence = self.source.evidence(text, number)
        modify = _STATE.match(text)
        if modify:
            return (
                CallFailed(
                    call="ibv_modify_qp",
                    next_state=modify["state"],
                    library="perftest",
                    evidence=evidence,
                ),
            )
        if _COMPLETION.match(text) or _NOISE.match(text):
            return READ
        refused = _UNCONNECTED.match(text)
        if refused:
            return (
                CallFailed(
                    call="connect", error="Connection refused", errno=errno.ECONNREFUSED,
                    peer=refused["peer"], library="perftest", evidence=evidence,
                ),
            )  # fmt: skip
        port = _PORT.match(text)
        if port:
            return (
                AdapterPort(
                    adapter=self._device(), port=int(port["port"]), state=state(port["state"]),
                    host=self.source.host, evidence=evidence,
                ),
            )  # fmt: skip
        if _TROUBLE.match(text):
            level = "info" if "CPU freq" in text else "warning"
            return (
                Message(
                    software="perftest", level=level, text=text.strip()[:200], evidence=evidence
                ),
            )
        return None

    def _device(self) -> str:
        """Return the adapter that the command named."""
        asked = _ASKED.search(self.source.command)
        return asked["device"] if asked else self.fields.get("Device", "")

    def _failed(self, found: "re.Match[str]", text: str, number: int) -> CompletionError:
        return CompletionError(
            status=int(found["status"]),
            vendor_error=int(found["syndrome"], 16),
            library="perftest",
            evidence=self.source.evidence(text, number),
        )

    def _named(self) -> str:
        command = _COMMAND.search(f"{self.source.command} {self.source.file}")
        return self.operation or (command["kind"] if command else "")

    def _setup(self) -> Iterable[Fact]:
        value, self.fields = self.fields, {}
        ends, self.ends = self.ends, {}
        if not value or self.where is None:
            return
        gid = value.get("GID index", value.get("Gid index"))
        yield TransferSetup(
            operation=self._named(),
            adapter=value.get("Device", ""),
            link_layer=layer(value["Link type"]) if "Link type" in value else LinkLayer.UNKNOWN,
            mtu_bytes=integer(value.get("Mtu")),
            gid_index=integer(gid),
            connection=value.get("Connection type", ""),
            queue_pairs=integer(value.get("Number of qps")),
            connection_manager=value["rdma_cm QPs"] == "ON" if "rdma_cm QPs" in value else None,
            local_gid=ends.get("local gid", ""),
            remote_gid=ends.get("remote gid", ""),
            local_lid=integer(ends.get("local lid")),
            remote_lid=integer(ends.get("remote lid")),
            evidence=self.where,
        )

    def _row(self, row: "re.Match[str]", text: str, number: int) -> Sequence[Fact]:
        values = [float(one) for one in row["values"].split()]
        evidence = self.source.evidence(text, number)
        if "usec" in self.columns:
            return self._latency(row, values, evidence)
        scale = _scale(self.columns)
        peak, average = (values[0], values[1])
        return (
            MeasuredTransfer(
                operation=self._named(),
                size_bytes=int(row["size"]),
                average_bytes_per_s=average * scale,
                peak_bytes_per_s=peak * scale or None,
                messages_per_s=values[2] * _MEGA if len(values) > 2 else None,  # noqa: PLR2004 - third column
                iterations=int(row["iterations"]),
                benchmark="perftest",
                evidence=evidence,
            ),
        )

    def _latency(
        self, row: "re.Match[str]", values: list[float], evidence: Evidence
    ) -> Sequence[Fact]:
        names = [name for name in re.split(r"\s{2,}|\t|(?<=\]) ", self.columns.strip()) if name]
        found: dict[str, float] = {}
        for name, value in zip(names, values, strict=False):
            known = next((k for k in _LATENCIES if name.strip().startswith(k)), None)
            if "99.9%" in name:
                known = "99.9%"
            if known:
                found[_LATENCIES[known]] = value * _MICRO
        if "average_s" not in found:
            found["average_s"] = values[0] * _MICRO
        return (
            MeasuredLatency(
                operation=self._named(),
                size_bytes=int(row["size"]),
                iterations=int(row["iterations"]),
                benchmark="perftest",
                evidence=evidence,
                **found,
            ),
        )


def _scale(columns: str) -> float:
    """Return bytes a second of one unit of the bandwidth columns; perftest's MB are MiB."""
    return units.rate_from_gbit(1.0) if "Gb/sec" in columns else float(_MEBI)


def _address(decimal: str) -> str:
    """Return a GID printed as decimal bytes in its usual form.

    >>> _address("00:00:00:00:00:00:00:00:00:00:255:255:10:22:116:222")
    '::ffff:10.22.116.222'
    """
    parts = [real(one) for one in decimal.split(":")]
    numbers = [int(one) for one in parts if one is not None]
    if len(numbers) != 16:  # noqa: PLR2004 - bytes of a GID
        return decimal
    if numbers[10:12] == [255, 255]:
        return "::ffff:" + ".".join(map(str, numbers[12:]))
    return ":".join(
        f"{high:02x}{low:02x}" for high, low in zip(numbers[::2], numbers[1::2], strict=True)
    )


perftest = Parser(
    tool="perftest",
    marks=(
        "#bytes",
        "Link type",
        "GID index",
        "TX depth",
        "local address:",
        "Failed status",
        "Completion with error at",
        "CPU frequency",
        "CPU Frequency",
        "larger than port MTU",
        "Unexpected CM event",
        "Port number ",
        "to RTR",
        "rdma_cm QPs",
        "is below ",
        "Couldn't connect to",
    ),
    reader=_Reader,
    rank=30,
)
