"""Logs of transports beside the collective library: UCX, MPI, SHARP, NVSHMEM, libfabric."""

import errno
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from weft.observe.facts.base import Fact, LinkLayer, Process
from weft.observe.facts.benchmarks import TransferSetup
from weft.observe.facts.hosts import Limit, ModuleAbsent
from weft.observe.facts.programs import Message
from weft.observe.facts.transports import DmaBufAvailable, InNetworkReduction
from weft.observe.facts.verbs import AdapterEvent, CallFailed, CompletionError
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._values import errno_of, integer
from weft.observe.patterns import Line, match, nothing, pattern

_WHO = re.compile(r"\[(?P<host>[\w.-]{1,80}):(?P<pid>\d{1,8}):\d")
_LAYERS = {"IB": LinkLayer.INFINIBAND, "RoCE": LinkLayer.ETHERNET}
_DESTINATION = re.compile(r"dlid=(\d+)")
_REMOTE = re.compile(r"dgid=([0-9a-fA-F:.]+)")
_INDEX = re.compile(r"\b(?:sgid_)?index=(\d+)")
_LENGTH = re.compile(r"\blength=(\d{1,16})\b")
_CURRENT = re.compile(r"\(current: (\d{1,12}) kbytes\)")
_KIBI = 1 << 10
_PML = re.compile(r"\b(?:PML|pml|mtl|MTL) \w+ cannot")
_MULTI_LINE = 3
_IN_VAIN = re.compile(r"(?:[Ff]ailed|[Uu]nable) to$|[Cc]ould ?n[o']t$|[Cc]an(?:not|'t)$|not$")
_REFUSED_PORT = re.compile(r"\bport\b.{0,60}\b(?:not valid|invalid|not usable|skip)")
_LOGGED = re.compile(r"ERROR|[Ee]rror|WARN|\]\[|\d\d:\d\d:\d\d|NCCL")


def _process(line: Line) -> Process:
    found = _WHO.search(line.text[:200])
    if not found:
        return Process(host=line.host)
    return Process(host=found["host"], pid=int(found["pid"]))


