"""The driver reports a fault of a GPU: its memory, its link, its firmware, or it is gone.

What it checks: Xid codes with what belongs to each: row remapping for memory, links for NVLink,
a device that answers with all ones for one that fell off the bus. Memory faults of a program
(13, 31, 32, 43, 69) are its own as a rule; those of several programs on one device are not.
Why it matters: the job's errors on other hosts are echoes of one GPU.
What to do: as NVIDIA's catalogue says for the code: reset, drain, or return the card.
References: NVIDIA Xid errors; NVIDIA GPU debug guidelines; row remapping guide.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from weft.doctor import job
from weft.doctor.rule import (
    LIKELY_RATIO,
    Facts,
    Finding,
    Rule,
    Severity,
    Symptom,
    finding,
)
from weft.observe.facts.base import Fact
from weft.observe.facts.gpus import (
    GpuCallFailed,
    GpuFault,
    GpuReading,
    GpuUnreachable,
    RemappedRows,
)
from weft.observe.facts.pci import PciDevice

_LOOK = "nvidia-smi -q -d ROW_REMAPPER,ECC; dmesg -T | grep -i -e Xid -e NVRM"
_ADAPTER = re.compile(r"infiniband|ethernet|network|mellanox|broadcom.*netx", re.IGNORECASE)
_LINK_DEAD = re.compile(r"nvlink: .{0,20}(?:fatal|uncorrect|failed)", re.IGNORECASE)
_XID = re.compile(r"\bxid\W{0,3}(\d{2,3})\b", re.IGNORECASE)
_PROGRAM_CODES = frozenset({13, 31, 32, 43, 69})
"""Faults that a program makes by its own accesses, or a device that fails [NVIDIA, Xid]."""
_SILENT = frozenset({119, 120})
_MANY = 3
_MINUTE_S = 60.0
_TO_RECOVER = 154
"""It says what to do after another fault [NVIDIA, Xid catalogue]."""
_LINK_EVENTS = frozenset(range(144, 151))
_FOLLOW = (
    Symptom.TRANSPORT_RETRY, Symptom.FLUSHED, Symptom.WATCHDOG, Symptom.REMOTE_ERROR,
    "peer-process-died", "fabric-manager-not-running",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sort:
    """What a code means: its cause, what to say and do, and how it ranks (first wins)."""

    codes: frozenset[int]
    cause: str
    message: str
    advice: str
    severity: Severity = Severity.ERROR


_SORTS = (
    _Sort(codes=frozenset({79}), cause="gpu-xid-off-the-bus",
          message="a GPU fell off the bus",
          advice="power-cycle the host; reseat; if it returns, replace the GPU"),
    _Sort(codes=frozenset({95, 140}), cause="gpu-xid-ecc-uncontained",
          message="an uncorrectable memory error was not contained",
          advice="reset the GPU now: other processes on it may be wrong; drain the host"),
    _Sort(codes=frozenset({48, 63, 64, 94, 92, 156, 157, 160, 161, 171, 172}),
          cause="gpu-xid-ecc-contained",
          message="an uncorrectable memory error hit one process; a row is to be remapped",
          advice="drain and reset the GPU, so that the remapping takes effect"),
    _Sort(codes=_SILENT, cause="gpu-xid-gsp-timeout",
          message="the GPU's system processor does not answer",
          advice="reset the GPU or power-cycle the host; update driver; or switch GSP off"),
    _Sort(codes=frozenset({74, 136, 137, *range(144, 151), 155}), cause="nvlink-error",
          message="an NVLink reported an error",
          advice="reset the GPUs; if the same link returns without a kill before, replace"),
    _Sort(codes=frozenset({38, 46, 61, 62, 109, 110, 143, 154, 158, 173}),
          cause="gpu-xid-other",
          message="the driver reports a fault of the GPU",
          advice="reset the GPU and run its diagnostics (dcgmi diag -r 3)"),
)  # fmt: skip


_BY_RUNTIME = (
    ("nvlink-error", "uncorrectable nvlink error"),
    ("nvlink-error", "peer gpu memory over nvlink"),
    ("gpu-xid-ecc-contained", "uncorrectable ecc error"),
    ("gpu-xid-off-the-bus", "gpu is lost"),
)
"""What the runtime of programs says where nobody kept the driver's codes."""


