"""What launchers and frameworks beside PyTorch's own print when ranks die or cannot meet.

torchrun's summary, Ray, vLLM, SGLang, mpirun, Slurm, shells; gloo and ``nc``.
"""

import errno
import re
from collections.abc import Sequence
from dataclasses import replace

from weft.observe.facts.base import Fact, Process
from weft.observe.facts.collectives import CollectiveMismatch, CollectiveTimeout
from weft.observe.facts.interfaces import HostReached
from weft.observe.facts.programs import (
    Message,
    ProcessEnded,
    SharedMemoryFailed,
    StorageFailed,
)
from weft.observe.facts.transports import NoSocketInterface
from weft.observe.facts.verbs import CallFailed, CompletionError
from weft.observe.parser import READ, Parser
from weft.observe.parsers._values import errno_of, errno_within, integer
from weft.observe.patterns import Line, nothing, words

_SEGFAULT, _KILLED = 11, 9
_MILLI = 1e-3
_NAMED_SIGNALS = {
    "SIGKILL": 9, "SIGSEGV": 11, "SIGABRT": 6, "SIGBUS": 7, "SIGTERM": 15, "SIGINT": 2,
    "Killed": 9, "Segmentation fault": 11, "Bus error": 7, "Aborted": 6,
}  # fmt: skip
_SIGNAL = re.compile(
    r"Signal (?P<number>\d+) \((?P<name>SIG\w+)\) received by PID (?P<pid>\d+)|"
    r"exitcode +: (?P<code>-\d+) \(pid: (?P<pid2>\d+)\)|"
    r"(?:line \d+:|^\s*\[\d+\]\+?) +(?P<pid3>\d+) (?P<word>Killed|Segmentation fault|Bus error)"
    r"(?: +\(core dumped\))? |"
    r"Signal: (?P<mpi_name>Segmentation fault|"
    r"Bus error|Aborted) \(\d+\)|"
    r"Fatal Python error: (?P<python>Segmentation fault|Bus error|Aborted)|"
    r"KILLED BY SIGNAL: (?P<hydra>\d+)|EXIT STRING: [\w ]{1,40}\(signal (?P<hydra2>\d+)\)|"
    r"DataLoader worker \(pid (?P<pid4>\d+)\) is killed by signal: (?P<loader>Killed|"
    r"Segmentation fault|Aborted)|"
    r"[Cc]hild process unexpectedly failed with "
    r"(?:an exit code (?P<child>-?\d+)|exitcode=-(?P<minus>\d+))"
)
_BY_HAND = re.compile(
    r"\b(?:process(?:es)?|worker|peer|rank)s? (?:was |were |is )?killed(?: \w+)?: (?=.{0,40}"
    r"\b(?:rank|pid|worker) ?\d)|"
    r"\b(?:kill(?:all|ed)? (?:-s )?-?(?:9|KILL|SIGKILL)\b|(?:sent|sends|sending|injected?|"
    r"injecting) SIGKILL\b|[Kk]ill(?:ed|ing|s) (?:the )?(?=(?:rank|worker|peer) \d))"
    r"(?=.{0,60}\b(?:rank|worker|peer) ?#?\d)"
)
"""What a harness or a person notes who kills a rank."""
_OF_RANK = re.compile(r"\b(?:rank|worker|peer) ?#?(?P<rank>\d{1,6})\b")
_OF_PROCESS = re.compile(
    r"\bpid[ :=]{1,2}(?P<pid>\d{1,8})\b|\bkill -\w{1,8} (?P<bare>\d{2,8})\b"
)
_GONE = re.compile(
    r"A worker died or was killed while executing a task by an unexpected system error|"
    r"actor died unexpectedly before finishing this task|"
    r"DataLoader worker \(pid\(s\) [\d, ]+\) exited unexpectedly|"
    r"(?:Worker proc|EngineCore|Engine core proc|VllmWorker)\S*+[^\n]{0,40} died "
    r"unexpectedly|"
    r"MPI communication peer process has unexpectedly disconnected|"
    r"ORTE has lost communication with a remote daemon|"
    r"PRTE has lost communication with a remote daemon|"
    r"CANCELLED AT \S+ DUE TO NODE FAILURE|"
    r"(?:Node|Host) failure on (?P<host>[\w.-]+)|"
    r"node (?P<node>[\w.-]+) (?:has failed|is unresponsive|went down)|"
    r"has been marked dead because the detector has missed too many heartbeats|"
    r"Rank \d+ scheduler is dead|"
    r"[Pp]lease check rank \d+ logs for faulty rank",
)
_OUT_OF_MEMORY = re.compile(
    r"worker\(s\) were killed due to memory running low|ray\.exceptions\.OutOfMemoryError|"
    r"Detected \d+ oom[_-]kill event|oom-kill event\(s\)|"
    r"killed by the (?:Linux )?OOM killer|Task was killed due to the node running low "
    r"on memory",
    re.IGNORECASE,
)
_GLOO = re.compile(
    r"gloo/\S+:\d+\] (?P<error>Connection refused|Connection timed out|No route to host|"
    r"Connection reset by peer|Connection closed by peer|connect|Connect timeout|"
    r"Read timeout|Write timeout)[^\[]{0,40}(?:\[(?P<peer>[^\]]{1,80})\])?"
)
_WAITED = re.compile(
    r"gloo/\S+:\d+\] Timed out waiting (?P<ms>\d{1,9})ms for (?:recv|send) operation|"
    r"Scheduler watchdog timeout \(self\.watchdog_timeout=(?P<s>\d{1,6})"
    r"(?!.{0,60}soft=True)"
)
"""What waits in vain for another rank, to which the connection stands: Gloo; SGLang."""
_NEARLY_FULL = re.compile(
    r"(?P<path>/\S{1,200}) is over \d{2,3}% full, available space: .{0,80}Object creation will "
    r"fail"
)
"""What Ray says when it will keep no more of its objects on disk."""
_GLOO_MESH = re.compile(
    r"(?:Gloo )?connectFullMesh failed(?: with)?(?P<rest>.*)|"
    r"timed out connecting: (?P<only>.{1,200})"
)
_GLOO_ERROR = re.compile(
    r"SO_ERROR: (?P<error>[A-Z][\w ]{1,60}?)(?=,|$)"
    r"(?:.{0,60}?remote=\[?(?P<peer>[^\],]{1,60}))?"
)
_GLOO_LOOPBACK = re.compile(r"Unable to resolve hostname to a \(local\) address")
_GLOO_SIZES = re.compile(r"op\.(?:preamble\.)?(?:length|nbytes) <= op\.\w+\. \d+ vs \d+")
_GLOO_JOINED = re.compile(r"\[Gloo\] Rank \d+ is connected to \d+ peer ranks")
_GLOO_STATUS = re.compile(r"wc->status == IBV_WC_SUCCESS\. (?P<status>\d+) vs 0")
_NO_ADDRESS = re.compile(
    r"(?:Unable to find (?:address|interface) for(?: device)?:? ?(?P<name>\S+)|"
    r"gloo/\S+:\d+\] ifa != nullptr\. Unable to find address for: (?P<name2>\S+)|"
    r"No usable network interfaces were found on this host|"
    r"Unable to find a set of common task-to-task communication interfaces)"
)
_REFUSED = re.compile(
    r"(?P<error>Connection refused|Connection timed out|No route to host) "
    r"\[(?P<peer>[\d.]{7,15})\]:\d{2,5}"
)
_NC = re.compile(
    r"(?:nc|ncat|Ncat|netcat|telnet)(?:: connect to|: Unable to connect to| to address) "
    r"(?P<peer>[\w.:-]{1,80})(?: \([^)]*\))?(?: port (?P<port>\d+)(?: \(\w+\))?)?"
    r"(?:(?: failed)?: (?P<error>[A-Z][\w ]+)| (?P<silent>timed out): Operation now)|"
    r"Ncat: (?P<ncat>No route to host|Connection refused|TIMEOUT|Connection timed out)"
)
_NOT_MET = re.compile(
    r"(?P<tcp>unable to complete a TCP connection)|"
    r"(?P<daemon>(?:ORTE|PRTE) daemon has unexpectedly failed after launch)|"
    r"Failed to connect to GCS(?: at address (?P<gcs>[\w.:-]{1,80}))?|"
    r"unable to connect to server (?P<hydra>[\w.-]{1,80}) at port \d+ \(check for firewalls!|"
    r"mpi/pmix\w*: pmixp_dconn_connect: .{0,80}Cannot establish direct connection to "
    r"(?P<slurm>[\w.-]{1,80})"
)
_TASKS = re.compile(
    r"[Uu]nable to connect to [a-z]{2,20} (?:task|driver) service.{0,40} on any of the "
    r"following addresses: (?P<addresses>.{1,400})"
)
"""What Horovod says of a host whose service it could not reach at any of its addresses."""
_ADDRESS = re.compile(r"\('(?P<address>[\d.]{7,15})'")
_HANDSHAKE = re.compile(
    r"SocketHandShakePlugin: connect\(\) ?(?P<peer>[\w.-]{1,80})(?::\d+)?: "
    r"(?P<error>[A-Z][\w ]+?) \[\d+\]"
)
_NC_OPEN = re.compile(r"Connection to (?P<peer>\S+) (?P<port>\d+) port \[\S+\] succeeded")
_SHARED = re.compile(
    r"(?:\bin |\(_Z\d+|\(|^)ncclShm\w*(?:\(|\+0x)|"
    r"DataLoader worker \(pid .{0,30}?is killed by signal: Bus error|"
    r"insufficient shared memory \(shm\)|out of shared memory\. Please try to raise|"
    r"unable to (?:mmap|open|write to file) .{0,60}?(?:/dev/shm|/torch_)|"
    r"shm\w*: .{0,60}?(?:no space|No space left)|"
    r"[Nn]ot enough memory to write .{0,60}?check that /dev/shm|"
    r"(?:shared_mem_pool|vader_segment)\.\S{1,80} \(the shared-memory|"
    r"not enough space for /\S{1,160} \(the shared-memory",
    re.IGNORECASE,
)
_RANK = re.compile(r"(?:\[?[Rr]ank ?|rank +: )(\d{1,6})\b")


