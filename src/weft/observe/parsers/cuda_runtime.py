"""What CUDA programs print when the GPU or its scale-up fabric is not ready."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Fact
from weft.observe.facts.gpus import GpuCallFailed, ScaleUpPartition
from weft.observe.facts.hosts import ServiceState
from weft.observe.facts.programs import Message
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import integer

_RETURNED = re.compile(
    r"(?P<call>cuda\w+|cu[A-Z]\w+)\(?\)? (?:returned|failed with|failed:) (?:error )?"
    r"(?P<code>\d+)"
)
_MEANING = re.compile(r"-> (?P<text>\S.*)")
_ERROR = re.compile(
    r"(?:CUDA error|CUDA failure|Error) ?(?:code )?(?:=|:)? ?(?P<code>802|400"
    r"|101|999|46|3|2|1)?[ :(]*(?P<text>system not yet initialized|"
    r"CUDA_ERROR_SYSTEM_NOT_READY|no CUDA-capable device)"
)
_PARTITION = re.compile(r"\s*\"partitionId\"\s*:\s*(?P<id>\d+)")
_FIELD = re.compile(
    r"\s*\"(?P<name>numGpus|isActive|physicalId|numNvLinks\w*|nvlink\w*|version|"
    r"maxNumPartitions|numPartitions|uuid|pciBusId|partitionInfo|gpuInfo)\"\s*:\s*\"?"
    r"(?P<value>[\w:.-]*)"
)
_IMEX = re.compile(
    r"(?:imex|IMEX).{0,80}(?:[Ff]ail|not (?:available|ready|found|running|permitted)|No such|"
    r"[Ee]rror|unavailable|mismatch)|cu\w+.{0,80}CUDA_ERROR_NOT_PERMITTED"
)
_IMEX_NODE = re.compile(
    r"\s*Node #?\d+\s*[*-]? ?.{0,80}?\b(?P<state>READY|UNAVAILABLE|INVALID|NOT READY|"
    r"INITIALIZING|STARTING_AUTH_SERVER|RECOVERY)\b"
)
_IMEX_DOMAIN = re.compile(r"\s*Domain State: (?P<state>\w+)")
_VERIFY = re.compile(r".{0,60}Verification error @ element")
_SAMPLE = re.compile(
    r"\s*(?:\S*deviceQuery Starting|CUDA Device Query|Result = (?:PASS|FAIL)|Detected \d+ CUDA)"
)


@dataclass(slots=True)
class _Reader:
    """Reads errors and the partitions of a scale-up switch fabric."""

    source: Source
    partition: int | None = None
    gpus: int | None = None
    active: bool | None = None
    failed: tuple[str, int | None] | None = None
    at: tuple[str, int] = ("", 0)
    opened: tuple[str, int] = ("", 0)

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        returned = _RETURNED.search(text[:300])
        if returned:
            self.failed, self.at = (returned["call"], int(returned["code"])), (text, number)
            return READ
        meaning = _MEANING.match(text)
        if meaning and self.failed:
            return self._failed(meaning["text"])
        error = _ERROR.search(text) if "CUDA" in text or "rror" in text else None
        if error:
            self.failed, self.at = ("", integer(error["code"]) or 802), (text, number)
            return self._failed(error["text"])
        opened = _PARTITION.match(text)
        if opened:
            done = tuple(self.end())
            self.partition, self.opened = int(opened["id"]), (text, number)
            return done
        found = _FIELD.match(text) if self.partition is not None else None
        if found:
            return self._field(found)
        return self._said(text, number)

    def _said(self, text: str, number: int) -> Sequence[Fact] | None:
        """Read what the import of memory handles, and samples, say in words."""
        evidence = self.source.evidence(text, number)
        imex = _IMEX_NODE.match(text) or _IMEX_DOMAIN.match(text)
        if imex:
            state = imex["state"].lower()
            return (
                ServiceState(
                    service="imex domain", state=state, host=self.source.host, evidence=evidence
                ),
            )
        if _IMEX.search(text) or _VERIFY.match(text):
            software = "CUDA sample" if "Verification" in text else "IMEX"
            words = text.strip()[:300]
            return (
                Message(software=software, level="error", text=words, evidence=evidence),
            )  # fmt: skip
        return READ if _SAMPLE.match(text) else None

    def end(self) -> Iterable[Fact]:
        """State what is not stated yet."""
        facts: list[Fact] = [*self._failed("")] if self.failed else []
        if self.partition is not None:
            facts.append(
                ScaleUpPartition(
                    partition=self.partition,
                    gpus=self.gpus,
                    active=self.active,
                    host=self.source.host,
                    evidence=self.source.evidence(*self.opened),
                )
            )
        self.partition, self.gpus, self.active = None, None, None
        return facts

    def _failed(self, text: str) -> Sequence[Fact]:
        call, code = self.failed or ("", None)
        self.failed = None
        return (
            GpuCallFailed(
                error=text.strip(),
                code=code,
                call=call,
                evidence=self.source.evidence(*self.at),
            ),
        )

    def _field(self, found: "re.Match[str]") -> Sequence[Fact]:
        value = integer(found["value"])
        if found["name"] == "numGpus":
            self.gpus = value
        if found["name"] == "isActive":
            self.active = value == 1
        return READ


cuda_runtime = Parser(
    tool="CUDA programs",
    marks=(
        "returned ",
        "system not yet initialized",
        "CUDA Device Query",
        "partitionId",
        "SYSTEM_NOT_READY",
        "no CUDA-capable",
        "Verification error",
        "imex",
        "IMEX",
        "NOT_PERMITTED",
        "Domain State",
    ),
    reader=_Reader,
    rank=58,
)
