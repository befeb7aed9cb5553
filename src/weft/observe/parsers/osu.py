"""OSU micro-benchmarks: bandwidth and latency by size."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Fact
from weft.observe.facts.benchmarks import BenchmarkRun, MeasuredLatency, MeasuredTransfer
from weft.observe.parser import READ, Parser, Source

_MICRO = 1e-6
_MEGA = 1e6
_BOTH = 2
_TITLE = re.compile(r"# OSU (?P<name>.*?Test)(?: v(?P<version>\S+))?")
_HEADING = re.compile(r"# Size\s+(?P<columns>.*)")
_ROW = re.compile(r"(?P<size>\d+)\s+(?P<values>[\d.]+(?:\s+[\d.]+){0,6})(?:\s+Pass)?\s*$")
_CCL = re.compile(r"\b[xnr]ccl", re.IGNORECASE)
"""Tests of the collective library of the GPUs in place of MPI's collectives."""
_NOTE = re.compile(r"# (?:Datatype|Send Buffer|Benchmark Type|Overall|Avg)")


@dataclass(slots=True)
class _Reader:
    """Reads the rows below a title and a heading."""

    source: Source
    name: str = ""
    columns: str = ""
    benchmark: str = "OSU"

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        title = _TITLE.match(text)
        if title:
            self.name, self.columns = title["name"], ""
            self.benchmark = "OSU over NCCL" if _CCL.search(self.name) else "OSU"
            run = BenchmarkRun(
                benchmark="OSU",
                operation=_operation(self.name),
                version=title["version"] or "",
                evidence=self.source.evidence(text, number),
            )
            return (run,)
        heading = _HEADING.match(text) if self.name else None
        if heading:
            self.columns = heading["columns"]
            return READ
        row = _ROW.match(text) if self.columns else None
        if row:
            return self._row(row, text, number)
        return READ if self.name and _NOTE.match(text) else None

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ

    def _row(self, row: "re.Match[str]", text: str, number: int) -> Sequence[Fact]:
        values = [float(one) for one in row["values"].split()]
        evidence = self.source.evidence(text, number)
        size, operation = int(row["size"]), _operation(self.name)
        if "Bandwidth" in self.columns or "MB/s" in self.columns:
            return (
                MeasuredTransfer(
                    operation=operation,
                    size_bytes=size,
                    average_bytes_per_s=values[0] * _MEGA,
                    benchmark=self.benchmark,
                    evidence=evidence,
                ),
            )
        extremes = values[1:3] if "Min" in self.columns else []
        low, high = extremes if len(extremes) == _BOTH else (None, None)
        return (
            MeasuredLatency(
                operation=operation,
                size_bytes=size,
                average_s=values[0] * _MICRO,
                minimum_s=None if low is None else low * _MICRO,
                maximum_s=None if high is None else high * _MICRO,
                benchmark=self.benchmark,
                evidence=evidence,
            ),
        )


def _operation(name: str) -> str:
    """Return the short name of a test.

    >>> _operation("MPI-CUDA Allreduce Latency Test")
    'allreduce latency'
    """
    words = name.removesuffix("Test").lower().split()
    libraries = ("mpi", "xccl", "nccl", "rccl")
    return " ".join(word for word in words if not word.startswith(libraries))


osu = Parser(tool="OSU micro-benchmarks", marks=("# OSU ", "# Size "), reader=_Reader, rank=30)