def _check(facts: Facts) -> Iterator[Finding]:
    named = _by_code(facts) or _by_runtime(facts)
    unready = [one for one in facts.of(GpuUnreachable) if "init" in one.error.lower()]
    if named:
        yield named
    elif unready:
        yield _fault(_SORTS[-1], [*unready])
    else:
        yield from _links(facts)
        yield from _remapping(facts)
        yield from _fewer(facts)
        yield from _of_programs(facts)


def _is_any_fault(gpu: GpuUnreachable) -> bool:
    """Return whether it is said that a GPU does not answer, as it is of faults of any sort."""
    return gpu.error == "ERR!" or "unknown error" in gpu.error.lower()


def _by_code(facts: Facts) -> Finding | None:
    """Return the fault of the first sort that the driver tells of, or a device gone.

    Where the driver tells more, that a tool cannot reach the GPU says nothing of its own.
    """
    told = facts.of(GpuFault) or any("init" in one.error.lower()
                                     for one in facts.of(GpuUnreachable))  # fmt: skip
    rows = any(one.pending or one.failed for one in facts.of(RemappedRows))
    gone: list[Fact] = [
        *[
            one
            for one in facts.of(GpuUnreachable)
            if (one.bus_id or _is_lost(one))
            and "init" not in one.error.lower()
            and not (told and _is_any_fault(one))
        ],
        *[one for one in facts.of(PciDevice) if one.gone and not is_adapter(one)],
    ]
    for sort in _SORTS:
        if sort.cause == "gpu-xid-gsp-timeout" and _link_died_before(facts):
            continue
        hits: list[Fact] = [
            one for one in facts.of(GpuFault) if _is(one, sort) and _counts(one)
        ]  # fmt: skip
        if sort.cause == "gpu-xid-off-the-bus":
            hits += gone
        if rows and all(getattr(one, "code", None) == _TO_RECOVER for one in hits):
            continue  # the reset is for the rows
        if hits and all("kept by" in getattr(one, "text", "") for one in hits):
            kept = _fault(sort, hits)  # perhaps of a day long past
            return replace(kept, confidence_ratio=0.6, severity=Severity.WARNING)
        if hits:
            return _fault(sort, [*hits, *_memory(facts, sort)])
    return None


def _link_died_before(facts: Facts) -> bool:
    """Return whether a link failed for good before the GPU's system processor fell silent."""
    dead = [one.evidence for one in facts.of(GpuFault) if _LINK_DEAD.search(one.text)]
    silent = [one.evidence for one in facts.of(GpuFault) if one.code in _SILENT]
    return any(
        first.file == then.file and first.place < then.place
        for first in dead for then in silent
    )  # fmt: skip


def _by_runtime(facts: Facts) -> Finding | None:
    """Return the fault that programs tell of."""
    for cause, words in _BY_RUNTIME:
        said: list[Fact] = [
            one for one in facts.of(GpuCallFailed) if words in one.error.lower()
        ]  # fmt: skip
        said = said or job.said(facts, words)
        if said:
            return _fault(next(one for one in _SORTS if one.cause == cause), said)
    return None


def _remapping(facts: Facts) -> Iterator[Finding]:
    """Find memory of which rows wait to be remapped, or that counts errors since it started."""
    pending = [
        one for one in facts.of(RemappedRows) if one.pending or one.failed
    ]  # fmt: skip
    now = [
        one for one in facts.of(GpuReading)
        if one.name in {"ecc_uncorrectable_volatile", "ecc_uncorrectable_sram_volatile"}
        and one.value
    ]  # fmt: skip
    if any(one.failed for one in pending):
        yield replace(
            _fault(_SORTS[2], [*pending]),
            message="rows of a GPU's memory had uncorrectable errors and could not be remapped",
            advice="drain the GPU and have it replaced: no spare rows are left",
        )
    elif pending:
        yield replace(
            _fault(_SORTS[2], [*pending]),
            message="rows of a GPU's memory had errors and wait to be remapped",
        )
    elif now:
        found = _fault(_SORTS[2], [*now])
        yield replace(found, severity=Severity.WARNING, confidence_ratio=0.65)


