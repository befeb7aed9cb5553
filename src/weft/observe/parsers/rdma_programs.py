"""What any program prints when RDMA fails it: the verbs library, perftest, stores, MPI, UCX.

Each program has words of its own for the same few failures (memory not registered, a queue
pair not made, no device, no provider), so the words are sought, whoever wrote them.
"""

import errno
import re
from collections.abc import Sequence
from dataclasses import replace

from weft.observe.facts.adapters import AdapterPort
from weft.observe.facts.base import Fact, LinkLayer, PortState, Process
from weft.observe.facts.benchmarks import TransferSetup
from weft.observe.facts.hosts import DeviceNode, Limit, ModuleAbsent
from weft.observe.facts.programs import Message
from weft.observe.facts.transports import AdapterOpenFailed, NoRdmaDevice, NoVerbsLibrary
from weft.observe.facts.verbs import AdapterEvent, CallFailed, CompletionError
from weft.observe.parser import READ, Parser
from weft.observe.parsers import _ib_diagnostics
from weft.observe.parsers._values import errno_within, integer, size
from weft.observe.parsers.reach_table import asked_in_vain
from weft.observe.patterns import Build, Line, nothing, words

_SAID = r"(?:fail(?:ed|s|ure)?|couldn'?t|could not|cannot|can't|unable to|error)"
_REGISTERING = re.compile(
    rf"(?:{_SAID}\b.{{0,60}}?\b(?:regist(?:er|ration|ering)\b.{{0,40}}?\b(?:memory|mr|buffer|"
    r"region|heap)|(?:allocate|create|creating|reg) mr)\b|"
    r"\b(?:mem(?:ory)?|mr|buffer|heap)[ _]?(?:region )?regist(?:er|ration)\w*\b.{0,40}?\bfail|"
    rf"\bfi_mr_reg\w*\b.{{0,60}}?{_SAID}|\bregister[_ ]memory\w*\b.{{0,60}}?{_SAID}|"
    r"\bRegister\w{0,20}Memory\w{0,20} failed)",
    re.IGNORECASE,
)
_QUEUE_PAIR = re.compile(
    rf"{_SAID}\b.{{0,40}}?\b(?:create|creating|allocate) (?:an? |the )?"
    r"(?:qp|queue pair|cq|completion queue|srq)\b",
    re.IGNORECASE,
)
_NO_DEVICE = re.compile(
    r"(?:No (?:IB|ibverbs|RDMA|InfiniBand|HCA) devices?(?: were| are)? (?:found|available|"
    r"detected|present)|"
    r"Did not detect devices|Unable to find the Infiniband/RoCE device|"
    r"(?:No|0) (?:HCAs?|RNICs?) (?:were |are )?(?:found|available)|No available RNIC|"
    r"couldn't read (?:uverbs )?ABI version|unable to get RDMA device list|"
    r"unable to open /dev/infiniband/rdma_cm|no RDMA devices|"
    r"can't list IB devices|No matching device found|Failed to get IB devices? list)",
    re.IGNORECASE,
)
_NOT_THERE = re.compile(
    r"IB device (?P<name>\S+) not found|Unable to find IB device (?P<other>\S+)|"
    r"No match(?:ed|ing) device found: (?P<third>\S+)|"
    r"Invalid IB devices specified: \[(?P<fourth>'[^']{1,40}')|"
    r"Unable to find device named: (?P<fifth>\S+)"
)
_PROVIDER = re.compile(
    r"Warning: (?:no userspace device-specific driver found for (?P<path>\S+)|"
    r"Driver (?P<driver>\S+) does not support the kernel ABI|"
    r"couldn't (?:load|open) driver '?(?P<load>[^\s':]+)'?|"
    r"couldn't open config directory '?(?P<folder>[^']+)'?)"
)
_LOADER = re.compile(
    r"(?P<library>lib(?:ibverbs|mlx5|mlx4|rdmacm)\S*?)(?:\.so[.\d]*)?: cannot open "
    r"shared object|(?P<absent>lib(?:ibverbs|rdmacm|mlx[45]|bnxt_re|efa|irdma|ionic|hns|erdma|"
    r"mana)\S*?)(?:\.so[.\d]*)? => not found|(?P<mixed>lib(?:ibverbs|mlx[45]|efa|bnxt_re)\S*?)"
    r"(?:\.so[.\d]*): (?:undefined symbol|version `?IBVERBS_PRIVATE)|symbol lookup error: "
    r"\S*?(?P<torn>lib(?:ibverbs|mlx[45]|efa|bnxt_re)[\w-]*)\.|"
    r"undefined symbol: (?P<symbol>(?:ibv_|mlx5dv_|efadv_|rdma_)\w+)"
)
_VERBS_CALL = re.compile(
    r"\b(?P<call>ibv_(?:reg|create|modify|open|alloc|query|get)_\w+)(?:\([^)]{0,120}\))?:? "
    r"(?:call |has )?(?:failed|error|returned(?: error)?|Cannot allocate memory|Bad address|"
    r"Invalid argument)\b",
)
_MODIFY = re.compile(
    r"[Ff]ailed to (?:modify|transition|connect) (?:the )?(?:\w+ )?QP\b.{0,40}?\bto "
    r"(?P<state>INIT|RTR|RTS)\b"
)
_USED_GID = re.compile(
    r"(?:RDMA )?[Dd]evice:? (?P<adapter>\w+), LID: ?(?P<lid>\d+), GID: (?:\(GID_Index "
    r"(?P<index>\d+)\) )?(?P<gid>[0-9a-f]{2}(?::[0-9a-f]{2}){15})\b"
)
_END = re.compile(
    r"^\s*(?P<end>local|remote) address:\s+LID 0x(?P<lid>[0-9a-f]{4}), QPN 0x[0-9a-f]+, PSN "
    r"0x[0-9a-f]+(?:, GID|: GID) (?P<gid>[0-9a-f:.]{2,45})\s*$"
)
"""An end of a queue pair as the examples of the verbs library print it."""
_USED_INDEX = re.compile(
    r"\b(?P<adapter>(?:mlx[45]|bnxt_re|irdma|rocep|roceo|qedr|ionic|erdma|rdma|hns)\w*)"
    r"(?::\d+|[ ,]+port[ =:]*\d+)?[^\w\n]{1,4}(?:(?:is )?(?:using|uses|chose|selected|picked)"
    r"\s+)?s?gid[ _]?ind?e?x[ =:]+(?P<index>\d+)\b|"
    r"\b(?:using|chose|selected|picked) (?:s?gid[ _]?ind?e?x)[ =:]+(?P<index2>\d+)[ ,]+"
    r"(?:for|on)(?: device| dev| port)?[ =:]+(?P<adapter2>[a-z]\w+)",
    re.IGNORECASE,
)
_CM_EVENT = re.compile(
    r"Received \d+ times (?P<event>ADDR_ERROR|ROUTE_ERROR|REJECTED|UNREACHABLE)|"
    r"RDMA_CM_EVENT_(?P<named>ADDR_ERROR|ROUTE_ERROR|CONNECT_ERROR|UNREACHABLE|REJECTED)|"
    r"Unexpected CM event bl blka (?P<number>\d+)"
)
_CM_NUMBERS = {"1": "ADDR_ERROR", "3": "ROUTE_ERROR", "6": "CONNECT_ERROR",
               "7": "UNREACHABLE", "8": "REJECTED"}  # fmt: skip
