"""The table of plain ``nvidia-smi``: driver, GPUs, processes."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts import Fact, GpuReading, GpuSeen, GpuUnreachable, SoftwareVersion
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import real

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
        head = _HEAD.match(text)
        if head:
            self.inside = True
            versions = (("NVIDIA driver", head["driver"]), ("CUDA", head["cuda"]))
            return tuple(
                SoftwareVersion(software=name, version=version, evidence=evidence)
                for name, version in versions
                if version
            )
        gpu = _GPU.match(text)
        if gpu:
            self.inside, self.gpu = True, gpu["bus"].lower()
            host, index = self.source.host, int(gpu["index"])
            seen = GpuSeen(
                name=gpu["name"], index=index, bus_id=self.gpu, host=host, evidence=evidence
            )
            return (seen,)
        lost = _LOST.match(text) if self.gpu else None
        if lost:
            gone = GpuUnreachable(
                bus_id=self.gpu, error=lost["error"], host=self.source.host, evidence=evidence
            )
            return (gone,)
        use = _USE.match(text)
        if use:
            values = (
                ("temperature", real(use["temp"]), "°C"),
                ("power_draw", real(use["power"]), "W"),
                ("power_limit", real(use["limit"]), "W"),
                ("memory_used", float(use["used"]) * _MEBI, "B"),
                ("utilisation", float(use["use"]) / 100, "ratio"),
            )
            return tuple(
                GpuReading(
                    gpu=self.gpu,
                    name=n,
                    value=v,
                    unit=u,
                    host=self.source.host,
                    evidence=evidence,
                )
                for n, v, u in values
                if v is not None
            )
        if _FRAME.match(text) or _DATE.match(text) or (self.inside and _ROW.match(text)):
            return READ
        return None

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ


nvidia_smi = Parser(
    tool="nvidia-smi",
    marks=("NVIDIA-SMI ", "|=======", "+-------", "MiB |", "ERR! "),
    reader=_Reader,
    rank=38,
)
