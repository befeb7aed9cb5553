"""The table and the JSON that nccl-tests and rccl-tests print (all_reduce_perf and friends).

The time column is in microseconds and the bandwidth columns are in GB/s (10^9 bytes).
The operation is named by newer versions, else by the command or the file; lines of other
programs may stand between the rows.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.benchmarks import (
    BenchmarkRank,
    BenchmarkRun,
    BenchmarkSummary,
    MeasuredCollective,
)
from weft.observe.facts.communicators import CommunicatorShape
from weft.observe.facts.programs import Message
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer, real

_MICRO = 1e-6
_GIGA = 1e9
_ROW = re.compile(
    r"\s*(?P<size>\d+)\s+(?P<count>\d+)\s+(?P<type>[a-z]\w+)\s+(?:(?P<redop>[a-z]\w*)\s+)?"
    r"(?:(?P<root>-?\d+)\s+)?(?P<out>[\d.]+\s+[\d.]+\s+[\d.]+(?:\s+(?:[\d.e+-]+|N/A))?)"
    r"(?P<in>\s+[\d.]+\s+[\d.]+\s+[\d.]+(?:\s+(?:[\d.e+-]+|N/A))?)?\s*$"
)
_OPTIONS = re.compile(r"#? ?nThread (?P<options>.*)")
_OPTION = re.compile(r"(\w+(?: \w+)?):? (-?\d+(?:\(\w+\))?)")
_RANK = re.compile(
    r"#\s+Rank\s+(?P<rank>\d+)\s+(?:Group\s+\d+\s+)?Pid\s+(?P<pid>\d+)\s+on\s+(?P<host>\S+)\s+"
    r"device\s+(?P<gpu>\d+)\s+\[(?P<bus>[^\]]+)\]\s*(?P<name>.*)"
)
_BOUNDS = re.compile(r"# Out of bounds values : (?P<count>\d+) (?P<ok>OK|FAILED)")
_AVERAGE = re.compile(r"# Avg bus bandwidth\s*:\s*(?P<rate>[\d.]+)")
_VERSION = re.compile(r"# (?P<name>[nr]ccl-tests) version:? (?P<version>\S+)")
_STARTING = re.compile(r"# Collective test starting: (?P<name>\w+)")
_CONCLUDED = re.compile(r"#? ?Collective test concluded: (?P<name>\w+)")
_FAILED = re.compile(r"(?:.*: )?Test (?:NCCL|CUDA) failure (?P<place>\S+) (?P<text>.*)")
_FAILED_AT = re.compile(r"\s*\.\. \S+ pid \d+: Test failure")
_HEADING = re.compile(r"#(?:\s|$)")
_NAMED = re.compile(
    r"(?P<name>all_?reduce|all_?gather|reduce_?scatter|all_?to_?allv?|broadcast|reduce"
    r"|sendrecv|"
    r"gather|scatter|hypercube)_perf",
    re.IGNORECASE,
)
_NAMES = {
    "allreduce": "all_reduce",
    "allgather": "all_gather",
    "reducescatter": "reduce_scatter",
}
_NAMES |= {"alltoall": "all_to_all", "alltoallv": "all_to_all", "sendrecv": "send_receive"}
_HEADINGS = ("out-of-place", "redop", "(elements)", "Using devices", "nThread", "NCCL Tests")


def operation(text: str) -> str:
    """Return the operation a program's name says, ``""`` when it says none.

    >>> operation("./build/alltoall_perf -b 8"), operation("run.txt")
    ('all_to_all', '')
    """
    found = _NAMED.search(text)
    if not found:
        return ""
    name = found["name"].lower().replace("_", "")
    return _NAMES.get(name, name)


@dataclass(slots=True)
class _Reader:
    """Reads the table of one run after another."""

    source: Source
    operation: str = ""
    ranks: int = 0
    inside: bool = False

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line of the table or of what stands around it."""
        row = _ROW.match(text)
        if row:
            return self._row(row, text, number)
        for expression, state in _LINES:
            found = expression.match(text)
            if found:
                return state(self, found, text, number)
        if _HEADING.match(text) and (self.inside or any(h in text for h in _HEADINGS)):
            self.inside = True
            return READ
        return None

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ

    def _row(self, row: "re.Match[str]", text: str, number: int) -> Sequence[Fact]:
        out = self._measured(row, row["out"], text, number, in_place=False)
        into = row["in"]
        inside = self._measured(row, into, text, number, in_place=True) if into else ()
        return (*out, *inside)

    def _measured(
        self, row: "re.Match[str]", columns: str, text: str, number: int, *, in_place: bool
    ) -> Sequence[Fact]:
        time, algbw, busbw, *wrong = columns.split()
        time_us = real(time)
        if time_us is None:
            return READ
        named = self.operation or operation(f"{self.source.command} {self.source.file}")
        return (
            MeasuredCollective(
                operation=named,
                size_bytes=int(row["size"]),
                time_s=time_us * _MICRO,
                algbw_bytes_per_s=_rate(algbw),
                busbw_bytes_per_s=_rate(busbw),
                in_place=in_place,
                elements=int(row["count"]),
                datatype=row["type"],
                reduction="" if row["redop"] in (None, "none") else row["redop"],
                root=integer(row["root"]),
                wrong=integer(wrong[0]) if wrong else None,
                ranks=self.ranks or None,
                evidence=self.source.evidence(text, number),
            ),
        )

    def begun(self, found: "re.Match[str]", text: str, number: int) -> Sequence[Fact]:
        """State the options of a run."""
        self.inside, self.ranks = True, 0
        options = tuple(_OPTION.findall(f"nThread {found['options']}"))
        named = self.operation or operation(f"{self.source.command} {self.source.file}")
        return (
            BenchmarkRun(
                benchmark="nccl-tests",
                operation=named,
                options=tuple((name.strip(), value) for name, value in options),
                evidence=self.source.evidence(text, number),
            ),
        )

    def named(self, found: "re.Match[str]", text: str, number: int) -> Sequence[Fact]:
        """Remember which collective is tested."""
        del text, number
        self.inside, self.operation = True, operation(found["name"])
        return READ

    def versioned(self, found: "re.Match[str]", text: str, number: int) -> Sequence[Fact]:
        """State the version of the benchmark."""
        self.inside = True
        return (
            BenchmarkRun(
                benchmark=found["name"],
                version=found["version"],
                evidence=self.source.evidence(text, number),
            ),
        )

    def rank(self, found: "re.Match[str]", text: str, number: int) -> Sequence[Fact]:
        """State where a rank runs."""
        self.inside = True
        self.ranks = max(self.ranks, int(found["rank"]) + 1)
        return (
            BenchmarkRank(
                rank=int(found["rank"]),
                host=found["host"],
                pid=int(found["pid"]),
                gpu=int(found["gpu"]),
                bus_id=found["bus"],
                gpu_name=found["name"].strip(),
                evidence=self.source.evidence(text, number),
            ),
        )

    def bounds(self, found: "re.Match[str]", text: str, number: int) -> Sequence[Fact]:
        """State whether the values were right."""
        return (
            BenchmarkSummary(
                out_of_bounds=int(found["count"]),
                ok=found["ok"] == "OK",
                evidence=self.source.evidence(text, number),
            ),
        )

    def average(self, found: "re.Match[str]", text: str, number: int) -> Sequence[Fact]:
        """State the mean over the sweep."""
        self.operation = ""
        return (
            BenchmarkSummary(
                average_busbw_bytes_per_s=_rate(found["rate"]),
                evidence=self.source.evidence(text, number),
            ),
        )

    def failed(self, found: "re.Match[str]", text: str, number: int) -> Sequence[Fact]:
        """State that the benchmark ended in an error."""
        return (
            Message(
                software="nccl-tests",
                level="error",
                text=found["text"].strip(),
                place=found["place"],
                evidence=self.source.evidence(text, number),
            ),
        )

    def passed(self, found: "re.Match[str]", text: str, number: int) -> Sequence[Fact]:
        """Understand a line that states nothing."""
        del found, text, number
        return READ


