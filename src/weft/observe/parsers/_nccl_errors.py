"""What the library says when something fails."""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.communicators import DuplicateGpu
from weft.observe.facts.gpus import GpuCallFailed
from weft.observe.facts.programs import Message, SharedMemoryFailed
from weft.observe.facts.transports import (
    AdapterOpenFailed,
    InNetworkReduction,
    NoProvider,
    NoSocketInterface,
)
from weft.observe.facts.verbs import (
    AdapterEvent,
    CallFailed,
    CompletionError,
    TruncatedMessage,
)
from weft.observe.parsers._nccl_line import Rule, Words, number, rule
from weft.observe.parsers._values import errno_of

_STATUS = re.compile(
    r"(?:status ?= ?(?:\w+\()?|with error )(?P<status>\d+)|(?P<named>IBV_WC_\w+)"
)
_NAMED_STATUS = {
    "IBV_WC_LOC_LEN_ERR": 1,
    "IBV_WC_LOC_QP_OP_ERR": 2,
    "IBV_WC_LOC_PROT_ERR": 4,
    "IBV_WC_WR_FLUSH_ERR": 5,
    "IBV_WC_MW_BIND_ERR": 6,
    "IBV_WC_BAD_RESP_ERR": 7,
    "IBV_WC_LOC_ACCESS_ERR": 8,
    "IBV_WC_REM_INV_REQ_ERR": 9,
    "IBV_WC_REM_ACCESS_ERR": 10,
    "IBV_WC_REM_OP_ERR": 11,
    "IBV_WC_RETRY_EXC_ERR": 12,
    "IBV_WC_RNR_RETRY_EXC_ERR": 13,
    "IBV_WC_FATAL_ERR": 19,
    "IBV_WC_RESP_TIMEOUT_ERR": 20,
    "IBV_WC_GENERAL_ERR": 21,
}
_FIELDS = {
    "vendor": re.compile(r"vendor[ _]err[= ]+(\d+)"),
    "opcode": re.compile(r"opcode[= ](?:\w+\()?(\d+)"),
    "len": re.compile(r"\blen[= ](\d+)"),
    "peer": re.compile(r"from peer (?!with\b)([^\s,<]+)"),
    "local": re.compile(r"localGid ?([0-9a-fA-F:.]+)"),
    "remote": re.compile(r"remoteGids? ?([0-9a-fA-F:.]+)"),
    "hca": re.compile(r"\bhca ([^\s,]+)"),
    "direction": re.compile(r"\((Send|Recv|send|recv)\)"),
}
_ON = re.compile(r" on (?:\()?(QP|CQ|SRQ|WQ)")
_FATAL = ("fatal", "catastrophic", "violation", "work queue error", "device removed")
_ERRNO = re.compile(r" errno (\d+)")
_DIRECTIONS = {"send": "send", "recv": "receive"}


