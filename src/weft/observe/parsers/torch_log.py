"""What PyTorch prints when collectives stall or differ, and what ends a training process."""

import errno
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Fact, Process
from weft.observe.facts.collectives import (
    CollectiveMismatch,
    CollectiveTimeout,
    RankCall,
    WorkProgress,
)
from weft.observe.facts.programs import Message, ProcessEnded, StorageFailed
from weft.observe.facts.verbs import CallFailed
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import errno_of, integer
from weft.observe.patterns import Build, Line, match, nothing, pattern

_MILLI = 1e-3
_SEGFAULT, _BUS_ERROR = 11, 7
_RANK = re.compile(r"\[(?:default\d+\]:\[)?[Rr]ank ?(\d{1,6})[\]:]")
_FIELD = re.compile(r"(\w+(?:\(ms\))?)=([^,()]+)")
_CALL = re.compile(
    r"[Rr]ank (?P<rank>\d{1,6})(?: is running(?: collective)?)?: ?(?P<call>.{1,400}?)"
    r"(?=,? [Bb]ut [Rr]ank|,? [Rr]ank \d|$)"
)
_RUNNING = re.compile(
    r"[Rr]ank (?P<rank>\d{1,6})\s+is running\s+(?:collective: )?(?P<call>.{1,300}?)(?="
    r"\s[Bb]ut\s+[Rr]ank|$)"
)
_SHAPE = re.compile(r"TensorShape=\[([^\]]*)\]")
_OPERATION = re.compile(r"(?:OpType=)?(\w+)")
_MOST_CONTINUED = 12


def _process(line: Line) -> Process:
    found = _RANK.search(line.text[:400])
    return Process(host=line.host, rank=int(found[1]) if found else None)


def _timeout(found: re.Match[str], line: Line) -> Sequence[Fact]:
    work = found["work"] if found["ran"] else found["work"].rpartition(",")[0]  # cut in a word
    fields = dict(_FIELD.findall(work))
    timeout = integer(fields.get("Timeout(ms)"))
    ran = integer(found["ran"])
    return (
        CollectiveTimeout(
            operation=fields.get("OpType", "").lower(),
            sequence=integer(fields.get("SeqNum")),
            elements_in=integer(fields.get("NumelIn")),
            elements_out=integer(fields.get("NumelOut")),
            timeout_s=None if timeout is None else timeout * _MILLI,
            ran_s=None if ran is None else ran * _MILLI,
            moment=line.moment,
            process=_process(line),
            evidence=line.evidence,
        ),
    )


