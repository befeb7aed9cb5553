"""The library, or a program on top of it, says that it failed and not why.

What it checks: results without a reason (unhandled system error, internal error, invalid
usage), and warnings that are the echo of something no output here shows.
Why it matters: each sort of result has few usual causes, so one question is worth more than
an empty answer.
What to do: run once with NCCL_DEBUG=INFO on every rank and hand in all the logs.
References: NCCL user guide, result codes; NCCL troubleshooting.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from weft.doctor import job
from weft.doctor.rule import Facts, Finding, Rule, Severity, suspect, suspected
from weft.observe.facts.base import Fact
from weft.observe.facts.collectives import CollectiveMismatch, CollectiveTimeout
from weft.observe.facts.communicators import DuplicateGpu
from weft.observe.facts.gpus import GpuCallFailed
from weft.observe.facts.programs import ProcessEnded, SharedMemoryFailed
from weft.observe.facts.transports import NoSocketInterface
from weft.observe.facts.verbs import CallFailed, CompletionError, TruncatedMessage

_EXPLAIN = (
    CallFailed, CollectiveMismatch, CollectiveTimeout, CompletionError, DuplicateGpu,
    GpuCallFailed, NoSocketInterface, ProcessEnded, SharedMemoryFailed, TruncatedMessage,
)  # fmt: skip
_LOGS = "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,NET,ENV for one run, the logs of all ranks"
_RESULT = r"^(?!.*\bNCCL (?:WARN|INFO)\b).*"
"""Before the words of a result: lines of the library's own log say more than these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sort:
    """One sort of failure without a reason, and its usual causes, the likeliest first."""

    words: str
    message: str
    causes: tuple[str, ...]


_SORTS = (
    _Sort(
        words=r"no transport found for rank",
        message="two ranks of a host found no way to one another",
        causes=("nccl-env-misuse", "container-gpu-isolation", "topology-misdetected"),
    ),
    _Sort(
        words=r"failed to peer with device",
        message="two GPUs of a host may not reach one another's memory",
        causes=("container-gpu-isolation", "topology-misdetected", "nccl-env-misuse"),
    ),
    _Sort(
        words=r"devices are busy or unavailable",
        message="a GPU is taken, as where two ranks share one that allows a single process",
        causes=("duplicate-gpu", "gpu-xid-off-the-bus"),
    ),
    _Sort(
        words=r"deepep .{0,40}timeout",
        message="an exchange of DeepEP never ended",
        causes=("fabric-path-unreachable", "hca-selection-wrong", "peer-process-died"),
    ),
    _Sort(
        words=r"NCCL GIN is unavailable",
        message="no network that GPUs drive by themselves (GIN) joins all the ranks",
        causes=("rail-isolated", "hca-selection-wrong", "gdr-peermem-not-loaded"),
    ),
    _Sort(
        words=r"failed to initialize any net plugin",
        message="no network could be initialised",
        causes=("nccl-env-misuse", "efa-plugin-not-loaded", "bootstrap-wrong-interface"),
    ),
    _Sort(
        words=r"\bUDS: |ncclProxyClient(?:GetFd|QueryFd)|ncclProxyCallBlockingUDS",
        message="ranks of a host cannot hand memory to one another over a local socket",
        causes=("container-gpu-isolation", "peer-process-died"),
    ),
    _Sort(
        words=r"marked as failed\. Initiating recovery|detected \d+ failed devices out of",
        message="adapters of a communicator were given up",
        causes=("ib-link-flap", "hca-fatal-error", "fabric-path-unreachable"),
    ),
    _Sort(
        words=r"peer gpu \d+ is not accessible|unable to initialize any transports",
        message="NVSHMEM has no transport to a peer",
        causes=("container-no-rdma-device", "hca-selection-wrong", "container-gpu-isolation"),
    ),
    _Sort(
        words=r"retcode 6\b|socket recv failed while polling|ncclRemoteError|NCCL_ERROR_REMOTE|"
        r"remote process exited or there was a network error",
        message="a rank lost another, and nothing here says why",
        causes=("peer-process-died", "fabric-path-unreachable", "host-firewall"),
    ),
    _Sort(
        words=_RESULT + r"(?:invalid usage|ncclInvalidUsage|NCCL_ERROR_INVALID_USAGE)",
        message="the library refuses how it is used, and nothing here says what",
        causes=("duplicate-gpu", "nccl-version-or-env-mismatch", "app-collective-mismatch"),
    ),
    _Sort(
        words=_RESULT + r"(?:unhandled system error|ncclSystemError|NCCL_ERROR_SYSTEM)",
        message="a call to the system failed, and nothing here says which",
        causes=("bootstrap-wrong-interface", "shm-too-small", "host-firewall"),
    ),
    _Sort(
        words=_RESULT
        + r"(?:unhandled cuda error|ncclUnhandledCudaError|NCCL_ERROR_UNHANDLED_CUDA)",
        message="a call to the GPU failed, and nothing here says which",
        causes=("fabric-manager-not-running", "container-gpu-isolation", "imex-domain-missing"),
    ),
    _Sort(
        words=_RESULT + r"(?:(?<!has encountered an )(?<!EFA )internal error|ncclInternalError|"
        r"NCCL_ERROR_INTERNAL)",
        message="the library stopped at an error of its own, and nothing here says at which",
        causes=("bootstrap-wrong-interface", "topology-misdetected", "peer-process-died"),
    ),
)
_NO_WAY = _Sort(
    words="peer access is not supported",
    message="two GPUs were taken to reach one another's memory and may not",
    causes=("topology-misdetected", "container-gpu-isolation", "nccl-env-misuse"),
)
_TOLD = (
    r"xml import channel\b|shared.?mem.{0,120}no space left|"
    r"failed to (?:cuda |hip )?(?:host )?(?:c?alloc|malloc)|out of memory"
)
"""What explains a result: a file of rings that does not fit (``machine_topology``), or memory
of the GPU that is full, which is no fault of the network."""
_LIKELIHOOD = (0.4, 0.3, 0.2)
"""Shares of the causes of a sort by their place: an order, not a measurement."""


def _check(facts: Facts) -> Iterator[Finding]:
    calls = facts.of(GpuCallFailed)
    if calls and all(_NO_WAY.words in one.error.lower() for one in calls):
        yield _named(_NO_WAY, [*calls])
        return
    if facts.any_of(*_EXPLAIN) or job.said(facts, _TOLD):
        return
    for sort in (_NO_WAY, *_SORTS):
        seen = job.said(facts, sort.words)
        if seen:
            yield _named(sort, seen)
            return


def _named(sort: _Sort, seen: list[Fact]) -> Finding:
    return suspected(
        [
            suspect(cause, share, next_command=_LOGS)
            for cause, share in zip(sort.causes, _LIKELIHOOD, strict=False)
        ],
        seen,
        severity=Severity.WARNING,
        message=sort.message,
        advice="run once with NCCL_DEBUG=INFO and read the first warning of all ranks",
    )


unexplained_error = Rule(
    causes=tuple(dict.fromkeys(cause for sort in _SORTS for cause in sort.causes)),
    check=_check,
)