def _rate(text: str) -> float | None:
    value = real(text)
    return None if value is None else value * _GIGA


_LINES = (
    (_RANK, _Reader.rank),
    (_OPTIONS, _Reader.begun),
    (_VERSION, _Reader.versioned),
    (_STARTING, _Reader.named),
    (_CONCLUDED, _Reader.passed),
    (_BOUNDS, _Reader.bounds),
    (_AVERAGE, _Reader.average),
    (_FAILED, _Reader.failed),
    (_FAILED_AT, _Reader.passed),
)


_RCCL = {"name", "size", "time", "algBw", "busBw"}


def _document(value: object, source: Source, number: int) -> Iterable[Fact] | None:
    """Return the rows of a JSON report: of nccl-tests an object, of rccl-tests a list."""
    if isinstance(value, list):
        rows = [one for one in value if isinstance(one, dict) and one.keys() >= _RCCL]
        shape = _shape(rows[0], source, number) if rows else []
        return shape + [fact for row in rows for fact in _flat(row, source, number)] or None
    if not isinstance(value, dict) or not isinstance(value.get("results"), list):
        return None
    config = value.get("config")
    if not isinstance(config, dict) and "nccl" not in str(value.keys()).lower():
        return None
    return list(_rows(value, source, number))


def _shape(row: dict[str, object], source: Source, number: int) -> list[Fact]:
    """Return that rccl-tests ran, and how its ranks lie on hosts where it says."""
    hosts = integer(row.get("nodes"))
    where = source.evidence(f"{row}", number)
    begun = BenchmarkRun(benchmark="rccl-tests", evidence=where)
    if not hosts:
        return [begun]
    return [
        begun,
        CommunicatorShape(
            ranks=integer(row.get("ranks")), hosts=hosts,
            local_ranks=integer(row.get("ranksPerNode")),
            evidence=where,
        ),
    ]  # fmt: skip