def completion(text: str, words: Words, library: str = "NCCL") -> Sequence[Fact] | None:
    """Return the completion error a message tells of, in any of its spellings."""
    found = _STATUS.search(text)
    if not found:
        return None
    status = number(found["status"]) or _NAMED_STATUS.get(found["named"] or "")
    if status is None:
        return None
    seen = {name: one.search(text) for name, one in _FIELDS.items()}
    value = {name: one[1] if one else "" for name, one in seen.items()}
    adapter, _, port = value["hca"].partition(":")
    return (
        CompletionError(
            status=status,
            vendor_error=number(value["vendor"]),
            opcode=number(value["opcode"]),
            size_bytes=number(value["len"]),
            direction=_DIRECTIONS.get(value["direction"].lower(), ""),
            peer="" if value["peer"].startswith("...") else value["peer"],
            local_gid=value["local"],
            remote_gid=value["remote"],
            adapter=adapter,
            port=number(port),
            library=library,
            moment=words.moment,
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _completion(found: re.Match[str], words: Words) -> Sequence[Fact]:
    return completion(found.string, words) or _message(found, words)


def _message(found: re.Match[str], words: Words) -> Sequence[Fact]:
    del found
    return (message(words),)


def message(words: Words, level: str = "") -> Message:
    """Return a message that is no other fact."""
    return Message(
        software="NCCL",
        level=level or ("error" if words.level == "ABORT" else "warning"),
        text=words.text[:300],
        place=words.place,
        moment=words.moment,
        process=words.process,
        evidence=words.evidence,
    )


def _call(found: re.Match[str], words: Words) -> Sequence[Fact]:
    groups = found.groupdict()
    told = _ERRNO.search(found.string)
    error = (groups.get("error") or "").partition(" errno ")[0].strip(" ,:")
    return (
        CallFailed(
            call=found["call"],
            errno=number(groups.get("errno")) or (number(told[1]) if told else errno_of(error)),
            error=error,
            adapter=groups.get("adapter") or "",
            port=number(groups.get("port")),
            state=groups.get("state") or "",
            next_state=groups.get("next") or "",
            gid_index=number(groups.get("index")),
            local_gid=groups.get("local") or "",
            remote_gid=groups.get("remote") or "",
            size_bytes=number(groups.get("size")),
            peer=groups.get("peer") or "",
            library="NCCL",
            moment=words.moment,
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _registration(found: re.Match[str], words: Words) -> Sequence[Fact]:
    error = (found["error"] or "").strip()
    return (
        CallFailed(
            call="fi_reg_mr",
            errno=number(found["errno"]) or errno_of(error),
            error=error,
            library="NCCL",
            moment=words.moment,
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _connect(found: re.Match[str], words: Words) -> Sequence[Fact]:
    error = (found["error"] or "").strip(" .:")
    return (
        CallFailed(
            call=found.groupdict().get("call") or "connect",
            errno=number(found.groupdict().get("errno")) or errno_of(error),
            error=error,
            peer=found["peer"] or "",
            library="NCCL",
            moment=words.moment,
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _open_failed(found: re.Match[str], words: Words) -> Sequence[Fact]:
    return (
        AdapterOpenFailed(
            adapter=found["adapter"], process=words.process, evidence=words.evidence
        ),
    )


def _event(found: re.Match[str], words: Words) -> Sequence[Fact]:
    event = found["event"].strip().lower()
    on = _ON.search(found.string)
    adapter = found.groupdict().get("adapter") or ""
    of_a_queue = "work queue" in event or "access violation" in event
    queue = (
        on[1].lower() if on else "qp" if of_a_queue else "port" if "port" in event else "device"
    )
    return (
        AdapterEvent(
            event=event,
            on=queue,
            adapter=adapter,
            port=number(found.groupdict().get("port")),
            fatal=any(word in found.string.lower().replace("non-fatal", "") for word in _FATAL),
            moment=words.moment,
            process=words.process,
            evidence=words.evidence,
        ),
    )


_EVENTS = {
    0: "CQ error", 1: "QP fatal", 2: "QP request error", 3: "QP access error",
    7: "path migration error", 8: "device fatal", 9: "port active", 10: "port error",
    11: "LID change", 12: "P_Key change", 13: "SM change", 14: "SRQ error",
    17: "client reregistration", 18: "GID table change", 19: "WQ fatal",
}  # fmt: skip
"""Asynchronous events by their number [libibverbs, enum ibv_event_type]."""


def _numbered_event(found: re.Match[str], words: Words) -> Sequence[Fact]:
    event = _EVENTS.get(int(found["event"]), found["event"])
    on = "qp" if event.startswith(("QP", "CQ", "SRQ", "WQ")) else "port"
    return (
        AdapterEvent(
            event=event.lower(),
            on="device" if "device" in event else on,
            adapter=found["adapter"] or "",
            port=number(found["port"]),
            fatal="fatal" in event,
            moment=words.moment,
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _no_space(found: re.Match[str], words: Words) -> Sequence[Fact]:
    return (
        SharedMemoryFailed(
            errno=28 if "No space" in found["error"] else None,
            error=found["error"].strip(),
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _segment(found: re.Match[str], words: Words) -> Sequence[Fact]:
    error = (found["error"] or "").strip(" ,")
    return (
        SharedMemoryFailed(
            segment=(found["segment"] or "").strip(),
            size_bytes=number(found["size"]),
            errno=number(found["errno"]) or (28 if "No space" in error else None),
            error=error,
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _duplicate(found: re.Match[str], words: Words) -> Sequence[Fact]:
    return (
        DuplicateGpu(
            rank=int(found["one"]),
            other_rank=int(found["other"]),
            gpu=found["gpu"],
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _gpu(found: re.Match[str], words: Words) -> Sequence[Fact]:
    groups = found.groupdict()
    return (
        GpuCallFailed(
            error=found["error"].strip(" '\""),
            code=number(groups.get("code")),
            call=groups.get("call") or "",
            place=groups.get("place") or words.place,
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _nvls(found: re.Match[str], words: Words) -> Sequence[Fact]:
    return (
        GpuCallFailed(
            error=(found["error"] or "").strip(),
            code=number(found["code"]),
            call="cuMulticastBindMem",
            place=words.place or "nvls",
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _no_interface(found: re.Match[str], words: Words) -> Sequence[Fact]:
    del found
    return (NoSocketInterface(process=words.process, evidence=words.evidence),)


def _reduction(found: re.Match[str], words: Words) -> Sequence[Fact]:
    return (
        InNetworkReduction(
            available=False,
            reason=found["reason"].strip(),
            code=number(found.groupdict().get("code")),
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _truncated(found: re.Match[str], words: Words) -> Sequence[Fact]:
    return (
        TruncatedMessage(
            received_bytes=int(found["received"]),
            expected_bytes=int(found["expected"]),
            process=words.process,
            evidence=words.evidence,
        ),
    )


def _no_provider(found: re.Match[str], words: Words) -> Sequence[Fact]:
    del found
    return (NoProvider(process=words.process, evidence=words.evidence),)


_CONNECT = rule(
    r"(?:\w+ ?: |ncclOsSocketPoll|socketPoll)?[Cc]onnect(?:ing)?(?: to (?P<peer>\S+))? "
    r"(?:failed|returned|timed out)(?: with(?: error)?)?(?: ?:)? ?"
    r"(?:(?P<errno>\d+) ?)?\(?(?P<error>[A-Z][^(),]*)?",
    _connect,
)
_RECEIVED = rule(
    r"(?:\w+ ?: )?Call to (?P<call>recv|send)\w* (?:from|to) (?P<peer>\S+) failed ?: "
    r"(?P<error>.*)",
    _connect,
)
_COMPLETION = rule(
    r"NET/(?:IB|Plugin)\w*(?:/GIN)? ?: ?.*?(?:Got completion|Got CQE|ompletion (?:with|error))",
    _completion,
)
_MODIFY = (
    r"(?:, on dev (?P<adapter>[^:\s,]+):(?P<port>\d+))?(?:, curr state (?P<state>\w+))?"
    r"(?:, next state (?P<next>\w+))?(?:, local GID index (?P<index>\d+))?"
    r"(?:, local GID +(?P<local>[0-9a-fA-F:.]+))?(?:, remote GID +(?P<remote>[0-9a-fA-F:.]+))?"
)
ERRORS: dict[str, tuple[Rule, ...]] = {
    "NET/IB": (
        _COMPLETION,
        rule(r"NET/IB ?: Unable to open device (?P<adapter>\S+)", _open_failed),
        rule(r"NET/IB ?: No IP interface found", _no_interface),
        rule(
            r"NET/IB ?: (?:(?P<adapter>[^:\s]+):(?P<port>\d+) )?(?:Got )?(?:non-fatal )?"
            r"async (?:fatal )?event(?: on (?:QP|CQ|SRQ|WQ)(?: \(\S*\))?"
            r"(?: \w{1,20}=\w{1,20}){0,12})? ?:? (?P<event>.+)",
            _event,
        ),
        rule(
            r"NET/IB ?: (?:(?P<adapter>[^:\s]+):(?P<port>\d+) )?(?:Got )?(?:async )?"
            r"[Uu]nknown event(?: type)? \(?(?P<event>\d+)\)?",
            _numbered_event,
        ),
        rule(
            r"NET/IB ?: (?:(?P<adapter>[^:\s]+):(?P<port>\d+) )?(?P<event>GID table change)d",
            _event,
        ),
        rule(r"NET/IB ?: Local mergedDev \S+ has a different number of devices", _message),
        rule(
            r"NET/IB ?: SHARP coll init error: (?P<reason>.*?)(?:\((?P<code>-?\d+)\))?$",
            _reduction,
        ),
    ),
    "NET": (
        rule(
            r"NET/\w+ ?: (?:peer \S+ )?[Mm]essage truncated ?: receiving "
            r"(?P<received>\d+) bytes instead of (?P<expected>\d+)",
            _truncated,
        ),
    ),
    "Message": (
        rule(
            r"Message truncated ?: received (?P<received>\d+) bytes instead of "
            r"(?P<expected>\d+)",
            _truncated,
        ),
    ),
    "Call": (
        rule(
            r"Call to (?P<call>\w+)(?:\(\))?(?: (?:to|from|with) (?P<peer>[\d.]+(?:<\d+>)?))? "
            r"(?:failed|returned)(?: with(?: error)?| ?:)?(?: (?P<errno>\d+)(?= [A-Z]))?"
            rf" ?(?P<error>[A-Z][^,()]*)?{_MODIFY}",
            _call,
        ),
        rule(r"Call to (?P<call>\w+)", _call),
    ),
    "socket": (
        _CONNECT,
        rule(
            r"(?P<call>\w+): (?:Connect|connect) to (?P<peer>\S+) failed ?: ?(?P<error>.*)",
            _call,
        ),
        rule(r"\w+ from \S+: wrong (?:socket )?type\b", _message),
    ),
    "Net": (_CONNECT, _RECEIVED),
    "Connect": (_CONNECT,),
    "connect": (
        rule(
            r"(?P<call>connect) (?:to (?P<peer>\S+) )?(?:returned|failed with) ?(?P<error>.*)",
            _call,
        ),
    ),
    "posix_fallocate": (rule(r"posix_fallocate failed ?: (?P<error>.*)", _no_space),),
    "Error": (
        rule(
            r"Error(?: while|:)? (?:creating|attaching|opening)(?: to)? shared memory segment "
            r"(?P<segment>[^\s(]*) ?\(size (?P<size>\d+)\)(?:, error: ?(?P<error>[^(]*)"
            r"(?:\((?P<errno>\d+)\))?)?",
            _segment,
        ),
        rule(
            r"Error: (?:failed to (?:extend|open|map|attach to)|Could not open) "
            r"(?P<segment>[^\s,]+)(?: to (?P<size>\d+) bytes)?(?:, error: ?"
            r"(?P<error>[^(]*)(?:\((?P<errno>\d+)\))?)?",
            _segment,
        ),
    ),
    "Duplicate": (
        rule(
            r"Duplicate GPU detected ?: rank (?P<one>\d+) and rank (?P<other>\d+) both on CUDA "
            r"device (?P<gpu>\w+)",
            _duplicate,
        ),
    ),
    "Cuda": (rule(r"Cuda failure (?P<code>\d+)? ?'?(?P<error>[^']*)'?", _gpu),),
    "HIP": (rule(r"HIP failure (?P<code>\d+)? ?'?(?P<error>[^']*)'?", _gpu),),
    "Bootstrap": (rule(r"Bootstrap ?: [Nn]o socket interface found", _no_interface),),
    "NET/Socket": (
        rule(r"NET/Socket ?: [Nn]o (?:usable listening )?interface found", _no_interface),
    ),
    "Cannot": (rule(r"(?P<reason>Cannot initialize CollNet.*)", _reduction),),
    "SHARP": (
        rule(
            r"SHARP (?P<reason>.*(?:error|fail|Unable|[Nn]o (?:SHArP |SHARP )?resource|"
            r"quota).*?)(?:\((?P<code>-?\d+)\))?$",
            _reduction,
        ),
    ),
    "RAS": (rule(r"RAS declaring peer \S+ as DEAD", _message),),
    "NET/OFI": (
        rule(
            r"NET/OFI (?:.*: )?(?:No eligible providers|"
            r"Insufficient Libfabric devices|Only EFA provider is supported|"
            r"Unable to find a protocol that worked|"
            r"(?:Could not|Couldn't) find any optimal provider|OFI fi_getinfo\(\) call failed|"
            r"fi_getinfo\(\) (?:call )?failed)",
            _no_provider,
        ),
        rule(
            r"NET/OFI (?:Unable to|Couldn't|Failed to) (?P<call>register) memory.*?RC: ?-?"
            r"(?P<errno>\d+)(?:, Error: (?P<error>.*))?",
            _registration,
        ),
        rule(
            r"NET/OFI (?:Creating new (?:endpoint|domain).*failed|Couldn't open (?:AV|EP|CQ)|"
            r"No NIC info for dev).*",
            _no_provider,
        ),
        rule(
            r"NET/OFI (?:.{0,80}: )?(?:Couldn't|Could not|Unable to|Failed to) "
            r"(?:allocate|create|open|enable) (?:an? |the )?(?:endpoint|domain|fabric)\b"
            r"(?!.{0,80}(?:-12\b|[Cc]annot allocate))",
            _no_provider,
        ),
        rule(r"NET/OFI (?:Completion with error|Unexpected )", _message),
    ),
}
_NVLS = rule(
    r"Failed to bind (?:NVLink SHARP|NVLS)(?:.*?CUDA error (?P<code>\d+) ?'?"
    r"(?P<error>[^'.]*))?",
    _nvls,
)
ERRORS["Failed"] = (_NVLS,)
ERRORS["Error:"] = ERRORS["Error"]
NVML = rule(r"(?P<call>nvml\w+)\([^)]{0,60}\) failed: (?P<error>.*)", _gpu)
WARNED = rule(r".", _message)
