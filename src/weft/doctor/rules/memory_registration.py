"""Memory could not be registered with the adapter; three limits look alike.

What it checks: registrations, queue pairs and completion queues that failed with ENOMEM (or
EINVAL), the limit of locked memory, the kernel's contiguous area, and the adapter's memory
keys. Why it matters: without registration there is no RDMA; the job stops or falls back to
sockets. What to do: by cause: unlimited memlock for the daemon that starts the job; another
kernel or a contiguous area; a bounded registration cache; another transport or driver.
References: RLIMIT_MEMLOCK in getrlimit(2); UCX registration cache; mlx5 CREATE_MKEY; NCCL
troubleshooting, "Cannot allocate memory".
"""

import errno
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from weft.doctor import job
from weft.doctor.rule import (
    LIKELY_RATIO,
    Facts,
    Finding,
    Rule,
    Severity,
    Suspect,
    Symptom,
    finding,
    suspect,
    suspected,
)
from weft.observe.facts.adapters import AdapterFault
from weft.observe.facts.base import Fact
from weft.observe.facts.benchmarks import MeasuredTransfer
from weft.observe.facts.communicators import CommunicatorRank
from weft.observe.facts.hosts import HostMemory, Limit
from weft.observe.facts.interfaces import Counter
from weft.observe.facts.programs import Command
from weft.observe.facts.verbs import CallFailed

_SCARCE = frozenset({errno.EAGAIN, errno.EIO, errno.ENOSPC})
"""What drivers return where the adapter has no room for another memory region."""
_ENOUGH_BYTES = 1 << 30
_SCARCE_AREA_BYTES = 4 << 20
"""Of a contiguous area with less left no queue of usual length can be made."""
_AREA = frozenset({"CmaTotal", "CmaFree"})
_STARTED = re.compile(
    r"/proc/(?:\d|\$)[^ ]*/limits|(?:srun|mpirun|mpiexec|kubectl exec|(?:docker|podman) (?:run|"
    r"exec)|prlimit)\b.*(?:ulimit -l|-l\b|limits)"
)
"""Commands that show the limits of a service, or of what a launcher starts."""
_CONTAINER = re.compile(r"\b(?:docker|podman|nerdctl) (?:run|create)\b")
_SPENT = (
    r"exceeds? (?:the )?(?:device )?max_mr_size|ibv_mr_count: [1-9]\d{4}|"
    r"limited by log_num_mtt|RCACHE_MAX_REGIONS=inf"
)
"""Words of an adapter that has no room for more, or for so large a region."""
_MANY_REGIONS = 16_000
"""Adapters of small functions have room for 16,384 memory regions [irdma, mlx5 VF]."""
_TINY_BYTES = 1 << 16
_CALLS = (
    "reg_mr",
    "reg_dmabuf",
    "reg_user_mr",
    "create_qp",
    "create_cq",
    "create_srq",
    "alloc_pd",
)
_SETTLES = "ulimit -l; grep Cma /proc/meminfo; dmesg | grep -i mkey   # where the job runs"
_FOLLOW = (Symptom.REGISTRATION, Symptom.SOCKETS, Symptom.VERBS_CALL, "mpi-ucx-not-nccl")


