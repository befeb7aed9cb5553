"""What launchers and frameworks beside PyTorch's own print when ranks die or cannot meet.

torchrun's summary, Ray, vLLM, SGLang, mpirun, Slurm, shells; gloo and ``nc``.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts import (
    CallFailed,
    Fact,
    HostReached,
    NoSocketInterface,
    Process,
    ProcessEnded,
    SharedMemoryFailed,
)
from weft.observe.moments import moment
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import errno_of, errno_within, integer

_SEGFAULT, _KILLED = 11, 9
_NAMED_SIGNALS = {
    "SIGKILL": 9, "SIGSEGV": 11, "SIGABRT": 6, "SIGBUS": 7, "SIGTERM": 15, "SIGINT": 2,
    "Killed": 9, "Segmentation fault": 11, "Bus error": 7, "Aborted": 6,
}  # fmt: skip
_SIGNAL = re.compile(
    r"Signal (?P<number>\d+) \((?P<name>SIG\w+)\) received by PID (?P<pid>\d+)|"
    r"exitcode +: (?P<code>-\d+) \(pid: (?P<pid2>\d+)\)|"
    r"(?:line \d+:|^\s*\[\d+\]\+?) +(?P<pid3>\d+) (?P<word>Killed|Segmentation fault|Bus error)"
    r"(?: +\(core dumped\))? |"
    r"\*\*\* Process received signal \*\*\*(?P<mpi>)|Signal: (?P<mpi_name>Segmentation fault|"
    r"Bus error|Aborted) \(\d+\)|"
    r"Fatal Python error: (?P<python>Segmentation fault|Bus error|Aborted)|"
    r"[Cc]hild process unexpectedly failed with (?:an exit code (?P<child>-?\d+)|exitcode=-(?P<c2>\d+))"
)
_GONE = re.compile(
    r"A worker died or was killed while executing a task by an unexpected system error|"
    r"actor died unexpectedly before finishing this task|"
    r"(?:Worker proc|EngineCore_?\d*|Engine core proc|VllmWorker)\S*[^\n]{0,40} died unexpectedly|"
    r"ORTE has lost communication with a remote daemon|"
    r"PRTE has lost communication with a remote daemon|"
    r"CANCELLED AT \S+ DUE TO NODE FAILURE|"
    r"(?:Node|Host) failure on (?P<host>[\w.-]+)|"
    r"node (?P<node>[\w.-]+) (?:has failed|is unresponsive|went down)",
)
_OUT_OF_MEMORY = re.compile(
    r"worker\(s\) were killed due to memory running low|ray\.exceptions\.OutOfMemoryError|"
    r"Detected \d+ oom[_-]kill event|oom-kill event\(s\)|"
    r"killed by the (?:Linux )?OOM killer|Task was killed due to the node running low on memory",
    re.IGNORECASE,
)
_GLOO = re.compile(
    r"gloo/\S+:\d+\] (?P<error>Connection refused|Connection timed out|No route to host|"
    r"Connection reset by peer|Connection closed by peer|connect|Connect timeout|"
    r"Timed out waiting \d+ms for (?:recv|send) operation[^\[]{0,40}|"
    r"Read timeout|Write timeout)[^\[]{0,40}(?:\[(?P<peer>[^\]]{1,80})\])?"
)
_GLOO_DEVICE = re.compile(
    r"(?:Unable to find (?:address|interface) for(?: device)?:? ?(?P<name>\S+)|"
    r"gloo/\S+:\d+\] ifa != nullptr\. Unable to find address for: (?P<name2>\S+))"
)
_NC = re.compile(
    r"(?:nc|ncat|Ncat|netcat|telnet)(?:: connect to|: Unable to connect to| to address) "
    r"(?P<peer>[\w.:-]{1,80})(?: \([^)]*\))?(?: port (?P<port>\d+)(?: \(\w+\))?)?"
    r"(?: failed)?: (?P<error>[A-Z][\w ]+)|"
    r"Ncat: (?P<ncat>No route to host|Connection refused|TIMEOUT|Connection timed out)"
)
_NC_OPEN = re.compile(r"Connection to (?P<peer>\S+) (?P<port>\d+) port \[\S+\] succeeded")
_SHARED = re.compile(
    r"insufficient shared memory \(shm\)|out of shared memory\. Please try to raise|"
    r"unable to (?:mmap|open|write to file) .{0,60}?(?:/dev/shm|/torch_)|"
    r"shm\w*: .{0,60}?(?:no space|No space left)",
    re.IGNORECASE,
)
_RANK = re.compile(r"(?:\[?[Rr]ank ?|rank +: )(\d{1,6})\b")

_Build = Callable[["re.Match[str]", str, Source, int], Sequence[Fact]]


def _ended(
    how: str, text: str, source: Source, number: int, *, pid: int | None = None,
    signal: int | None = None, host: str = "",
) -> Sequence[Fact]:  # fmt: skip
    rank = _RANK.search(text[:400])
    return (
        ProcessEnded(
            how=how,
            pid=pid,
            signal=signal,
            rank=int(rank[1]) if rank else None,
            host=host or source.host,
            moment=moment(text),
            evidence=source.evidence(text, number),
        ),
    )


def _signalled(
    found: "re.Match[str]", text: str, source: Source, number: int
) -> Sequence[Fact]:
    told = found.groupdict()
    name = told["word"] or told["mpi_name"] or told["python"] or told["name"] or ""
    code = integer(told["code"] or told["child"]) or 0
    signal = integer(told["number"]) or _NAMED_SIGNALS.get(name) or abs(code)
    if told["mpi"] is not None or not signal:
        return READ
    signal = integer(told["c2"]) or signal
    pid = integer(told["pid"] or told["pid2"] or told["pid3"])
    how = "segfault" if signal == _SEGFAULT else "signal"
    return _ended(how, text, source, number, pid=pid, signal=signal)


def _gone(found: "re.Match[str]", text: str, source: Source, number: int) -> Sequence[Fact]:
    host = found["host"] or found["node"] or ""
    return _ended("signal", text, source, number, signal=_KILLED, host=host)


def _starved(found: "re.Match[str]", text: str, source: Source, number: int) -> Sequence[Fact]:
    del found
    return _ended("oom", text, source, number, signal=_KILLED)


def _connect(
    library: str, peer: str, error: str, text: str, source: Source, number: int
) -> CallFailed:
    timed_out = "time" in error.lower()
    return CallFailed(
        call="connect",
        errno=errno_of(error) or errno_within(error)[0] or (110 if timed_out else None),
        error=error,
        peer=peer,
        library=library,
        moment=moment(text),
        process=Process(host=source.host),
        evidence=source.evidence(text, number),
    )


def _gloo(found: "re.Match[str]", text: str, source: Source, number: int) -> Sequence[Fact]:
    peer = (found["peer"] or "").strip()
    return (_connect("Gloo", peer, found["error"].strip(), text, source, number),)


def _no_interface(
    found: "re.Match[str]", text: str, source: Source, number: int
) -> Sequence[Fact]:
    del found
    process = Process(host=source.host)
    return (NoSocketInterface(process=process, evidence=source.evidence(text, number)),)


def _nc(found: "re.Match[str]", text: str, source: Source, number: int) -> Sequence[Fact]:
    error = (found["error"] or found["ncat"] or "").strip()
    return (_connect("nc", found["peer"] or "", error, text, source, number),)


def _open(found: "re.Match[str]", text: str, source: Source, number: int) -> Sequence[Fact]:
    evidence = source.evidence(text, number)
    return (
        HostReached(target=found["peer"], sent=1, received=1, host=source.host,
                    evidence=evidence),
    )  # fmt: skip


def _shared(found: "re.Match[str]", text: str, source: Source, number: int) -> Sequence[Fact]:
    return (
        SharedMemoryFailed(
            error=found[0], process=Process(host=source.host),
            evidence=source.evidence(text, number),
        ),
    )  # fmt: skip


_SORTS: tuple[tuple[re.Pattern[str], _Build], ...] = (
    (_SHARED, _shared),
    (_OUT_OF_MEMORY, _starved),
    (_SIGNAL, _signalled),
    (_GONE, _gone),
    (_GLOO_DEVICE, _no_interface),
    (_GLOO, _gloo),
    (_NC_OPEN, _open),
    (_NC, _nc),
)


@dataclass(slots=True)
class _Reader:
    """Reads lines that each stand alone."""

    source: Source

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return what a line says about a process or a connection."""
        for expression, build in _SORTS:
            found = expression.search(text)
            if found:
                return build(found, text, self.source, number)
        return None

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ


job_log = Parser(
    tool="launchers and frameworks",
    marks=(
        "received by PID",
        "exitcode",
        "Killed",
        "Segmentation fault",
        "Bus error",
        "Process received signal",
        "Fatal Python error",
        "unexpectedly",
        "unexpected system error",
        "lost communication",
        "NODE FAILURE",
        "failure on",
        "has failed",
        "unresponsive",
        "went down",
        "oom",
        "OOM",
        "memory running low",
        "running low on memory",
        "OutOfMemoryError",
        "gloo/",
        "Unable to find",
        "nc: ",
        "ncat",
        "Ncat",
        "netcat",
        "telnet",
        "succeeded",
        "shared memory",
        "/dev/shm",
    ),
    reader=_Reader,
    rank=16,
    longest=1024,
)
