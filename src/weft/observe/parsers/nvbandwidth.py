"""nvbandwidth: rates of copies between host and GPUs, and the errors it stops at."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from weft.observe.facts.base import Fact
from weft.observe.facts.benchmarks import MeasuredCopy
from weft.observe.facts.programs import Message
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import real

_GIGA = 1e9
_NANO = 1e-9
_RUNNING = re.compile(r"Running (?P<test>\w+)\.")
_TITLE = re.compile(
    r"memcpy .*?\((?P<unit>GB/s|ns)\)|memory latency .*\((?P<ns>ns)\)|.*bandwidth \("
    r"(?P<gb>GB/s)\)"
)
_COLUMNS = re.compile(r"\s+\d+(?:\s+\d+)*\s*$")
_ROW = re.compile(r"\s*(?P<row>\d+)\s+(?P<values>(?:N/A|[\d.]+)(?:\s+(?:N/A|[\d.]+))*)\s*$")
_SUM = re.compile(r"SUM (?P<test>\w+) (?P<value>[\d.]+)")
_FAILED = re.compile(
    r"\s*(?:Invalid value when checking|ASSERT in expression|Current offset|\[.*"
    r"(?:CUDA_ERROR|error).*)"
)
_NOISE = re.compile(
    r"nvbandwidth Version|Built from|MPI version|NOTE:|CUDA (?:Runtime|Driver)|Driver "
    r"Version|Device \d+: |Process \d+|Waived|\s*ERROR:"
)


@dataclass(slots=True)
class _Reader:
    """Reads the matrix of the test that runs."""

    source: Source
    test: str = ""
    unit: str = "GB/s"
    matrix: bool = False

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        running = _RUNNING.match(text)
        if running:
            self.test, self.matrix = running["test"], False
            return READ
        if not self.test:
            return READ if text.startswith("nvbandwidth Version") else None
        if _FAILED.match(text):
            evidence = self.source.evidence(text, number)
            return (
                Message(
                    software="nvbandwidth",
                    level="error",
                    text=text.strip()[:200],
                    place=self.test,
                    evidence=evidence,
                ),
            )
        title = _TITLE.match(text)
        if title:
            self.unit, self.matrix = title["unit"] or title["ns"] or "GB/s", True
            return READ
        if (
            _SUM.match(text)
            or _NOISE.match(text)
            or (self.matrix and _COLUMNS.match(text) and text[:2].isspace())
        ):
            self.matrix = self.matrix and not _SUM.match(text)
            return READ
        row = _ROW.match(text) if self.matrix else None
        return self._row(row, text, number) if row else None

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ

    def _row(self, row: "re.Match[str]", text: str, number: int) -> Sequence[Fact]:
        evidence = self.source.evidence(text, number)
        scaled = [(place, real(one)) for place, one in enumerate(row["values"].split())]
        rated = self.unit == "GB/s"
        return tuple(
            MeasuredCopy(
                test=self.test,
                source=row["row"],
                target=str(place),
                bytes_per_s=value * _GIGA if rated else None,
                latency_s=None if rated else value * _NANO,
                evidence=evidence,
            )
            for place, value in scaled
            if value is not None
        )


def _document(value: object, source: Source, number: int) -> Iterable[Fact] | None:
    """Return the cells of a JSON report (``-j``)."""
    held = value.get("nvbandwidth") if isinstance(value, dict) else None
    cases = held.get("testcases") if isinstance(held, dict) else None
    if not isinstance(cases, list):
        return None
    return [
        fact for one in cases if isinstance(one, dict) for fact in _case(one, source, number)
    ]


def _case(case: dict[str, Any], source: Source, number: int) -> Iterator[Fact]:
    test, status = str(case.get("name", "")), str(case.get("status", ""))
    if status not in {"Passed", "Waived"}:
        text = f"{test}: {status} {case.get('error', '')}".strip()[:200]
        shown = source.evidence(text, number)
        yield Message(
            software="nvbandwidth", level="error", text=text, place=test, evidence=shown
        )
    latency = str(case.get("bandwidth_description", "")).rstrip().endswith("(ns)")
    matrix = case.get("bandwidth_matrix")
    for place, row in enumerate(matrix if isinstance(matrix, list) else []):
        for target, cell in enumerate(row if isinstance(row, list) else []):
            value = real(cell)
            if value is not None:
                yield MeasuredCopy(
                    test=test,
                    source=str(place),
                    target=str(target),
                    bytes_per_s=None if latency else value * _GIGA,
                    latency_s=value * _NANO if latency else None,
                    evidence=source.evidence(f"{test} [{place}][{target}] {cell}", number),
                )


nvbandwidth = Parser(
    tool="nvbandwidth",
    marks=("nvbandwidth", "Running ", "SUM ", "memcpy"),
    reader=_Reader,
    document=_document,
    rank=44,
)