def _stuck(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    return (
        CollectiveTimeout(
            operation="", moment=line.moment, process=_process(line), evidence=line.evidence
        ),
    )


def _progress(found: re.Match[str], line: Line) -> Sequence[Fact]:
    text = line.text
    values = {
        key: re.search(rf"[Ll]ast {key}(?: NCCL)? work: (-?\d+)", text)
        for key in ("enqueued", "started", "completed")
    }
    del found
    return (
        WorkProgress(
            last_enqueued=integer(values["enqueued"][1]) if values["enqueued"] else None,
            last_started=integer(values["started"][1]) if values["started"] else None,
            last_completed=integer(values["completed"][1]) if values["completed"] else None,
            process=_process(line),
            evidence=line.evidence,
        ),
    )


def _dumped(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that a rank gave up, and how far it came if the line says so."""
    how_far = _progress(found, line) if "ast enqueued" in line.text else ()
    return (*_stuck(found, line), *how_far)


def _storage(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        StorageFailed(
            errno=int(found["errno"]),
            error=found["error"].strip(),
            path=(found["path"] or "").strip(" :'\""),
            moment=line.moment,
            process=_process(line),
            evidence=line.evidence,
        ),
    )


def _ended(found: re.Match[str], line: Line) -> Sequence[Fact]:
    code = integer(found.groupdict().get("code"))
    signal = integer(found.groupdict().get("signal"))
    if code is not None and code < 0:
        signal, code = -code, None
    how = "signal" if signal else "exit"
    return (
        ProcessEnded(
            how="segfault" if signal == _SEGFAULT else how,  # SIGSEGV
            pid=integer(found.groupdict().get("pid")),
            signal=signal,
            exit_code=code,
            rank=integer(found.groupdict().get("rank")),
            host=found.groupdict().get("host") or line.host,
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


_TASK_SIGNALS = {
    "Killed": 9,
    "Segmentation fault": 11,
    "Terminated": 15,
    "Aborted": 6,
    "Bus error": 7,
    "Out Of Memory": 9,
}


def _task(found: re.Match[str], line: Line) -> Sequence[Fact]:
    signal = _TASK_SIGNALS[found["word"]]
    how = "oom" if found["word"] == "Out Of Memory" else "signal"
    return (
        ProcessEnded(
            how="segfault" if signal == _SEGFAULT else how,
            signal=signal,
            rank=int(found["rank"]),
            host=found["host"],
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _raised(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that a rank ended by an exception of its own."""
    return (
        ProcessEnded(
            how="exception", name=found["name"], rank=int(found["rank"]), host=line.host,
            moment=line.moment, evidence=line.evidence,
        ),
    )  # fmt: skip


def _oom(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    return (
        ProcessEnded(how="oom", host=line.host, moment=line.moment, evidence=line.evidence),
    )


def _crashed(how: str, signal: int) -> Build:
    """Return a maker of the fact that a process ended by a signal of its own."""

    def build(_found: re.Match[str], line: Line) -> Sequence[Fact]:
        return (
            ProcessEnded(
                how=how, signal=signal, rank=_process(line).rank, host=line.host,
                moment=line.moment, evidence=line.evidence,
            ),
        )  # fmt: skip

    return build


def _message(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        Message(
            software="PyTorch",
            level="error",
            text=found[0].strip()[:300],
            moment=line.moment,
            process=_process(line),
            evidence=line.evidence,
        ),
    )


def _store(call: str, found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that a rank lost, or never reached, the process that keeps the store."""
    error = (found["error"] or "").strip(" .")
    slow = "timed out" in line.text or "timeout" in line.text
    timed_out = (slow and not error) or error == "Socket Timeout"
    return (
        CallFailed(
            call=call,
            errno=integer(found.groupdict().get("errno"))
            or errno_of(error)
            or (errno.ETIMEDOUT if timed_out else None),
            error=error[:200],
            peer=found.groupdict().get("peer") or "",
            library="PyTorch",
            moment=line.moment,
            process=_process(line),
            evidence=line.evidence,
        ),
    )


def _store_lost(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that the store was lost, or that it answers and the rank asked for never came."""
    if (found["error"] or "").lower().startswith("wait timeout"):
        return _stuck(found, line)
    return _store("store recv", found, line)


def _store_barrier(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that not all ranks came to the store in time."""
    return (
        CallFailed(
            call="connect to store",
            errno=errno.ETIMEDOUT,
            error=f"not all ranks came: {found['error']}",
            library="PyTorch",
            moment=line.moment,
            process=_process(line),
            evidence=line.evidence,
        ),
    )


def _store_unreached(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return _store("connect to store", found, line)


_ERRNOS = r"(?P<errno>28|122|5|30|116|121)"
_PATTERNS = (
    pattern(
        "failed on SocketImpl",
        r"failed on SocketImpl\([^()]{0,300}?remote=\[?(?P<peer>[^\],)]{1,200})[^)]{0,80}\)"
        r": (?P<error>.{1,300})",
        _store_lost,
    ),
    pattern(
        "flag on TCPStore",
        r"flag on TCPStore,.{0,200}? with error: (?P<error>.{1,300})",
        _store_lost,
    ),
    pattern(
        "connection to the C10d store has",
        r"connection to the C10d store has (?P<error>failed)",
        _store_lost,
    ),
    pattern(
        "store based barrier on rank",
        r"store based barrier on rank.{0,160}?\((?P<error>world_size=\d+, worker_count=\d+)"
        r"(?P<peer>)(?P<errno>)",
        _store_barrier,
    ),
    pattern(
        "waiting for clients",
        r"waiting for clients\. (?P<error>\d+/\d+ clients joined)",
        _store_barrier,
    ),
    pattern(
        "store->get(",
        r"store->get\('[^']{0,40}'\) got error: (?P<error>.{1,200})(?P<peer>)",
        _store_lost,
    ),
    pattern(
        "The client socket has",
        r"The client socket has (?:failed|timed out).{0,80}? connect to \[?\(?"
        r"(?P<peer>[^\]\s),]{1,120})[^(]{0,80}(?:\(errno: (?P<errno>\d{1,3}) - "
        r"(?P<error>[^)]{0,80}))?",
        _store_unreached,
    ),
    pattern(
        "TCP client failed to connect/validate to host ",
        r"TCP client failed to connect/validate to host (?P<peer>\S{1,120}) .{0,200}?\): "
        r"(?P<error>.{1,200})",
        _store_unreached,
    ),
    pattern(
        "caught collective operation timeout",
        r"caught collective operation timeout: \w+\((?P<work>.*?)"
        r"(?:\) ran for (?P<ran>\d+)|$)",
        _timeout,
    ),
    pattern("Heartbeat monitor timed out", r"Heartbeat monitor timed out", _stuck),
    pattern("Could not acquire GIL", r"Could not acquire GIL within.*", _message),
    pattern("watchdog got stuck for", r"watchdog got stuck for", _stuck),
    pattern("Mismatched NCCL version", r"Mismatched NCCL version.*", _message),
    pattern("Detected mismatch between collectives", r"Detected mismatch", nothing),
    pattern(
        "appears not to match sizes of the same param",
        r"appears not to match sizes of the same param.*",
        _message,
    ),
    pattern("expects same model across all ranks", r"expects same model across.*", _message),
    pattern("finished reduction in the prior iteration", r"finished reduction in.*", _message),
    pattern("Not all ranks joining collective", r"Not all ranks joining collective", _stuck),
    pattern(
        "failed to pass monitoredBarrier", r"failed to pass monitoredBarrier in \d+", _stuck
    ),
    pattern("COLLECTIVE_TYPE_MISMATCH", r"COLLECTIVE_TYPE_MISMATCH.*", _message),
    pattern("SIZE_OR_SYNTAX_MISMATCH", r"SIZE_OR_SYNTAX_MISMATCH.*", _message),
    pattern("COLLECTIVE_DTYPE_MISMATCH", r"COLLECTIVE_DTYPE_MISMATCH.*", _message),
    pattern("wait timeout after", r"wait timeout after (?P<error>)\d+ ?ms", _store_unreached),
    pattern("last enqueued", r"last enqueued", _progress),
    pattern("due to a collective timeout", r"due to a collective timeout", _dumped),
    pattern(
        "[Errno ", rf"\[Errno {_ERRNOS}\] (?P<error>[A-Z][^:;]*)(?P<path>: ?'[^']*')?", _storage
    ),
    pattern(
        "failed (exitcode:",
        r"failed \(exitcode: (?P<code>-?\d+)\) (?:local_)?rank: (?P<rank>\d+) \(pid: "
        r"(?P<pid>\d+)\)",
        _ended,
    ),
    pattern(
        "process rank ",
        r"process rank (?P<rank>\d+) with PID (?P<pid>\d+) on node (?P<host>\S+) exited on "
        r"signal (?P<signal>\d+)",
        _ended,
    ),
    pattern(
        "srun: error: ",
        r"srun: error: (?P<host>[\w.-]+): tasks? (?P<rank>\d+)[^:]*: (?P<word>Killed|"
        r"Segmentation fault|Terminated|Aborted|Bus error|Out Of Memory)",
        _task,
    ),
    pattern(
        "srun: error: ",
        r"srun: error: (?P<host>[\w.-]+): tasks? (?P<rank>\d+)[^:]*: Exited with exit code "
        r"(?P<code>\d+)",
        _ended,
    ),
    pattern(
        "exited on signal",
        r"exited on signal (?P<signal>\d+)",
        _ended,
    ),
    pattern("oom-kill event", r"oom-kill event", _oom),
    pattern("OOMKilled", r"OOMKilled", _oom),
    pattern("Out Of Memory", r"Out Of Memory", _oom),
    pattern("oom_kill", r"oom_kill(?!_process|er)", _oom),
    pattern("Segmentation fault", r"Segmentation fault", _crashed("segfault", _SEGFAULT)),
    pattern("Caught signal 11", r"Caught signal 11", _crashed("segfault", _SEGFAULT)),
    pattern(
        "Caught signal 7", r"Caught signal 7 \(Bus error", _crashed("bus error", _BUS_ERROR)
    ),
    pattern(
        "[rank",
        r"\[rank(?P<rank>\d{1,6})\]: ?(?:[a-z_]\w{0,40}\.){0,6}"
        r"(?P<name>(?!Dist|Connection|Timeout|Runtime|Broken|Child)[A-Z]\w{2,60}"
        r"(?:Error|Exception)): "
        r"(?!.{0,300}(?i:nccl|gloo|c10d|timed? ?out|socket|connect|collective|store))",
        _raised,
    ),
    pattern(
        "torch.distributed.DistBackendError",
        r"torch\.distributed\.DistBackendError.*",
        _message,
    ),
    pattern(
        "NCCL error in: ",
        r"NCCL error in: \S+, (?P<what>(?:unhandled|internal|invalid|remote) [^,(]{3,60}).*",
        _message,
    ),
    pattern("ncclRemoteError", r"nccl\w+Error: .*", _message),
    pattern("ncclInternalError", r"nccl\w+Error: .*", _message),
    pattern("ncclSystemError", r"nccl\w+Error: .*", _message),
    pattern("ncclUnhandledCudaError", r"nccl\w+Error: .*", _message),
    pattern("ncclInvalidUsage", r"nccl\w+: .*", _message),
    pattern("error in the Fabric Manager", r"error in the Fabric Manager.*", _message),
    pattern("Last error:", r"Last error:", nothing),
    pattern("Some NCCL operations have failed", r"Some NCCL", nothing),
    pattern("To avoid data inconsistency", r"To avoid", nothing),
    pattern("ProcessGroupNCCL", r"ProcessGroupNCCL", nothing),
    pattern("CUDA error:", r"CUDA error: .*", _message),
    pattern("HIP error:", r"HIP error: .*", _message),
    pattern("Failed to find reverse path", r"Failed to find reverse path.*", _message),
)


@dataclass(slots=True)
class _Reader:
    """Reads lines that stand alone, and the lines that tell of a mismatch together."""

    source: Source
    _said: list[str] = field(default_factory=list)
    _first: tuple[str, int] = ("", 0)

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        if self._said and self._continues(text, number):
            self._said.append(text.strip())
            return self._mismatch() if len(self._said) > _MOST_CONTINUED else READ
        before = self._mismatch() if self._said else ()
        if "Detected mismatch between collectives" in text:
            self._said, self._first = [text.strip()], (text, number)
            return before or READ
        facts = match(_PATTERNS, Line(text, number, self.source))
        return before or None if facts is None else (*before, *facts)

    def end(self) -> Iterable[Fact]:
        """Return the mismatch the text ended with."""
        return self._mismatch() if self._said else READ

    def _continues(self, text: str, number: int) -> bool:
        near = number - self._first[1] <= _MOST_CONTINUED
        return near and (
            bool(re.match(r"\s*(?:[Rr]ank \d+|is running|[Bb]ut |.*TensorShape)", text))
        )

    def _mismatch(self) -> Sequence[Fact]:
        """State the mismatch told by the lines gathered."""
        whole, first = " ".join(self._said), self._first
        self._said = []
        calls = tuple(_RUNNING.finditer(whole)) or tuple(_CALL.finditer(whole))
        return (
            CollectiveMismatch(
                calls=tuple(_rank_call(int(one["rank"]), one["call"]) for one in calls),
                evidence=self.source.evidence(*first),
            ),
        )


def _rank_call(rank: int, call: str) -> RankCall:
    shape = _SHAPE.search(call)
    named = re.search(r"OpType=(\w+)", call)
    operation = named[1] if named else (_OPERATION.match(call.strip(" _")) or ["", ""])[1]
    return RankCall(rank=rank, operation=operation.lower(), shape=shape[1] if shape else "")


torch_log = Parser(
    tool="PyTorch",
    marks=tuple(sorted({one.mark for one in _PATTERNS} | {"TensorShape"})),
    reader=_Reader,
    rank=15,
)