def _ended(
    how: str, line: Line, *, pid: int | None = None, signal: int = _KILLED, host: str = ""
) -> Sequence[Fact]:
    rank = _RANK.search(line.text[:400])
    return (
        ProcessEnded(
            how=how,
            pid=pid,
            signal=signal,
            rank=int(rank[1]) if rank else None,
            host=host or line.host,
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _signalled(found: re.Match[str], line: Line) -> Sequence[Fact]:
    told = found.groupdict()
    name = (
        told["loader"]
        or told["word"]
        or told["mpi_name"]
        or told["python"]
        or told["name"]
        or ""
    )
    code = abs(integer(told["code"] or told["child"] or told["minus"]) or 0)
    signal = (
        integer(told["number"] or told["hydra"] or told["hydra2"])
        or _NAMED_SIGNALS.get(name)
        or code
    )
    if not signal:
        return READ
    pid = integer(told["pid"] or told["pid2"] or told["pid3"] or told["pid4"])
    how = "segfault" if signal == _SEGFAULT else "signal"
    return _ended(how, line, pid=pid, signal=signal)


def _by_hand(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State whom a harness killed."""
    del found
    rank, process = _OF_RANK.search(line.text), _OF_PROCESS.search(line.text)
    pid = integer(process["pid"] or process["bare"]) if process else None
    return (
        ProcessEnded(
            how="killed", signal=_KILLED, pid=pid, rank=int(rank["rank"]) if rank else None,
            host=line.host, moment=line.moment, evidence=line.evidence,
        ),
    )  # fmt: skip


def _gone(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return _ended("signal", line, host=found["host"] or found["node"] or "")


def _starved(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    return _ended("oom", line)


def _connect(library: str, peer: str, error: str, line: Line) -> tuple[CallFailed, ...]:
    timed_out = errno.ETIMEDOUT if "time" in error.lower() else None
    return (
        CallFailed(
            call="connect",
            errno=errno_of(error) or errno_within(error)[0] or timed_out,
            error=error,
            peer=peer,
            library=library,
            moment=line.moment,
            process=Process(host=line.host),
            evidence=line.evidence,
        ),
    )


def _gloo(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return _connect("Gloo", (found["peer"] or "").strip(), found["error"].strip(), line)


def _waited(found: re.Match[str], line: Line) -> Sequence[Fact]:
    seconds = int(found["s"]) if found["s"] else int(found["ms"]) * _MILLI
    rank = _RANK.search(line.text[:400])
    process = Process(host=line.host, rank=int(rank[1]) if rank else None)
    return (
        CollectiveTimeout(
            operation="", timeout_s=float(seconds), moment=line.moment, process=process,
            evidence=line.evidence,
        ),
    )  # fmt: skip


def _nearly_full(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        StorageFailed(
            error="nearly full", path=found["path"], moment=line.moment,
            process=Process(host=line.host), evidence=line.evidence,
        ),
    )  # fmt: skip


def _gloo_mesh(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that the mesh of Gloo was not made, and to whom, as far as the line says."""
    told = _GLOO_ERROR.search(found[0])
    error = told["error"] if told else ""
    failed = _connect("Gloo", (told["peer"] or "") if told else "", error, line)
    return failed if told else tuple(replace(one, call="connectFullMesh") for one in failed)


def _gloo_loopback(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        Message(
            software="Gloo", level="warning", text=found[0], moment=line.moment,
            process=Process(host=line.host), evidence=line.evidence,
        ),
    )  # fmt: skip


def _gloo_sizes(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    return (CollectiveMismatch(evidence=line.evidence),)


def _gloo_status(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        CompletionError(
            status=int(found["status"]), library="Gloo", moment=line.moment,
            process=Process(host=line.host), evidence=line.evidence,
        ),
    )  # fmt: skip


def _no_interface(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    return (NoSocketInterface(process=Process(host=line.host), evidence=line.evidence),)


def _nc(found: re.Match[str], line: Line) -> Sequence[Fact]:
    error = (found["error"] or found["ncat"] or found["silent"] or "").strip()
    return _connect("nc", found["peer"] or "", error, line)


def _not_met(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that a launcher did not reach, or hear from, a host; one names a firewall."""
    blocked = found["tcp"] or found["hydra"]
    error = "no route to host, or refused" if blocked else "timed out"
    peer = found["gcs"] or found["hydra"] or found["slurm"] or ""
    failed = _connect("launcher", peer, error, line)
    number = errno.EHOSTUNREACH if blocked else errno.ETIMEDOUT
    return tuple(replace(one, errno=number, error=found[0]) for one in failed)


def _tasks(found: re.Match[str], line: Line) -> Sequence[Fact]:
    peer = _ADDRESS.search(found["addresses"])
    return _connect("Horovod", peer["address"] if peer else "", "timed out", line)


def _handshake(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return _connect("Mooncake", found["peer"], found["error"], line)


def _open(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        HostReached(
            target=found["peer"], sent=1, received=1, host=line.host, evidence=line.evidence
        ),
    )


def _shared(found: re.Match[str], line: Line) -> Sequence[Fact]:
    process = Process(host=line.host)
    return (SharedMemoryFailed(error=found[0], process=process, evidence=line.evidence),)


job_log = Parser(
    tool="launchers and frameworks",
    marks=(
        "received by PID",
        "exitcode",
        "Killed",
        "kill",
        "Kill",
        "SIGKILL",
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
        "KILLED BY",
        "EXIT STRING",
        "complete a TCP connection",
        "daemon has unexpectedly",
        "connect to GCS",
        "check for firewalls",
        "direct connection to",
        "SocketHandShakePlugin",
        "connectFullMesh",
        "SO_ERROR",
        "Unable to resolve hostname",
        "op.preamble",
        "op.nbytes",
        "[Gloo]",
        "missed too many",
        "is dead",
        "for faulty rank",
        "ncclShm",
        "refused [",
        "timed out [",
        "to host [",
        "Unable to find",
        "usable network interfaces",
        "Scheduler watchdog",
        "communication interfaces",
        "following addresses",
        "enough space for",
        "% full, available",
        "nc: ",
        "ncat",
        "Ncat",
        "netcat",
        "telnet",
        "succeeded",
        "shared memory",
        "/dev/shm",  # noqa: S108 - a mark in text
        "/torch_",
    ),
    reader=words(
        (_SHARED, _shared),
        (_OUT_OF_MEMORY, _starved),
        (_SIGNAL, _signalled),
        (_BY_HAND, _by_hand),
        (_GONE, _gone),
        (_NO_ADDRESS, _no_interface),
        (_GLOO_LOOPBACK, _gloo_loopback),
        (_GLOO_SIZES, _gloo_sizes),
        (_GLOO_JOINED, nothing),
        (_GLOO_STATUS, _gloo_status),
        (_NEARLY_FULL, _nearly_full),
        (_WAITED, _waited),
        (_GLOO, _gloo),
        (_GLOO_MESH, _gloo_mesh),
        (_REFUSED, _gloo),
        (_NOT_MET, _not_met),
        (_TASKS, _tasks),
        (_HANDSHAKE, _handshake),
        (_NC_OPEN, _open),
        (_NC, _nc),
    ),
    rank=16,
    longest=1024,
)
