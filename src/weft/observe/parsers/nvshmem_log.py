"""What NVSHMEM prints when its transports or its memory cannot be set up.

Its lines carry a place in the source: ``file:line: NULL value ...``, ``file:line: non-zero
status: N ...``, or begin with ``WARN:``. DeepEP and other programs on top print them as they
are, without the library's name.
"""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact, Process
from weft.observe.facts.gpus import GpuCallFailed
from weft.observe.facts.hosts import ModuleAbsent
from weft.observe.facts.programs import Message
from weft.observe.facts.transports import NoRdmaDevice, NoSocketInterface, NoVerbsLibrary
from weft.observe.facts.verbs import CallFailed, CompletionError
from weft.observe.parser import READ, Parser
from weft.observe.parsers._values import errno_within, integer
from weft.observe.patterns import Build, Line, words

_LIBRARY = "NVSHMEM"
_STATUS = re.compile(r"non-zero status: (-?\d{1,5})\b")
_HOST = re.compile(r"(?P<host>[A-Za-z][\w.-]{1,80}):\d+:\d+ \[\d+\]")
_SKIPPED = re.compile(
    r"device \S+ is not (?:enumerated as an mlx5 device|supported \(expected HCA interface)|"
    r"co\w{2,4} not find user specified HCA name|"
    r"device \S+ cannot allocate buffer on the specified memory type"
)
_NO_DEVICE = re.compile(
    r"no active IB device\b[^,]{0,80} found|get_device_list failed|No NICs "
    r"were assigned to our PE"
)
_NO_LIBRARY = re.compile(r"libibverbs not found on the system|Unable to dlopen libibverbs")
_NO_MODULE = re.compile(r"neither nv_peer_mem,? n?or nvidia_peermem detected")
_ACCESS_REGION = re.compile(
    r"cannot allocate mlx5dv_devx_uar|mlx5dv_devx_(?:alloc_uar|general_cmd)\b.{0,40}fail"
)
_MULTICAST = re.compile(
    r"(?P<call>cuMulticast\w+) failed|team_internal_nvls\.cpp:\d+:.{0,40}?(?P<mapped>cuMem\w+) "
    r"failed|Mapping multicast groups for UC heap failed"
)
_FABRIC = re.compile(r"(?P<call>cuMem(?:Import|Export)\w+) failed\b(?! for fd)")
_ADDRESS = re.compile(r"Unable to create ah\b|mlx5dv AH initialization failed")
_MODIFIED = re.compile(
    r"mlx5dv_devx_obj_modify for (?P<state>INIT2RTR|RST2INIT|RTR2RTS)_QP|"
    r"ibv_modify_qp (?P<dct>init2rtr|rst2init) for dct failed"
)
_NEXT = {"INIT2RTR": "RTR", "RST2INIT": "INIT", "RTR2RTS": "RTS"}
_DOORBELL = re.compile(
    r"GPU cannot map UAR of device \S+|cudaHostRegister with IoMemory failed|"
    r"device \S+ does not support all necessary atomic|init failed for (?:remote )?transport"
)
_COMPLETED = re.compile(r"ibv_poll_cq failed, status: (?P<status>\d{1,2})\b")
_REGISTERED = re.compile(r"\bmem registration failed")
_TOGETHER = re.compile(
    r"Multiple PEs per GPU \(MPG\) detected but MPS is not running|Peer GPU \d+ is not "
    r"accessible|"
    r"NVSHMEM device library version does not match|UID [Bb]ootstrap version\w* .{0,20}not "
    r"compatible|NVSHMEM version in CUmodule .{0,40}does not match|"
    r"Unable to initialize any transports"
)
_NO_INTERFACE = re.compile(r"No (?:socket interface|usable listening interface) found")
_OURS = re.compile(r"NVSHMEM|nvshmem|bootstrap_uid|ibgda|ibrc")


def _process(line: Line) -> Process:
    who = _HOST.search(line.text[:200])
    return Process(host=who["host"] if who else line.host)


def _said(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    return (
        Message(
            software=_LIBRARY, level="warning", text=line.text.strip()[:300],
            moment=line.moment, process=_process(line), evidence=line.evidence,
        ),
    )  # fmt: skip


def _call(name: str, next_state: str, line: Line) -> Sequence[Fact]:
    code, error = errno_within(line.text)
    return (
        CallFailed(
            call=name, errno=code, error=error, next_state=next_state, library=_LIBRARY,
            moment=line.moment, process=_process(line), evidence=line.evidence,
        ),
    )  # fmt: skip


def _called(name: str) -> Build:
    def build(found: re.Match[str], line: Line) -> Sequence[Fact]:
        del found
        return _call(name, "", line)

    return build


def _modified(found: re.Match[str], line: Line) -> Sequence[Fact]:
    state = (found["state"] or found["dct"]).upper()
    return _call("ibv_modify_qp", _NEXT[state], line)


def _completed(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        CompletionError(
            status=int(found["status"]), library=_LIBRARY, moment=line.moment,
            process=_process(line), evidence=line.evidence,
        ),
    )  # fmt: skip


def _no_device(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        NoRdmaDevice(cause=found[0].lower(), process=_process(line), evidence=line.evidence),
    )


def _no_library(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    return (
        NoVerbsLibrary(library="libibverbs", process=_process(line), evidence=line.evidence),
    )


def _no_module(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    host = _process(line).host
    return (ModuleAbsent(name="nvidia_peermem", host=host, evidence=line.evidence),)


def _no_interface(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    if not _OURS.search(line.text):
        return READ
    return (NoSocketInterface(process=_process(line), evidence=line.evidence),)


def _gpu(call: str, place: str, line: Line) -> Sequence[Fact]:
    status = _STATUS.search(line.text)
    return (
        GpuCallFailed(
            error=line.text[line.start :].strip()[:200],
            code=integer(status[1]) if status else None,
            call=call,
            place=place,
            process=_process(line),
            evidence=line.evidence,
        ),
    )


def _multicast(found: re.Match[str], line: Line) -> Sequence[Fact]:
    call = found["call"] or found["mapped"]
    if not call:
        return READ  # the line before says which call it was
    return _gpu(call, "nvls", line)


def _fabric(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return _gpu(found["call"], "", line)


nvshmem_log = Parser(
    tool="NVSHMEM log",
    marks=(
        "Skipping",
        "user specified HCA",
        "active IB device",
        "get_device_list",
        "No NICs were",
        "libibverbs",
        "nvidia_peermem detected",
        "mlx5dv",
        "Multicast",
        "multicast",
        "cuMemImport",
        "cuMemExport",
        "Unable to create ah",
        "for dct failed",
        "Multiple PEs",
        "Peer GPU",
        "NVSHMEM",
        "ootstrap version",
        "any transports",
        "interface found",
        "map UAR",
        "IoMemory",
        "atomic operations",
        "mem registration",
        "ibv_poll_cq",
        "init failed for",
    ),
    reader=words(
        (_SKIPPED, _said),
        (_NO_DEVICE, _no_device),
        (_NO_LIBRARY, _no_library),
        (_NO_MODULE, _no_module),
        (_ACCESS_REGION, _called("mlx5dv_devx_alloc_uar")),
        (_FABRIC, _fabric),
        (_MULTICAST, _multicast),
        (_ADDRESS, _called("ibv_create_ah")),
        (_MODIFIED, _modified),
        (_DOORBELL, _said),
        (_COMPLETED, _completed),
        (_REGISTERED, _called("ibv_reg_mr")),
        (_TOGETHER, _said),
        (_NO_INTERFACE, _no_interface),
    ),
    rank=14,
    longest=1024,
)