"""Events of the connection manager [librdmacm, enum rdma_cm_event_type]."""
_CM_STATUS = re.compile(r"\b(?:error|status)[ :=]{1,3}-(?P<number>\d{1,3})\b")
_UNANSWERED = frozenset({errno.ETIMEDOUT, errno.EHOSTUNREACH, errno.ENETUNREACH})
"""What the resolution of an address ends with where somebody was asked and did not answer."""
_RESOLVING = re.compile(
    r"\b(?:rdma_(?:resolve|bind)_addr\b[^:]{0,120}?(?:: |\bfailed\b.{0,20}?)"
    r"(?:No such device|Connection timed out|No route to host|Network is unreachable)|"
    r"Unable to resolve the ADDR with rdma_resolve_addr)"
)
"""What programs print of ``rdma_resolve_addr`` and ``rdma_bind_addr`` [librdmacm]."""
_MODULE = re.compile(
    r"(?<![/\w])(?P<name>nvidia[_-]peermem|nv_peer_mem)\b.{0,30}?\b(?:not (?:loaded|found|"
    r"running|detected)|missing|is(?:n't| not) loaded)|"
    r"GPU ?(?:Direct )?RDMA without nvidia[_-]peermem|"
    r"ib_?core is not using (?:the )?(?:nvidia_)?peermem",
    re.IGNORECASE,
)
_NEEDS_MODULE = re.compile(
    r"(?:require[sd]?|need(?:s|ed)?|unsupported|not supported|fail(?:ed|s)?)\b.{0,60}?\b"
    r"without (?P<name>nvidia[_-]peermem|nv_peer_mem)\b"
)
_SCRIPT = re.compile(
    r"peermem-ctr\b.{0,200}(?:unbound variable|[Ff]ail|[Ee]rror)|"
    r"failed to load nvidia.peermem module"
)
"""What the container that loads the module on Kubernetes says when it cannot."""
_ADAPTERS = re.compile(r"mlx[45]|bnxt|efa|irdma|erdma|ionic|qedr|hns|mana|uverbs")
_LIMIT = re.compile(
    r"(?:Memlock limit:\s+|RLIMIT_MEMLOCK (?:is|of) |\(current: )(?P<limit>\d+|unlimited)"
    r"(?: (?P<unit>kbytes|KB|bytes))?"
)
_LOCKED = re.compile(
    r"severely limit memory registrations|allocate some locked memory|"
    r"memlock\b.{0,40}\btoo (?:low|small)|increase the (?:memlock|max locked memory)|"
    r"set max locked memory \(ulimit -l\)",
    re.IGNORECASE,
)
_MANAGER = re.compile(
    r"(?:can't open UMAD port|umad_init: .*fail|can't init UMAD library)", re.IGNORECASE
)
_GID_TYPE = re.compile(r"(?:read|open) failed in ncclIbRoceGetVersionNum: ")
_UNOPENED = re.compile(
    r"^\s*(?:Failed to open device|Couldn't get context for (?:the device|"
    r"(?P<adapter>\w+)))\s*$"
)
_REFUSED = re.compile(
    r"\bibv_open_device\b.{0,60}?(?P<error>Permission denied|Operation not permitted)"
)
_CLOSED = re.compile(
    r"\bDevice (?P<path>/dev/infiniband/uverbs\d{1,3}) is not accessible for read"
)
_NOT_ACTIVE = re.compile(
    r"\b[Dd]evice (?P<adapter>[a-z]\w{1,30}),? port (?P<port>\d{1,2} )?(?:is )?not active\b"
)
"""What a program says of a port that it was told to use, or came upon."""
_SLOW_BUILD = re.compile(
    r"[1-9]\d{0,2} IB devices?(?:\(s\))? (?:were|was) detected, but accelerated IB support was "
    r"not found"
)
"""NIXL, of a UCX that was built without what drives the adapters."""
_PAIR = re.compile(r"\blocal_nic: (?P<local>\w{1,30}), peer_nic: (?P<peer>[^\s,]{1,80})")
_WATCHED = re.compile(
    r"^\s*event_type (?P<event>[\w ]{3,60}?) \((?P<number>\d+)\), port (?P<port>\d+)"
)
_UNNAMED_PARTITION = re.compile(r"acm_ep_up: ERROR - unable to assign EP name for pkey 0x")
"""What ibacm says of each partition that has no interface on the host, as those of guests."""
_DEVICE_FATAL = 8
"""Of a device itself [libibverbs, enum ibv_event_type]."""
_NO_GID = re.compile(
    r"can't read sgid of index (?P<index>\d+)|Could not get local gid for gid index "
    r"(?P<index2>\d+)|[Ff]ailed to query gid .{0,40}?index (?P<index3>\d+)|"
    r"Failed to query GID (?P<index4>\d+) on "
)
_EMPTY_GID = re.compile(
    r"GID is NULL, please check|(?:s?gid|GID) (?:at index \d+ )?is (?:all )?zeros?\b"
)
_COMPATIBLE = re.compile(r"is not loaded\. Disabling UserSpace RDMA")
"""What cuFile says where storage is local: it needs the module for remote file systems only."""
_MAD = re.compile(r"^(?!.{0,60}nvlsm: ).{0,200}?(?:ibwarn|ibpanic|\S{1,24}: iberror): ")
_HOST = re.compile(r"(?P<host>[A-Za-z][\w.-]{1,80}):\d+:\d+[ :]")