def _check(facts: Facts) -> Iterator[Finding]:
    failed = [
        one for one in facts.of(CallFailed) if any(call in one.call for call in _CALLS)
    ]  # fmt: skip
    memory = [
        one
        for one in failed
        if _is(one, errno.ENOMEM, "cannot allocate memory") or _is_bare(one)
    ]
    if any(one.errno == errno.EFAULT for one in failed):  # the bare ones repeat it
        memory = [one for one in memory if not _is_bare(one)]
    refused = [one for one in failed if _is(one, errno.EINVAL, "invalid argument")]
    keys = [
        one for one in facts.of(AdapterFault)
        if one.kind == "keys" or ("MKEY" in one.command and "limits" in one.status)
    ]  # fmt: skip
    small = [
        one for one in facts.of(Limit)
        if one.name == "memlock" and one.limit is not None and one.limit < _ENOUGH_BYTES
    ]  # fmt: skip
    if keys:
        yield _named("mr-limit-exceeded", [*keys, *memory], 0.9)
    elif memory and job.went_on(facts, memory):
        yield _unused(memory, small)
    elif memory and small:
        yield _named("memlock-limit", [*memory, *small], 0.9)
    elif memory:
        yield from _undecided(facts, memory)
    elif (
        small and job.uses_rdma(facts) and not _made(facts)
    ):  # a login shell's limit alone is not the job's
        yield _named("memlock-limit", small, 0.4)
    elif told := list(_told_of(facts, small)):
        yield from told
    elif scarce := [one for one in failed if one.errno in _SCARCE and "reg" in one.call]:
        yield _scarce(scarce)
    else:
        yield from _starved(facts)
    if refused and not memory:
        yield _provider(facts, refused)
    yield from _unsupported(facts)
    yield from _skipped(facts)
    yield from _told(facts)


def _told_of(facts: Facts, small: list[Limit]) -> Iterator[Finding]:
    """Find limits of the job itself, though no registration is known to have failed."""
    served, warned = _of_a_starter(facts, small), _warned(facts, small)
    if served or warned:
        found = _named("memlock-limit", [*warned, *served], 0.6 if warned else 0.4)
        yield replace(found, severity=Severity.WARNING)


def _warned(facts: Facts, small: list[Limit]) -> list[Fact]:
    """Return limits that the verbs library warned of, where a device could not be set up."""
    told: list[Fact] = [one for one in small if "RLIMIT_MEMLOCK" in one.evidence.text]
    failed = job.said(facts, r"error initializing an OpenFabrics device|error in device init")
    return [*told, *failed] if told and failed else []


def _of_a_starter(facts: Facts, small: list[Limit]) -> list[Limit]:
    """Return limits read of a service, or within what it starts: not of a login shell."""
    if _made(facts):
        return []
    looked = any(_STARTED.search(one.command) for one in facts.of(Command))
    told = re.compile(r"LimitMEMLOCK|[Cc]an't propagate RLIMIT_MEMLOCK")
    return [one for one in small if looked or told.search(one.evidence.text)]


def _starved(facts: Facts) -> Iterator[Finding]:
    """Find a contiguous area that gave nothing, where no call is known to have failed."""
    area = [one for one in facts.of(HostMemory) if one.name == "CmaFree" and not one.size_bytes]
    if area:
        refused = job.said(facts, r"cannot allocate memory")
        sure = 0.65 if refused else LIKELY_RATIO
        yield _named("kernel-cma-exhausted", [*area, *refused], sure)


def _scarce(failed: list[CallFailed]) -> Finding:
    """Name what may have run out, where the driver says neither memory nor limit."""
    return suspected(
        (
            suspect("mr-limit-exceeded", 0.45),
            suspect("memlock-limit", 0.25, next_command=_SETTLES),
        ),
        failed,
        symptom=Symptom.REGISTRATION,
        message="memory could not be registered with the adapter: something of it ran out",
        advice="end programs that died badly or restart the host: the adapter keeps their keys",
    )


def _told(facts: Facts) -> Iterator[Finding]:
    """Find what MPI says of limits where it does not say which call failed."""
    lacking = job.said(facts, r"DEVX requested but not supported|invalid comp_mask|"
                              r"transport '[a-z]+_mlx5' is not available.{0,120}_verbs\b|"
                              r"registration not supported by provider")  # fmt: skip
    if lacking:
        yield _provider(facts, lacking, 0.65)
    locked = job.said(facts, r"memlock\b.{0,40}\btoo (low|small)|"
                             r"severely limit memory registrations")  # fmt: skip
    part = job.said(facts, r"registering part of your physical memory")
    if locked and not facts.any_of(Limit):
        yield _named("memlock-limit", locked, 0.6)
    elif part:
        yield replace(_named("mr-limit-exceeded", part, 0.55), severity=Severity.WARNING)