def _dma_buf(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    return (DmaBufAvailable(process=_process(line), evidence=line.evidence),)


_NO_ANSWER = 12
"""No answer to what was sent again and again [libibverbs, IBV_WC_RETRY_EXC_ERR]."""


def _completion(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        CompletionError(
            status=_STATUS.get(found["what"], 0) or _status_of(int(found["synd"], 16)),
            vendor_error=int(found["vend"], 16),
            adapter=found["adapter"],
            port=int(found["port"]),
            link_layer=_LAYERS.get(found["layer"], LinkLayer.UNKNOWN),
            library="UCX",
            moment=line.moment,
            process=_process(line),
            evidence=line.evidence,
        ),
    )


_STATUS = {
    "Local length": 1,
    "Local QP operation": 2,
    "Local protection": 4,
    "WR flushed": 5,
    "Remote invalid request": 9,
    "Remote access": 10,
    "Remote operation": 11,
    "Remote OP": 11,
    "Transport retry count exceeded": 12,
    "Receiver-not-ready retry count exceeded": 13,
    "RNR retry count exceeded": 13,
}
_SYNDROMES = {0x1: 1, 0x2: 2, 0x4: 4, 0x5: 5, 0x12: 9, 0x13: 10, 0x14: 11, 0x15: 12, 0x16: 13}


def _status_of(syndrome: int) -> int:
    """Return the verbs status of a completion syndrome [mlx5 PRM, CQE errors]."""
    return _SYNDROMES.get(syndrome, 0)


def _limit(line: Line) -> Sequence[Fact]:
    """State the limit of locked memory that UCX names where it was not enough."""
    told = _CURRENT.search(line.text)
    if not told:
        return READ
    limit = int(told[1]) * _KIBI
    host = _process(line).host
    return (Limit(name="memlock", limit=limit, host=host, evidence=line.evidence),)


def _call(found: re.Match[str], line: Line) -> Sequence[Fact]:
    text = line.text
    error = found["error"].strip(" ,:.")
    index, remote = _INDEX.search(text), _REMOTE.search(text)
    length = _LENGTH.search(text)
    device = re.search(r"\bon (\w+)(?::(\d+))? failed|\(dev=(\w+)", text)
    return (
        *_limit(line),
        CallFailed(
            call=found["call"],
            errno=integer(found.groupdict().get("errno")) or errno_of(error),
            error=error,
            adapter=(device[1] or device[3]) if device else "",
            gid_index=int(index[1]) if index else None,
            remote_gid=remote[1] if remote else "",
            size_bytes=int(length[1]) if length else None,
            library="UCX",
            moment=line.moment,
            process=_process(line),
            evidence=line.evidence,
        ),
    )


def _to_whom(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State the far end of a queue that failed; over Ethernet there is no LID."""
    return (
        TransferSetup(
            operation="UCX",
            link_layer=LinkLayer.UNKNOWN if int(found["lid"]) else LinkLayer.ETHERNET,
            gid_index=int(found["index"]),
            remote_gid=found["gid"],
            evidence=line.evidence,
        ),
    )


def _configured(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    device = re.search(r"/(\w+):(\d+)", line.text)
    if not device:
        return ()
    return (TransferSetup(operation="UCX", adapter=device[1], evidence=line.evidence),)


_DIAGNOSED = re.compile(
    r"failed: Connection reset by remote peer|error 'Connection reset by remote peer'|"
    r"rp_filter is set to strict mode"
)
"""What UCX says for diagnosis alone and tells of a cause."""
_HARMLESS = re.compile(r"exceeded transports/devices limit")
"""What UCX calls an error and goes on from: it leaves out what is beyond its tables."""


def _ucx(found: re.Match[str], line: Line) -> Sequence[Fact]:
    level = found["level"].lower()
    told = level in {"error", "warn", "fatal"} or _DIAGNOSED.search(found["text"])
    if not told or _HARMLESS.search(found["text"]):
        return READ
    return (
        Message(
            software="UCX",
            level="error" if level in {"error", "fatal"} else "warning",
            text=found["text"].strip()[:300],
            moment=line.moment,
            process=_process(line),
            evidence=line.evidence,
        ),
    )


def _unconnected(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that a peer could not be reached over TCP."""
    return (
        CallFailed(
            call="connect", errno=errno_of(found["error"]), error=found["error"].strip(),
            peer=found["peer"], library="UCX", moment=line.moment, process=_process(line),
            evidence=line.evidence,
        ),
    )  # fmt: skip


def _without_gpus(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that UCX finds no way for the adapter to GPU memory, where it was told to."""
    del found
    host = _process(line).host
    return (ModuleAbsent(name="nvidia_peermem", host=host, evidence=line.evidence),)


def _pml(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        Message(
            software="UCX",
            level="error",
            text=found["text"].strip()[:300],
            moment=line.moment,
            process=_process(line),
            evidence=line.evidence,
        ),
    )


def _sharp_said(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State a complaint that names SHARP, where a program and not a person wrote it."""
    return _sharp(found, line) if _LOGGED.search(line.before) else READ


def _sharp_unlocked(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that a group could not have a tree for itself, whichever way it is said."""
    return _sharp(found, line) if _IN_VAIN.search(line.before) else READ


def _sharp_of_manager(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that a port is refused since the subnet manager uses it."""
    return _sharp(found, line) if _REFUSED_PORT.search(line.before) else READ


def _sharp(found: re.Match[str], line: Line) -> Sequence[Fact]:
    code = re.search(r"\((-?\d+)\)|status: (\d+)", line.text)
    return (
        InNetworkReduction(
            available=False,
            reason=found["reason"].strip(),
            code=int(code[1] or code[2]) if code else None,
            process=_process(line),
            evidence=line.evidence,
        ),
    )


def _mpi_connect(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        CallFailed(
            call="connect",
            peer=found["peer"],
            error=(found["error"] or "").strip(),
            errno=integer(found["errno"]) or errno_of(found["error"] or ""),
            library="MPI",
            moment=line.moment,
            process=_process(line),
            evidence=line.evidence,
        ),
    )


def _mpi(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        Message(
            software="MPI",
            level="warning",
            text=found[0].strip()[:300],
            process=_process(line),
            evidence=line.evidence,
        ),
    )


def _mpi_failed(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that MPI could not begin or send; it gives up then."""
    told = _mpi(found, line)
    return tuple(replace(one, level="error") for one in told if isinstance(one, Message))


def _asynchronous(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State an asynchronous event of an adapter, as programs other than NCCL name it."""
    event = found["event"].strip().lower()
    where = (found.groupdict().get("where") or "").lower()
    queue = where in {"qp", "cq", "srq"} or "work queue" in event
    return (
        AdapterEvent(
            event=event, on="qp" if queue else "port" if "port" in event else "device",
            adapter=found["adapter"], fatal=bool(re.search("fatal|catastrophic", event)),
            moment=line.moment, process=_process(line), evidence=line.evidence,
        ),
    )  # fmt: skip


def _shared(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        CallFailed(
            call="shm_open", error=found["error"].strip(), errno=errno_of(found["error"]),
            library="PSM2", moment=line.moment, process=_process(line), evidence=line.evidence,
        ),
    )  # fmt: skip


def _unanswered(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that a peer did not answer, which an unreliable endpoint notices by itself."""
    del found
    return (
        CompletionError(
            status=_NO_ANSWER, library="UCX", moment=line.moment, process=_process(line),
            evidence=line.evidence,
        ),
    )  # fmt: skip


def _port_event(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State the event that Open MPI prints by its number and name of the verbs."""
    name = found["event"].lower().replace("_", " ").replace("err", "error")
    return (
        AdapterEvent(
            event=name, on="port" if "port" in name else "device", fatal="fatal" in name,
            moment=line.moment, process=_process(line), evidence=line.evidence,
        ),
    )  # fmt: skip


def _nixl(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        Message(
            software="NIXL", level="error", text=found[0], moment=line.moment,
            process=_process(line), evidence=line.evidence,
        ),
    )  # fmt: skip


def _unheard(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that the first word of a peer never came, so that there is no connection."""
    return (
        CallFailed(
            call="connect", errno=errno.ETIMEDOUT, error="timed out: no handshake came",
            peer=found["peer"], library="NIXL", moment=line.moment, process=_process(line),
            evidence=line.evidence,
        ),
    )  # fmt: skip


def _unlike_rails(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return tuple(
        replace(one, level="warning") for one in _nixl(found, line) if isinstance(one, Message)
    )


def _unselected(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that the transport asked for cannot be selected, where MPI says it."""
    return _mpi_failed(found, line) if _PML.search(line.text) else READ


_FRAME = r"(?:\(\)\s+\S{1,200}:\d+|\+0x)"
"""What follows a function in a stack, as UCX and as the C library print it."""


def _crashed(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that a process died in the frames in which a transport begins."""
    return (
        Message(
            software="UCX", level="error", text=f"crashed in {found['function']}",
            process=_process(line), evidence=line.evidence,
        ),
    )  # fmt: skip


_PATTERNS = (
    pattern("ucp_init", rf"(?P<function>ucp_init\w*){_FRAME}", _crashed),
    pattern("uct_md_open", rf"(?P<function>uct_md_open\w*){_FRAME}", _crashed),
    pattern("mca_pml_ucx_open", rf"(?P<function>mca_pml_ucx_open){_FRAME}", _crashed),
    pattern(
        "ib_mlx5_log.c",
        r"ib_mlx5_log\.c:\d+\s+(?:UCX\s+\w+\s+)?(?P<what>[A-Z][\w -]+?)(?: error)? on "
        r"(?P<adapter>\w+):(?P<port>\d+)/"
        r"(?P<layer>\w+) \(synd (?P<synd>0x[0-9a-f]+) vend (?P<vend>0x[0-9a-f]+)",
        _completion,
    ),
    pattern(
        "QP 0x",
        r"QP 0x\w+ wqe\[\d+\].{0,160}?\bdlid=(?P<lid>\d+) .{0,80}?\bdgid="
        r"(?P<gid>[\da-fA-F:.]+) .{0,60}?sgid_index=(?P<index>\d+)",
        _to_whom,
    ),
    pattern("ib_mlx5_log.c", r"ib_mlx5_log\.c:\d+", nothing),
    *(
        pattern(
            word,
            rf"(?P<what>{word})(?: error)? on (?P<adapter>\w+):(?P<port>\d+)/"
            r"(?P<layer>\w+) \(synd (?P<synd>0x[0-9a-f]+) vend (?P<vend>0x[0-9a-f]+)",
            _completion,
        )
        for word in _STATUS
    ),
    pattern(
        "ibv_",
        r"(?P<call>ibv_\w+)\([^)]{0,400}\).{0,200}? failed: (?:(?P<errno>\d+) )?"
        r"(?P<error>[A-Z][\w ]+)",
        _call,
    ),
    pattern(
        "ibv_",
        r"(?P<call>ibv_\w+)\([^)]{0,400}\) error .*?failed, (?P<errno>\d+) "
        r"(?P<error>[A-Z][\w ]+)",
        _call,
    ),
    pattern(
        "ibv_",
        r"(?P<call>ibv_\w+)\([^)]{0,400}\) returned (?P<errno>[1-9]\d{0,2}): "
        r"(?P<error>[A-Z][\w ]+)",
        _call,
    ),
    pattern(
        "UD endpoint ",
        r"UD endpoint \S{3,20} to .{0,120}?: unhandled timeout",
        _unanswered,
    ),
    pattern(
        "Received context async",
        r"Received context async event (?P<event>[A-Za-z][\w /-]{2,40}?) for context "
        r"(?P<adapter>\w+)",
        _asynchronous,
    ),
    pattern(
        "IB Async event on",
        r"IB Async event on (?P<adapter>\w+): "
        r"(?P<event>port (?:active|error)|[a-z][\w -]{2,60}?)"
        r"(?= on (?P<where>port|QP|CQ|SRQ)|\s*$|[^\w -])",
        _asynchronous,
    ),
    pattern(
        "Error number:",
        r"Error number:\s+\d+ \(IBV_EVENT_(?P<event>PORT_ERR|DEVICE_FATAL)\)",
        _port_event,
    ),
    pattern("shm_open: ", r"shm_open: (?P<error>[A-Z][\w ]{3,60})", _shared),
    pattern(
        "Handshake from peer",
        r"Handshake from peer '?(?P<peer>[^\s']{1,120})'? not received after",
        _unheard,
    ),
    pattern(
        "Rail count mismatch",
        r"Rail count mismatch \(local: \d{1,4}, remote: \d{1,4}\)",
        _unlike_rails,
    ),
    pattern("NIXL_ERR_", r"NIXL_ERR_[A-Z_]{4,30}", _nixl),
    pattern("inter-node cfg", r"inter-node cfg", _configured),
    pattern("pml_ucx.c", r"pml_ucx\.c:\d+ +Error: (?P<level>)(?P<text>.*)", _pml),
    pattern(
        "connect(fd=",
        r"connect\(fd=\d{1,7}, dest_addr=(?P<peer>[^\s)]{1,80})\) failed: "
        r"(?P<error>[A-Z][\w ]{3,60})",
        _unconnected,
    ),
    pattern("Couldn't enable GPUDirect RDMA", r"Couldn't enable GPUDirect RDMA", _without_gpus),
    pattern("UCX  ", r"UCX  (?P<level>\w+)\s+(?P<text>.*)", _ucx),
    pattern("SHARPD_OP_", r"SHARPD_OP_\w+ (?P<reason>failed.*)", _sharp),
    pattern("sharp_create_job", r"(?P<reason>sharp_create_job.*)", _sharp),
    pattern("No Aggregation Manager", r"(?P<reason>No Aggregation Manager.*)", _sharp),
    pattern("no AM service record", r"(?P<reason>no AM service record.*)", _sharp),
    pattern("unable to connect to AM", r"(?P<reason>unable to connect to AM.*)", _sharp),
    *(
        pattern(word, rf"{word}.{{0,120}}?(?P<reason>RDMA_CM_EVENT_UNREACHABLE)", _sharp)
        for word in ("sharp", "SHARP", "AM ")
    ),
    pattern("tree lock failed", r"(?P<reason>tree lock failed.*)", _sharp),
    pattern(" lock ", r" lock (?P<reason>.{0,60}\b(?:[Tt]ree|SAT|LLT)\b.*)", _sharp_unlocked),
    pattern("used by SM", r"(?P<reason>used by SM.*)", _sharp),
    pattern(
        "used by ",
        r"(?P<reason>used by (?:the )?(?:SM|opensm|[Ss]ubnet [Mm]anager)\b.*)",
        _sharp_of_manager,
    ),
    pattern(
        "Local Port validation failed", r"(?P<reason>Local Port validation failed.*)", _sharp
    ),
    pattern(
        "Begin job id",
        r"Begin job id: \d+ failed with status: (?P<reason>.*)",
        _sharp,
    ),
    pattern(
        "SHARP",
        r"(?P<reason>SHARP(?:D|_\w+|)\b.{0,60}(?:[Ff]ail|[Ee]rror|[Uu]navailable|[Nn]o "
        r"(?:resource|tree)|NO_RESOURCES).*)",
        _sharp_said,
    ),
    pattern(
        "] ERROR ",
        r"\] ERROR (?P<reason>.{0,40}(?:[Ss][Hh][Aa][Rr][PpP]|SAT tree|LLT tree|[Aa]ggregation "
        r"[Mm]anager|connect to AM\b).*)",
        _sharp,
    ),
    pattern(
        "][error] - ",
        r"\]\[error\] - (?P<reason>.{0,60}(?:[Jj]ob|[Tt]ree|[Aa]ggregation).{0,40}(?:fail|"
        r"[Nn]o (?:resource|tree)|[Uu]navailable).*)",
        _sharp,
    ),
    pattern(
        "][error] - ",
        r"\]\[error\] - (?P<reason>(?:Job \d+: )?Failed to (?:allocate|create|begin) "
        r"(?:job|tree|aggregation).*)",
        _sharp,
    ),
    pattern(" - context.c:", r" - context\.c:\d+\]", nothing),
    pattern(" - comm.c:", r" - comm\.c:\d+\]", nothing),
    pattern(" - tree_ops.c:", r" - tree_ops\.c:\d+\]", nothing),
    pattern("ibv_reg_dmabuf_mr handle", r"ibv_reg_dmabuf_mr handle \S+ mr \S+", _dma_buf),
    pattern("NVSHMEM ", r"NVSHMEM (?:INFO|WARN|ERROR|DEBUG)", nothing),
    pattern("The vader shared memory BTL", r"The vader shared memory BTL.*", nothing),
    pattern("mechanism if one is available", r"mechanism if", nothing),
    pattern("WARNING: Could not generate an xpmem", r"WARNING: Could not.*", nothing),
    pattern("address space.", r"address space\.", nothing),
    pattern("Local host:", r"Local host:", nothing),
    pattern("Error code:", r"Error code:", nothing),
    pattern("more processes have sent help message", r"more processes have", nothing),
    pattern("Set MCA parameter", r"Set MCA parameter", nothing),
    pattern(
        "connect() to ",
        r"connect\(\) to (?P<peer>[\w.:-]+) failed(?:: (?P<error>[^(\n]{1,80})"
        r"(?:\((?P<errno>\d+)\))?)?",
        _mpi_connect,
    ),
    pattern("Open MPI failed", r"Open MPI failed to TCP connect", nothing),
    pattern("Open MPI failed an OFI", r"Open MPI failed an OFI.*", _mpi_failed),
    pattern("Open MPI failed", r"Open MPI failed.*", _mpi),
    pattern("OPAL ERROR", r"OPAL ERROR.*", _mpi),
    pattern("OFI ", r"OFI (?:\w+ ){1,6}failed\b.*|OFI \w+\(\) failed.*", _mpi_failed),
    pattern(
        "ucx function returned", r"ucx function returned with failed status.*", _mpi_failed
    ),
    pattern("unable to reach each other for", r"unable to reach each other for.*", _mpi_failed),
    pattern("MPI process is unreachable", r"MPI process is unreachable.*", _mpi_failed),
    pattern("Source IP of socket:", r"Source IP of socket:.*", _mpi),
    pattern("No components were able", r"No components were able to be opened.*", _mpi_failed),
    pattern("cannot be selected", r"cannot be selected", _unselected),
    pattern(", but peer ", r", but peer .{1,80} selected pml \w+", _mpi_failed),
    pattern("allow registering part", r"allow registering part of your physical.*", _mpi),
    pattern("UCX CUDA support was not", r"UCX CUDA support was not found.*", _mpi),
    pattern("VRAM memory is detected", r"VRAM memory is detected as host.*", _mpi),
    pattern("PMI support and", r"PMI support and therefore cannot", _mpi_failed),
    pattern(
        "unable to reliably start", r"unable to reliably start one or more daemons", _mpi_failed
    ),
    pattern("MPIR_Init", r"MPIR_Init(?!.{0,400}cannot create)", nothing),
    pattern("MPID_Init", r"MPID_Init(?!.{0,400}cannot create)", nothing),
)


@dataclass(slots=True)
class _Reader:
    """Reads lines, and a call that is broken over two of them."""

    source: Source
    broken: str = ""
    broken_at: int = 0

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        if self.broken and number - self.broken_at <= _MULTI_LINE:
            text, self.broken = f"{self.broken} {text.strip()}", ""
        if (
            "ibv_" in text
            and "(" in text
            and "failed" not in text
            and ")" not in text.partition("ibv_")[2]
        ):
            self.broken, self.broken_at = text.rstrip()[:1000], number
            return READ if "UCX" in text else None
        return match(_PATTERNS, Line(text, number, self.source))

    def end(self) -> Iterable[Fact]:
        """Keep nothing to the end."""
        return READ


transport_log = Parser(
    tool="UCX, MPI and SHARP logs",
    marks=tuple(sorted({one.mark for one in _PATTERNS})),
    reader=_Reader,
    rank=18,
)