def _process(line: Line) -> Process:
    who = _HOST.search(line.text[:200])
    return Process(host=who["host"] if who else line.host)


def _call_failed(call: str, line: Line, adapter: str = "") -> CallFailed:
    code, error = errno_within(line.text)
    return CallFailed(
        call=call,
        errno=code,
        error=error,
        adapter=adapter,
        library="verbs program",
        moment=line.moment,
        process=_process(line),
        evidence=line.evidence,
    )


def _failed(call: str) -> Build:
    def build(found: re.Match[str], line: Line) -> Sequence[Fact]:
        del found
        return (_call_failed(call, line),)

    return build


def _called(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (_call_failed(found["call"], line),)


def _no_device(found: re.Match[str], line: Line) -> Sequence[Fact]:
    cause = found[0].strip().lower()
    return (NoRdmaDevice(cause=cause, process=_process(line), evidence=line.evidence),)


def _not_there(found: re.Match[str], line: Line) -> Sequence[Fact]:
    name = next(one for one in found.groups() if one).strip("'\":,.")
    return (_call_failed("open device", line, adapter=name),)


def _modified(found: re.Match[str], line: Line) -> Sequence[Fact]:
    failed = _call_failed("ibv_modify_qp", line)
    return (replace(failed, next_state=found["state"]),)


def _used_gid(found: re.Match[str], line: Line) -> Sequence[Fact]:
    digits = found["gid"].replace(":", "")
    gid = ":".join(digits[at : at + 4] for at in range(0, len(digits), 4))
    return (
        TransferSetup(
            adapter=found["adapter"],
            link_layer=LinkLayer.ETHERNET if found["lid"] == "0" else LinkLayer.INFINIBAND,
            gid_index=integer(found["index"]),
            local_gid=gid,
            evidence=line.evidence,
        ),
    )


def _end(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State the GID of an end; over Ethernet there is no LID."""
    ethernet = int(found["lid"], 16) == 0
    is_local = found["end"] == "local"
    return (
        TransferSetup(
            operation="pingpong",
            link_layer=LinkLayer.ETHERNET if ethernet else LinkLayer.INFINIBAND,
            local_gid=found["gid"] if is_local else "",
            remote_gid="" if is_local else found["gid"],
            evidence=line.evidence,
        ),
    )


def _used_index(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State the index of the table of GIDs that a program says it uses."""
    return (
        TransferSetup(
            adapter=found["adapter"] or found["adapter2"],
            gid_index=int(found["index"] or found["index2"]),
            evidence=line.evidence,
        ),
    )


def _cm_event(found: re.Match[str], line: Line) -> Sequence[Fact]:
    event = found["event"] or found["named"] or _CM_NUMBERS.get(found["number"], "")
    if not event:
        return READ
    status = _CM_STATUS.search(line.text)
    failed = _call_failed("rdma_cm", line)
    code = int(status["number"]) if status else failed.errno
    failed = replace(failed, errno=code, error=event)
    nobody_asked = event == "ADDR_ERROR" and code not in _UNANSWERED
    return (failed,) if nobody_asked else (failed, *asked_in_vain(line))


def _unresolved(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that an address was found on no RDMA device, or could not be resolved."""
    del found
    failed = replace(_call_failed("rdma_cm", line), error="ADDR_ERROR")
    return (failed, *(asked_in_vain(line) if failed.errno in _UNANSWERED else ()))


def _not_loaded(found: re.Match[str], line: Line) -> Sequence[Fact]:
    name = (found["name"] or "nvidia_peermem").replace("-", "_")
    return (ModuleAbsent(name=name, host=line.host, evidence=line.evidence),)


_STATUS_WORDS = {
    "local length error": 1, "local qp operation error": 2, "local protection error": 4,
    "work request flushed error": 5, "remote invalid request error": 9,
    "remote access error": 10, "remote operation error": 11,
    "transport retry counter exceeded": 12, "rnr retry counter exceeded": 13,
}  # fmt: skip
"""Statuses of completions in words [libibverbs, ibv_wc_status_str]."""
_STATUS = re.compile("|".join(_STATUS_WORDS), re.IGNORECASE)


def _completed(found: re.Match[str], line: Line) -> Sequence[Fact]:
    pair = _PAIR.search(line.text)
    return (
        CompletionError(
            status=_STATUS_WORDS[found[0].lower()], library="verbs program",
            adapter=pair["local"] if pair else "", peer=pair["peer"] if pair else "",
            moment=line.moment, process=_process(line), evidence=line.evidence,
        ),
    )  # fmt: skip


def _library(found: re.Match[str], line: Line) -> Sequence[Fact]:
    library = next(one for one in found.groups() if one)
    return (NoVerbsLibrary(library=library, process=_process(line), evidence=line.evidence),)


def _provider(found: re.Match[str], line: Line) -> Sequence[Fact]:
    named = found["driver"] or found["load"] or found["path"] or ""
    if found["folder"] is None and not _ADAPTERS.search(named):
        return READ  # providers of other adapters are installed without their libraries
    library = f"provider {named}".strip() if named else "provider folder"
    return (NoVerbsLibrary(library=library, process=_process(line), evidence=line.evidence),)


def _limit(found: re.Match[str], line: Line) -> Sequence[Fact]:
    in_kibi = (found["unit"] or "").lower() in {"kbytes", "kb"}
    value = size(f"{found['limit']}{'Ki' if in_kibi else ''}")
    host = _process(line).host
    limit = Limit(name="memlock", limit=value, host=host, evidence=line.evidence)
    said = _LOCKED.search(line.text) or "ibv_" in line.text or "Memlock limit" in line.text
    return (limit, _call_failed("ibv_reg_mr", line)) if said else (limit,)


def _locked(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    software = "MPI" if "locked memory" in line.text else "verbs"
    return (_message(software, "warning", line),)


def _no_manager(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    if "No such file" in line.text:
        path = "/dev/infiniband/umad0"
        return (DeviceNode(path=path, present=False, host=line.host, evidence=line.evidence),)
    return (_message("infiniband-diags", "error", line),)


def _unloaded(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    return (_message("peer memory", "error", line),)


def _message(software: str, level: str, line: Line) -> Message:
    return Message(
        software=software, level=level, text=line.text.strip()[:300], process=_process(line),
        evidence=line.evidence,
    )  # fmt: skip


def _no_gid_type(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    return (_call_failed("read RoCE version of GID", line),)


def _unopened(found: re.Match[str], line: Line) -> Sequence[Fact]:
    adapter = found["adapter"] or ""
    return (AdapterOpenFailed(adapter=adapter, process=_process(line), evidence=line.evidence),)


def _refused(found: re.Match[str], line: Line) -> Sequence[Fact]:
    code, _ = errno_within(found["error"])
    return (
        AdapterOpenFailed(
            errno=code, error=found["error"], process=_process(line), evidence=line.evidence
        ),
    )


def _closed(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        AdapterOpenFailed(
            path=found["path"], errno=errno.EACCES, error="not accessible",
            process=_process(line), evidence=line.evidence,
        ),
    )  # fmt: skip


def _not_active(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        AdapterPort(
            adapter=found["adapter"], port=integer(found["port"]), state=PortState.DOWN,
            host=_process(line).host, evidence=line.evidence,
        ),
    )  # fmt: skip


def _slow_build(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    library = "UCX for InfiniBand"
    return (NoVerbsLibrary(library=library, process=_process(line), evidence=line.evidence),)


def _watched(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State an asynchronous event as ``ibv_asyncwatch`` prints it."""
    event, fatal = found["event"].lower(), int(found["number"]) == _DEVICE_FATAL
    on = "port" if event.startswith("port") else "device" if fatal else "qp"
    return (
        AdapterEvent(
            event=event, port=int(found["port"]) or None, fatal=fatal, on=on,
            moment=line.moment, process=_process(line), evidence=line.evidence,
        ),
    )  # fmt: skip


def _no_gid(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State an index of the table of GIDs at which there is none."""
    index = found["index"] or found["index2"] or found["index3"] or found["index4"]
    return (replace(_call_failed("ibv_query_gid", line), gid_index=int(index)),)


def _empty_gid(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    return (replace(_call_failed("ibv_query_gid", line), local_gid="::"),)


rdma_programs = Parser(
    tool="programs that use RDMA",
    marks=(
        *_ib_diagnostics.MARKS,
        "regist",
        "Regist",
        "MR",
        " mr",
        "mr_reg",
        "devices",
        "HCA",
        "RNIC",
        "libibverbs",
        "device-specific driver",
        "ibv_",
        "shared object",
        "=> not found",
        "undefined symbol",
        "IBVERBS_PRIVATE",
        "emlock",
        "MEMLOCK",
        "locked memory",
        " QP",
        "queue",
        " cq",
        " CQ",
        "GID",
        "ounter exceeded",
        "ocal protection",
        "ocal length",
        "emote access",
        "lushed",
        "emote operation",
        "RDMA_CM_EVENT",
        "_ERROR",
        "CM event",
        "REJECTED",
        "UNREACHABLE",
        "peermem",
        "peer_mem",
        "UMAD",
        "acm_ep_up",
        "ibwarn",
        "iberror",
        "sgid",
        "GetVersionNum",
        "open device",
        "context for",
        "event_type ",
        "not accessible",
        "not active",
        "IB device",
        "device named",
        "ABI version",
        "RoCE device",
        "rdma_cm",
        "rdma_resolve_addr",
        "rdma_bind_addr",
        "device found",
        "IB devices",
        "undefined symbol",
        "gid index",
        "gid_index",
    ),
    reader=words(
        *_ib_diagnostics.SORTS,
        (_PROVIDER, _provider),
        (_LOADER, _library),
        (_COMPATIBLE, nothing),
        (_MODULE, _not_loaded),
        (_SCRIPT, _unloaded),
        (_NEEDS_MODULE, _not_loaded),
        (_STATUS, _completed),
        (_MODIFY, _modified),
        (_USED_GID, _used_gid),
        (_CM_EVENT, _cm_event),
        (_RESOLVING, _unresolved),
        (_LIMIT, _limit),
        (_LOCKED, _locked),
        (_REGISTERING, _failed("ibv_reg_mr")),
        (_QUEUE_PAIR, _failed("ibv_create_qp")),
        (_REFUSED, _refused),
        (_CLOSED, _closed),
        (_NOT_ACTIVE, _not_active),
        (_SLOW_BUILD, _slow_build),
        (_VERBS_CALL, _called),
        (_NOT_THERE, _not_there),
        (_NO_DEVICE, _no_device),
        (_MANAGER, _no_manager),
        (_NO_GID, _no_gid),
        (_EMPTY_GID, _empty_gid),
        (_GID_TYPE, _no_gid_type),
        (_UNOPENED, _unopened),
        (_WATCHED, _watched),
        (_USED_INDEX, _used_index),
        (_MAD, nothing),
        (_UNNAMED_PARTITION, nothing),
    ),
    rank=19,
    longest=1024,
)
