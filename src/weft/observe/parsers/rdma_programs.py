"""What any program prints when RDMA fails it: the verbs library, perftest, stores, MPI, UCX.

Each program has words of its own for the same few failures (memory not registered, a queue
pair not made, no device, no provider), so the words are sought, whoever wrote them.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts import (
    CallFailed,
    DeviceNode,
    Fact,
    Limit,
    Message,
    NoRdmaDevice,
    NoVerbsLibrary,
    Process,
)
from weft.observe.moments import moment
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import errno_within, integer, size

_SAID = r"(?:fail(?:ed|s|ure)?|couldn'?t|could not|cannot|can't|unable to|error)"
_REGISTERING = re.compile(
    rf"(?:{_SAID}\b.{{0,60}}?\b(?:regist(?:er|ration|ering)\b.{{0,40}}?\b(?:memory|mr|buffer|"
    r"region|heap)|(?:allocate|create|creating|reg) mr)\b|"
    r"\b(?:memory|mr|buffer|heap)[ _]?(?:region )?regist(?:er|ration)\w*\b.{0,40}?\bfail|"
    rf"\bfi_mr_reg\w*\b.{{0,60}}?{_SAID}|\bregister[_ ]memory\w*\b.{{0,60}}?{_SAID})",
    re.IGNORECASE,
)
_QUEUE_PAIR = re.compile(
    rf"{_SAID}\b.{{0,40}}?\b(?:create|creating|allocate) (?:an? |the )?"
    r"(?:qp|queue pair|cq|completion queue|srq)\b",
    re.IGNORECASE,
)
_NO_DEVICE = re.compile(
    r"(?:No (?:IB|RDMA|InfiniBand|HCA) devices?(?: were| are)? (?:found|available|detected)|"
    r"Did not detect devices|Unable to find the Infiniband/RoCE device|"
    r"(?:No|0) (?:HCAs?|RNICs?) (?:were |are )?(?:found|available)|No available RNIC|"
    r"can't list IB devices|No matching device found|Failed to get IB devices? list)",
    re.IGNORECASE,
)
_NOT_THERE = re.compile(r"IB device (?P<name>\S+) not found|Unable to find IB device (?P<n2>\S+)")
_PROVIDER = re.compile(
    r"libibverbs: Warning: (?:no userspace device-specific driver found for (?P<path>\S+)|"
    r"Driver (?P<driver>\S+) does not support the kernel ABI|"
    r"couldn't (?:load|open) driver '?(?P<load>\S+?)'?:|"
    r"couldn't open config directory '?(?P<folder>[^']+)'?)"
)
_ADAPTERS = re.compile(r"mlx[45]|bnxt|efa|irdma|erdma|ionic|qedr|hns|mana|uverbs")
_LIMIT = re.compile(
    r"(?:Memlock limit:\s+|RLIMIT_MEMLOCK is |\(current: )(?P<limit>\d+|unlimited)"
    r"(?: (?P<unit>kbytes|KB|bytes))?"
)
_LOCKED = re.compile(
    r"severely limit memory registrations|allocate some locked memory|"
    r"memlock limits? (?:are|is|may be) set too low|increase the (?:memlock|max locked memory)|"
    r"set max locked memory \(ulimit -l\)",
    re.IGNORECASE,
)
_MANAGER = re.compile(
    r"(?:can't open UMAD port|umad_init: .*fail|can't init UMAD library)", re.IGNORECASE
)
_MAD = re.compile(r"\s*(?:ibwarn|ibpanic|\S{1,24}: iberror): ")
_HOST = re.compile(r"(?P<host>[A-Za-z][\w.-]{1,80}):\d+:\d+[ :]")

_Build = Callable[["re.Match[str]", str, Process, Source, int], Sequence[Fact]]


def _failed(call: str) -> _Build:
    def build(
        found: "re.Match[str]", text: str, process: Process, source: Source, number: int
    ) -> Sequence[Fact]:
        code, words = errno_within(text)
        return (
            CallFailed(
                call=call,
                errno=code,
                error=words,
                library="verbs program",
                moment=moment(text),
                process=process,
                evidence=source.evidence(text, number),
            ),
        )

    return build


def _no_device(
    found: "re.Match[str]", text: str, process: Process, source: Source, number: int
) -> Sequence[Fact]:
    cause = found[0].strip().lower()
    return (
        NoRdmaDevice(cause=cause, process=process, evidence=source.evidence(text, number)),
    )


def _not_there(
    found: "re.Match[str]", text: str, process: Process, source: Source, number: int
) -> Sequence[Fact]:
    name = (found["name"] or found["n2"]).strip("'\":,.")
    return (
        CallFailed(
            call="open device",
            errno=19,
            error="No such device",
            adapter=name,
            library="verbs program",
            process=process,
            evidence=source.evidence(text, number),
        ),
    )


def _provider(
    found: "re.Match[str]", text: str, process: Process, source: Source, number: int
) -> Sequence[Fact]:
    named = found["driver"] or found["load"] or found["path"] or ""
    evidence = source.evidence(text, number)
    if found["folder"] is None and not _ADAPTERS.search(named):
        return READ  # providers of other adapters are installed without their libraries
    library = f"provider {named}".strip() if named else "provider folder"
    return (NoVerbsLibrary(library=library, process=process, evidence=evidence),)


def _limit(
    found: "re.Match[str]", text: str, process: Process, source: Source, number: int
) -> Sequence[Fact]:
    evidence = source.evidence(text, number)
    in_kibi = (found["unit"] or "").lower() in {"kbytes", "kb"}
    value = size(f"{found['limit']}{'Ki' if in_kibi else ''}")
    limit = Limit(name="memlock", limit=value, host=process.host or source.host,
                  evidence=evidence)  # fmt: skip
    said = _LOCKED.search(text) or "ibv_" in text or "Memlock limit" in text
    called = _failed("ibv_reg_mr")(found, text, process, source, number) if said else ()
    return (limit, *called)


def _locked(
    found: "re.Match[str]", text: str, process: Process, source: Source, number: int
) -> Sequence[Fact]:
    return (
        Message(
            software="MPI" if "locked memory" in text else "verbs",
            level="warning",
            text=text.strip()[:300],
            process=process,
            evidence=source.evidence(text, number),
        ),
    )


def _no_manager(
    found: "re.Match[str]", text: str, process: Process, source: Source, number: int
) -> Sequence[Fact]:
    if "No such file" in text:
        return (
            DeviceNode(path="/dev/infiniband/umad0", present=False, host=source.host,
                       evidence=source.evidence(text, number)),
        )  # fmt: skip
    return (
        Message(software="infiniband-diags", level="error", text=text.strip()[:300],
                process=process, evidence=source.evidence(text, number)),
    )  # fmt: skip


_SORTS: tuple[tuple[re.Pattern[str], _Build], ...] = (
    (_PROVIDER, _provider),
    (_LIMIT, _limit),
    (_LOCKED, _locked),
    (_REGISTERING, _failed("ibv_reg_mr")),
    (_QUEUE_PAIR, _failed("ibv_create_qp")),
    (_NOT_THERE, _not_there),
    (_NO_DEVICE, _no_device),
    (_MANAGER, _no_manager),
)
_HINT = re.compile(
    r"regist|mr_reg|mr\b|MR\b|devices?\b|HCA|RNIC|libibverbs|[Mm]emlock|MEMLOCK|locked memory|QP|"
    r"queue|CQ|SRQ|UMAD|umad|current:"
)


@dataclass(slots=True)
class _Reader:
    """Reads lines that each stand alone."""

    source: Source

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the failure that a line tells of."""
        if not _HINT.search(text):
            return None
        for expression, build in _SORTS:
            found = expression.search(text)
            if found:
                who = _HOST.search(text[:200])
                process = Process(host=who["host"] if who else self.source.host)
                return build(found, text, process, self.source, number)
        return READ if _MAD.match(text) else None

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ


rdma_programs = Parser(
    tool="programs that use RDMA",
    marks=(
        "regist",
        "Regist",
        "MR",
        " mr",
        "mr_reg",
        "devices",
        "HCA",
        "RNIC",
        "libibverbs",
        "emlock",
        "MEMLOCK",
        "locked memory",
        " QP",
        "queue",
        "UMAD",
        "ibwarn",
        "iberror",
    ),
    reader=_Reader,
    rank=19,
    longest=1024,
)