def _skipped(facts: Facts) -> Iterator[Finding]:
    """Find a transport that began with no adapter, for it skipped those of other makers."""
    skipped = job.said(facts, r"is not enumerated as an mlx5.{0,40}device")
    lacking = job.said(facts, r"does not support all necessary atomic")
    ended = job.said(facts, r"init failed for (remote )?transport")
    if (skipped and ended) or lacking:
        yield _provider(facts, [*skipped, *lacking, *ended], 0.75 if ended else 0.55)


def _made(facts: Facts) -> bool:
    """Return whether the communicators were made: then the job's own limit was large enough."""
    return any(one.complete for one in facts.of(CommunicatorRank))


def _is_bare(failed: CallFailed) -> bool:
    """Return whether a registration failed in a version of NCCL that does not say why."""
    made = any(word in failed.call for word in ("reg_mr", "create_qp", "create_cq"))
    return made and failed.errno is None and not failed.error


def _is(failed: CallFailed, number: int, words: str) -> bool:
    return failed.errno == number or words in f"{failed.error} {failed.evidence.text}".lower()


_WORDS = {
    "mr-limit-exceeded": (
        "the adapter is out of memory keys",
        "bound the registration cache (UCX_RCACHE_MAX_REGIONS) or raise the firmware's limit",
    ),
    "memlock-limit": (
        "the limit of locked memory is too small to register buffers",
        "set memlock to unlimited for the daemon or container that starts the job",
    ),
    "kernel-cma-exhausted": (
        "the kernel has no contiguous memory left to register, whatever the limits",
        "boot a kernel with a contiguous area (cma=...) or another version",
    ),
}


def _named(cause: str, seen: Iterable[Fact], confidence_ratio: float) -> Finding:
    message, advice = _WORDS[cause]
    return finding(
        cause,
        seen,
        confidence_ratio,
        severity=Severity.ERROR if confidence_ratio > LIKELY_RATIO else Severity.WARNING,
        message=message,
        advice=advice,
        next_command=_SETTLES,
        explains=_FOLLOW,
    )


def _unused(memory: list[CallFailed], small: list[Limit]) -> Finding:
    """Say of a transport that could not register and was not needed, what it would need."""
    return finding(
        "memlock-limit",
        [*memory, *small],
        LIKELY_RATIO,
        severity=Severity.INFO,
        message="a transport could not register memory, and the run measured without it",
        advice="raise memlock if this run was to use the adapter; else it is harmless",
        next_command=_SETTLES,
        explains=_FOLLOW,
    )


def _undecided(facts: Facts, memory: list[CallFailed]) -> Iterator[Finding]:
    limits = [one for one in facts.of(Limit) if one.name == "memlock"]
    area = [one for one in facts.of(HostMemory) if one.name in _AREA]
    if any(one.size_bytes == 0 for one in area) and all(one.limit is None for one in limits):
        yield _named("kernel-cma-exhausted", [*memory, *area, *limits], 0.85 if limits else 0.7)
        return
    told = any("current: unlimited" in one.evidence.text for one in memory) or all(
        _is_silent(one) for one in memory
    )
    unlimited = told or bool(limits or job.said(facts, r"ulimit -l\W{0,3}unlimited"))
    default = [] if told else _of_a_default(facts)
    if default:
        named = _named("memlock-limit", [*memory, *default], 0.6)
        yield replace(named, suspects=_rivals(unlimited=True, tiny=False)[1:])
        return
    spent = [*job.said(facts, _SPENT), *_counted(facts)]
    if spent:
        yield _named("mr-limit-exceeded", [*memory, *spent], 0.75)
        return
    scarce = [
        one for one in area
        if one.name == "CmaFree" and (one.size_bytes or 0) < _SCARCE_AREA_BYTES
    ]  # fmt: skip
    if unlimited and scarce:
        yield _named("kernel-cma-exhausted", [*memory, *scarce, *limits], 0.65)
        return
    tiny = any(one.size_bytes is not None and one.size_bytes < _TINY_BYTES for one in memory)
    yield suspected(
        _rivals(unlimited=unlimited, tiny=tiny),
        [*memory, *limits],
        symptom=Symptom.REGISTRATION,
        message="memory could not be registered with the adapter: no memory, says the kernel",
        advice="look at the limit of locked memory first: it is the usual cause",
    )


