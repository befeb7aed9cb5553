"""The table of plain ``nvidia-smi``: driver, GPUs, processes."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Evidence, Fact
from weft.observe.facts.gpus import GpuReading, GpuSeen, GpuUnreachable
from weft.observe.facts.programs import SoftwareVersion
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer, real

_MEBI = 2**20
_HEAD = re.compile(
    r"\| NVIDIA-SMI (?P<smi>\S+) +(?:KMD Version|Driver Version): (?P<driver>\S+)"
    r"(?: +CUDA (?:UMD )?Version: (?P<cuda>\S+))?"
)
_GPU = re.compile(
    r"\| +(?P<index>\d+) {2,}(?P<name>\S.*?) +(?:On|Off|N/A|ERR!) *\| +"
    r"(?P<bus>[0-9A-Fa-f]{8}:[0-9A-Fa-f:.]+)"
    r"[^|]*\| *(?P<ecc>\S+)"
)
_LOST = re.compile(r"\|\s*ERR!.*?(?P<error>GPU is lost|ERR!)")
_USE = re.compile(
    r"\|\s*\S+ +(?P<temp>\d+)C +(?P<state>P\d+) +(?P<power>\S+?)W? +/ +(?P<limit>\S+?)W? *\| *"
    r"(?P<used>\d+)MiB / +(?P<total>\d+)MiB *\| *(?P<use>\d+)%"
)
_FRAME = re.compile(r"\s*[+|][-=+ |]+[+|]\s*$")
_ROW = re.compile(r"\|.*\|\s*$")
_DATE = re.compile(r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3} +\d+ \d\d:\d\d:\d\d \d{4}\s*$")


@dataclass(slots=True)
class _Reader:
    """Reads the two lines of each GPU."""

    source: Source
    gpu: str = ""
    inside: bool = False

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line of the table."""
        evidence = self.source.evidence(text, number)
        for expression, read in _ROWS:
            found = expression.match(text)
            if found and (expression is not _LOST or self.gpu):
                return read(self, found, evidence)
        known = _FRAME.match(text) or _DATE.match(text) or (self.inside and _ROW.match(text))
        return READ if known else None

    def versions(self, found: "re.Match[str]", evidence: Evidence) -> Sequence[Fact]:
        """Return the versions that the heading names."""
        self.inside = True
        versions = (("NVIDIA driver", found["driver"]), ("CUDA", found["cuda"]))
        return tuple(
            SoftwareVersion(software=name, version=version, evidence=evidence)
            for name, version in versions
            if version
        )

    def seen(self, found: "re.Match[str]", evidence: Evidence) -> Sequence[Fact]:
        """Return the GPU of a first line."""
        self.inside, self.gpu = True, found["bus"].lower()
        errors = integer(found["ecc"])
        wrong = GpuReading(
            gpu=self.gpu, name="ecc_uncorrectable_volatile", value=float(errors or 0),
            host=self.source.host, evidence=evidence,
        )  # fmt: skip
        return (
            *((wrong,) if errors else ()),
            GpuSeen(
                name=found["name"],
                index=int(found["index"]),
                bus_id=self.gpu,
                host=self.source.host,
                evidence=evidence,
            ),
        )

    def lost(self, found: "re.Match[str]", evidence: Evidence) -> Sequence[Fact]:
        """Return that a GPU does not answer."""
        host = self.source.host
        return (
            GpuUnreachable(bus_id=self.gpu, error=found["error"], host=host, evidence=evidence),
        )

    def used(self, found: "re.Match[str]", evidence: Evidence) -> Sequence[Fact]:
        """Return the values of a second line."""
        values = (
            ("temperature", real(found["temp"]), "°C"),
            ("power_draw", real(found["power"]), "W"),
            ("power_limit", real(found["limit"]), "W"),
            ("memory_used", float(found["used"]) * _MEBI, "B"),
            ("utilisation", float(found["use"]) / 100, "ratio"),
        )
        host = self.source.host
        return tuple(
            GpuReading(gpu=self.gpu, name=n, value=v, unit=u, host=host, evidence=evidence)
            for n, v, u in values
            if v is not None
        )

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ


_ROWS: tuple[
    tuple["re.Pattern[str]", Callable[[_Reader, "re.Match[str]", Evidence], Sequence[Fact]]],
    ...,
] = (
    (_HEAD, _Reader.versions),
    (_GPU, _Reader.seen),
    (_LOST, _Reader.lost),
    (_USE, _Reader.used),
)
nvidia_smi = Parser(
    tool="nvidia-smi",
    marks=("NVIDIA-SMI ", "|=======", "+-------", "MiB |", "ERR! "),
    reader=_Reader,
    rank=38,
)
