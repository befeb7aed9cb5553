"""Calls and work requests that failed, and what an adapter raised meanwhile."""

from dataclasses import dataclass

from weft.observe.facts.base import NOBODY, Evidence, LinkLayer, Moment, Process


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionError:
    """A work request ended in error; ``status`` is the verbs work-completion status.

    ``library`` tells whose queue it was; ``direction`` is send or receive.
    """

    status: int
    vendor_error: int | None = None
    opcode: int | None = None
    size_bytes: int | None = None
    direction: str = ""
    peer: str = ""
    local_gid: str = ""
    remote_gid: str = ""
    adapter: str = ""
    port: int | None = None
    link_layer: LinkLayer = LinkLayer.UNKNOWN
    lid: int | None = None
    library: str = ""
    moment: Moment | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFailed:
    """A call into verbs, sockets, the GPU or the system failed."""

    call: str
    errno: int | None = None
    error: str = ""
    adapter: str = ""
    port: int | None = None
    state: str = ""
    next_state: str = ""
    gid_index: int | None = None
    local_gid: str = ""
    remote_gid: str = ""
    size_bytes: int | None = None
    peer: str = ""
    library: str = ""
    moment: Moment | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class AdapterEvent:
    """An asynchronous event of an adapter: port error, catastrophic error, GID change, ...

    ``on`` is ``port``, ``device``, ``qp``, ``cq`` or ``srq``; ``event`` is in lower case.
    """

    event: str
    on: str = "device"
    adapter: str = ""
    port: int | None = None
    fatal: bool = False
    moment: Moment | None = None
    process: Process = NOBODY
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncatedMessage:
    """A rank received more bytes than it expected."""

    received_bytes: int
    expected_bytes: int
    process: Process = NOBODY
    evidence: Evidence