def _of_a_default(facts: Facts) -> list[Command]:
    """Return commands that start the job's container and leave its limit as it comes."""
    started = [one for one in facts.of(Command) if _CONTAINER.search(one.command)]
    raised = any("memlock" in one.command for one in facts.of(Command))
    return [] if raised else started


def _is_silent(failed: CallFailed) -> bool:
    """Return whether UCX does not name the limit, as it does wherever there is one."""
    text = failed.evidence.text
    return failed.library == "UCX" and "access=" in text and "locked memory" not in text


def _rivals(*, unlimited: bool, tiny: bool) -> tuple[Suspect, ...]:
    """Return what may leave no memory to register, by the limit and the size."""
    return (
        suspect("memlock-limit", 0.1 if unlimited else 0.65, next_command=_SETTLES),
        suspect("mr-limit-exceeded", 0.45 if unlimited else 0.2),
        suspect("kernel-cma-exhausted", 0.5 if unlimited and tiny else 0.15),
    )


def _counted(facts: Facts) -> list[Fact]:
    """Return counts of memory regions of a device that are as large as small limits are."""
    return [one for one in facts.of(Counter) if one.name == "mr" and one.value >= _MANY_REGIONS]


def _provider(facts: Facts, refused: Sequence[Fact], least_ratio: float = 0.55) -> Finding:
    works = any(one.benchmark != "iperf3" for one in facts.of(MeasuredTransfer))
    return finding(
        "verbs-provider-incompatible",
        refused,
        max(least_ratio, 0.75 if works else 0.0),
        message="the adapter's provider refuses what the library asks of it",
        advice="use a transport and driver that fit one another (see what perftest can do)",
        next_command="ibv_devinfo -v; ib_write_bw   # does plain verbs work?",
        suspects=(
            Suspect(
                cause="gdr-peermem-not-loaded",
                confidence_ratio=0.3,
                question="is it GPU memory, without a peer-memory module and DMA-BUF?",
                next_command="lsmod | grep -i peer; dmesg | grep -i peer",
            ),
        ),
        missing=() if works else ("whether perftest passes on the same adapter",),
        explains=(Symptom.REGISTRATION, Symptom.VERBS_CALL, "mpi-ucx-not-nccl"),
    )


_OF_ADAPTERS = re.compile(r"\bibv_|\bfi_(?:reg_)?mr")
_GOES_ON = re.compile(r"peermem|set_ece|allocate MR with error=95")
"""Not of the provider, or what the library goes on without: enhanced connections. Perftest is
refused with 95 for memory of GPUs only."""


def _unsupported(facts: Facts) -> Iterator[Finding]:
    """Find a provider without a feature that the transport needs, such as shared queues."""
    lacking = [
        one for one in facts.of(CallFailed)
        if _is(one, errno.EOPNOTSUPP, "not supported")
        or _is(one, errno.ENOSYS, "not implemented")
    ]  # fmt: skip
    lacking = [
        one for one in lacking
        if _OF_ADAPTERS.search(f"{one.call} {one.evidence.text}")
        and not _GOES_ON.search(one.evidence.text)
    ]  # fmt: skip
    if lacking:
        yield _provider(facts, lacking, 0.8)


memory_registration = Rule(
    causes=(
        "memlock-limit",
        "kernel-cma-exhausted",
        "mr-limit-exceeded",
        "verbs-provider-incompatible",
    ),
    check=_check,
)