def _flat(row: dict[str, object], source: Source, number: int) -> Iterable[Fact]:
    """Return a row of rccl-tests (``-Z json``), one for each place."""
    in_place = bool(integer(row.get("inPlace")))
    cell = {"time": row["time"], "algbw": row["algBw"], "busbw": row["busBw"]}
    cell["wrong"] = row.get("wrong")
    key = "in_place" if in_place else "out_of_place"
    spelt = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(row["name"])[:80]).lower()
    named = operation(spelt) or spelt
    ranks = integer(row.get("ranks"))
    shown = source.evidence(f"{row}", number)
    yield from _cell({**row, key: cell}, (key, in_place), named, ranks, shown)


def _rows(value: dict[str, object], source: Source, number: int) -> Iterable[Fact]:
    named = operation(f"{value.get('test_name') or value.get('config') or ''}") or operation(
        f"{value}"[:4000]
    )
    results = value["results"]
    assert isinstance(results, list)
    devices = value.get("devices")
    ranks = len(devices) if isinstance(devices, list) else None
    yield from _devices(devices, source, number)
    for row in results:
        if isinstance(row, dict):
            for key, in_place in (("out_of_place", False), ("in_place", True)):
                yield from _cell(
                    row,
                    (key, in_place),
                    named,
                    ranks,
                    source.evidence(f"{key} {row.get(key)}", number),
                )


def _devices(devices: object, source: Source, number: int) -> Iterable[Fact]:
    for place, device in enumerate(devices if isinstance(devices, list) else ()):
        if isinstance(device, dict):
            rank = integer(device.get("rank"))
            yield BenchmarkRank(
                rank=place if rank is None else rank,
                host=str(device.get("hostname", "")),
                gpu=integer(device.get("device")),
                gpu_name=str(device.get("device_info", "")),
                evidence=source.evidence(f"device {device}", number),
            )


def _cell(
    row: dict[str, object],
    place: tuple[str, bool],
    named: str,
    ranks: int | None,
    evidence: Evidence,
) -> Iterable[Fact]:
    key, in_place = place
    cell = row.get(key)
    if not isinstance(cell, dict):
        return
    time_us = real(cell.get("p50_us")) or real(cell.get("time", cell.get("time_us")))
    size = integer(row.get("size", row.get("size_bytes")))
    if time_us is None or size is None:
        return
    algbw, busbw = (
        real(cell.get("alg_bw", cell.get("algbw"))),
        real(cell.get("bus_bw", cell.get("busbw"))),
    )
    yield MeasuredCollective(
        operation=named,
        size_bytes=size,
        time_s=time_us * _MICRO,
        algbw_bytes_per_s=None if algbw is None else algbw * _GIGA,
        busbw_bytes_per_s=None if busbw is None else busbw * _GIGA,
        in_place=in_place,
        elements=integer(row.get("count")),
        datatype=str(row.get("type", "")),
        reduction=str(row.get("redop", "")).removeprefix("none"),
        wrong=integer(cell.get("nwrong", cell.get("wrong"))),
        ranks=ranks,
        evidence=evidence,
    )


nccl_tests = Parser(
    tool="nccl-tests",
    marks=(
        "#  Rank",
        "#   Rank",
        "nThread",
        "out-of-place",
        "# Avg bus",
        "Collective test",
        "float ",
        "int8 ",
        "half ",
        "bfloat16 ",
        "double ",
        "uint8 ",
        "int32 ",
        "f8e",
        "Test NCCL failure",
        "Test CUDA failure",
        "# Out of bounds",
    ),
    reader=_Reader,
    document=_document,
    rank=12,
)