def _of_programs(facts: Facts) -> Iterator[Finding]:
    """Find faults that a program makes, or the device: of several programs, the device.

    Ranks of one job fault on all their GPUs at once; one device that faults again and again,
    with other programs, is ill.
    """
    seen = [one for one in facts.of(GpuFault) if one.code in _PROGRAM_CODES]
    devices = dict.fromkeys(one.bus_id for one in seen)
    again = [
        bus for bus in devices
        if len(_runs([one for one in seen if one.bus_id == bus])) >= _MANY
    ]  # fmt: skip
    if not seen:
        return
    yield finding(
        "gpu-xid-other",
        [one for one in seen if one.bus_id in again] or seen,
        0.6 if again else LIKELY_RATIO,
        severity=Severity.WARNING,
        subject=", ".join([one for one in again or devices if one][:4]),
        message="one GPU stopped several programs with memory faults: perhaps it is ill"
        if again
        else "a program was stopped by a memory fault on its GPU: its own, or the device's",
        advice="run the device's diagnostics (dcgmi diag -r 3)"
        if again
        else "run the program under compute-sanitizer; if others fail on this GPU, test it",
        next_command=_LOOK,
        missing=("whether other programs fault on this GPU, and this one on others",),
    )


def _runs(faults: list[GpuFault]) -> set[object]:
    """Return by what faults are told apart: the programs they stopped, else their minutes."""
    by_time = {
        int(one.moment.time_s // _MINUTE_S) for one in faults if one.moment and one.pid is None
    }
    return {one.pid for one in faults if one.pid is not None} | by_time


def _fewer(facts: Facts) -> Iterator[Finding]:
    """Find a node with fewer GPUs than whoever watches it expects."""
    fewer = job.said(facts, r"^\d+ of \d+ GPUs are there")
    if fewer:
        yield replace(
            _fault(_SORTS[0], fewer), severity=Severity.WARNING, confidence_ratio=0.55,
            message="a node has fewer GPUs than it should: one may have been lost",
            missing=("dmesg -T | grep -i -e Xid -e 'fallen off'",),
        )  # fmt: skip


def is_adapter(device: PciDevice) -> bool:
    """Return whether a device of the PCI bus is a network adapter."""
    return bool(_ADAPTER.search(f"{device.kind} {device.name}"))


def _is_lost(gpu: GpuUnreachable) -> bool:
    return "lost" in gpu.error.lower() or "fallen off" in gpu.error.lower()


def _is(fault: GpuFault, sort: _Sort) -> bool:
    """Return whether a fault is of a sort: by its code, else by what the driver says of it."""
    named = _XID.search(fault.evidence.text) if fault.code == _TO_RECOVER else None
    if (int(named[1]) if named else fault.code) in sort.codes:
        return True
    known = any(fault.code in one.codes for one in _SORTS)
    of_links = sort.cause == "nvlink-error" and _LINK_DEAD.search(fault.text)
    return bool(of_links) and not known


def _counts(fault: GpuFault) -> bool:
    """Return whether a fault is one by itself: links of the fifth generation tell much."""
    return not (fault.code in _LINK_EVENTS and fault.fatal is False)


def _links(facts: Facts) -> Iterator[Finding]:
    """Find links that could not be trained, or of which events tell that are not fatal."""
    untrained = job.said(facts, r"nvlink: .{0,20}(link training failed|failed to train)|"
                                r"failed to activate link ?\d")  # fmt: skip
    told: list[Fact] = [
        one for one in facts.of(GpuFault) if one.code in _LINK_EVENTS and not _counts(one)
    ]
    if untrained or told:
        yield finding(
            "nvlink-error",
            [*untrained, *told],
            0.65 if untrained else LIKELY_RATIO,
            severity=Severity.WARNING,
            message="an NVLink could not be trained" if untrained
            else "NVLinks report events that are not fatal",
            advice="look whether all links are active under load; reset the GPUs if not",
            next_command="nvidia-smi nvlink -s; nvidia-smi nvlink -e",
            missing=("the state of the links now (nvidia-smi nvlink -s)",),
        )  # fmt: skip


def _memory(facts: Facts, sort: _Sort) -> list[Fact]:
    if sort.cause != "gpu-xid-ecc-contained":
        return []
    errors = [
        one for one in facts.of(GpuReading) if one.name == "ecc_uncorrectable" and one.value
    ]  # fmt: skip
    return [*[one for one in facts.of(RemappedRows) if one.pending or one.failed], *errors]


def _fault(sort: _Sort, seen: list[Fact]) -> Finding:
    buses = (getattr(one, "bus_id", "") or getattr(one, "gpu", "") for one in seen)
    return finding(
        sort.cause,
        seen,
        0.9,
        severity=sort.severity,
        subject=", ".join(list(dict.fromkeys(str(one) for one in buses if one))[:4]),
        message=sort.message,
        advice=sort.advice,
        next_command=_LOOK,
        explains=_FOLLOW,
    )


gpu_fault = Rule(causes=tuple(sort.cause for sort in _SORTS), check=_check)
