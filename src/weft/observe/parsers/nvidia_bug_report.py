"""``nvidia-bug-report.log``: what frames the commands and files in it, and whose it is."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Fact, Process
from weft.observe.facts.programs import SoftwareVersion
from weft.observe.parser import READ, Parser, Source

_HOST = re.compile(r"uname: Linux (?P<host>[\w.-]{1,120}) (?P<kernel>\d\S{1,80}) ")
_DRIVER = re.compile(
    r"NVRM version: NVIDIA UNIX .{0,60}?Kernel Module.{0,30}?\s"
    r"(?P<version>\d{3}\.[\d.]{1,20})\s"
)
_FILE = re.compile(r"\*\*\* (?P<path>/[\w/.:-]{1,200})\s*$")
_REST = re.compile(
    r"\*\*\* ls: |Start of NVIDIA bug report log file|with a detailed description of your "
    r"problem|driver bug via the NVIDIA|nvidia-bug-report\.sh Version|command line flags:|"
    r"Skipping .{1,80} output|End of NVIDIA bug report log file|GCC version:|"
    r"Found .{1,80} (?:log|configuration) file|\*\*\* /\S{1,200} does not exist"
)


@dataclass(slots=True)
class _Reader:
    """Reads the frame; a file that is copied becomes the command that would print it."""

    source: Source

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the version that a line names."""
        copied = _FILE.match(text)
        if copied:
            self.source.command = f"cat {copied['path']}"
            return READ
        host = _HOST.match(text)
        if host:
            self.source.arrive(host["host"])
            return (self._version("kernel", host["kernel"], text, number),)
        driver = _DRIVER.match(text)
        if driver:
            return (self._version("nvidia driver", driver["version"], text, number),)
        return READ if _REST.match(text) else None

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ

    def _version(self, software: str, version: str, text: str, number: int) -> SoftwareVersion:
        return SoftwareVersion(
            software=software, version=version, process=Process(host=self.source.host),
            evidence=self.source.evidence(text, number),
        )  # fmt: skip


nvidia_bug_report = Parser(
    tool="nvidia-bug-report",
    marks=("NVIDIA bug report", "*** ls: ", "*** /", "NVRM version: NVIDIA UNIX"),
    reader=_Reader,
    rank=9,
)
