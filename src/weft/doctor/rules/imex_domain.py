"""Hosts of one NVLink domain share no IMEX domain, so they cannot share memory handles.

What it checks: fabric handles that cannot be imported while multi-host NVLink is on.
Why it matters: on rack-scale systems every communicator over hosts fails at its start.
What to do: run nvidia-imex on all hosts of the rack with one nodes file, or a ComputeDomain on
Kubernetes; NCCL_MNNVL_ENABLE=0 for now.
References: NVIDIA IMEX guide; NCCL user guide, NCCL_MNNVL_ENABLE.
"""

import re
from collections.abc import Iterator

from weft.doctor import job
from weft.doctor.rule import Facts, Finding, Rule, Severity, finding
from weft.observe.facts.base import Fact
from weft.observe.facts.benchmarks import BenchmarkRank
from weft.observe.facts.communicators import CommunicatorShape
from weft.observe.facts.gpus import GpuCallFailed, GpuSeen, ScaleUpFabricState
from weft.observe.facts.hosts import ServiceState
from weft.observe.facts.pods import ClusterEvent
from weft.observe.facts.reading import Opening

_INVALID_HANDLE = 400
_NOT_PERMITTED = 800
_DOMAIN = re.compile(
    r"compute ?domain.{0,60}(?:not ready|ready: )|imex.{0,60}(?:fail|not |error)", re.IGNORECASE
)
_WATCHED = re.compile(r"DCGM_FR_IMEX|IMEX daemon status is", re.IGNORECASE)
"""What a watch says wherever the service does not run, also where nobody needs it."""
_OF_TRANSPORT = re.compile(r"(?:.*/)?(?:transport|mnnvl|allocator|p2p|nvls|coll_net|register)")
"""Where in the library memory of another GPU is made known; programs pass bad handles too."""
_NAMED = re.compile(
    r"\bGB[23]00\b|\bNVL ?(?:72|36|144)\b|\bMNNVL ?=? ?1\b|multi-?node NVLink",
    re.IGNORECASE,
)
_RACK = re.compile(r"\bgb[23]00|nvl72|vera")


def _check(facts: Facts) -> Iterator[Finding]:
    shapes = [one for one in facts.of(CommunicatorShape) if one.multi_host_scale_up]
    apart: list[Fact] = [
        one for one in facts.of(ServiceState)
        if one.service.startswith("imex ")
        and one.state in {"unavailable", "degraded", "invalid"}
    ]  # fmt: skip
    service = [
        one for one in facts.of(ServiceState)
        if "imex" in one.service and one.state not in {"active", "running", "up"}
    ]  # fmt: skip
    products = " ".join({one.name for one in facts.of(GpuSeen)}).lower()
    stopped = [one for one in service if _wanted(products, one)]
    handles = _refused_handles(facts, on_scale_up=bool(shapes))
    if service or _on_rack(facts):
        known = {one.evidence for one in handles}
        handles += [one for one in _imports(facts) if one.evidence not in known]
    apart += [
        one
        for one in facts.of(ClusterEvent)
        if re.search(r"imex-channels/\S+ no such file", one.evidence.text)
    ]
    if handles or apart or stopped:
        yield finding(
            "imex-domain-missing",
            [*handles, *service, *shapes, *facts.of(ScaleUpFabricState)],
            0.85 if shapes or (service and handles) else 0.65,
            severity=Severity.ERROR if handles or apart else Severity.WARNING,
            message="a memory handle of another host cannot be imported: no common IMEX domain"
            if handles or apart
            else "the IMEX service of this host or its domain is not up",
            advice="run nvidia-imex on all hosts of the rack with one nodes file",
            next_command="nvidia-imex-ctl -N; ls /dev/nvidia-caps-imex-channels",
            explains=("mpi-ucx-not-nccl",),
            missing=() if service else ("the state of nvidia-imex on every host",),
        )


def _refused_handles(facts: Facts, *, on_scale_up: bool) -> list[Fact]:
    """Return what says that a handle was refused, or that its domain is not there."""
    handles: list[Fact] = [
        one for one in facts.of(GpuCallFailed)
        if (one.code in {_INVALID_HANDLE, _NOT_PERMITTED}
            or "resource handle" in one.error.lower())
        and (on_scale_up
             or facts.any_of(ScaleUpFabricState)
             or (_OF_TRANSPORT.match(one.place) is not None and _on_rack(facts))
             or "cumemcreate" in one.error.lower()
             or "fabric" in one.evidence.text.lower() or "import" in one.evidence.text.lower())
    ]  # fmt: skip
    said = job.said(
        facts,
        r"mnnvl .{0,60}not working|mnnvl.{0,80}(?:failed|invalid)|"
        r"fabric.{0,60}handle.{0,40}fail|"
        r"handle_type_fabric.{0,80}(?:not_permitted|not permitted|failed)|"
        r"cumemimport\w*handle.{0,40}fabric|abrupt nvidia-imex|"
        r"nvidia-imex daemon has invoked robust channel recovery|"
        r"computedomain .{0,30}(not )?ready|imex.{0,60}(fail|not |unavailable|error|no such)",
    )
    handles += [one for one in said if not _WATCHED.search(one.evidence.text)]
    handles += [
        one for one in facts.of(ClusterEvent)
        if one.warning is not False and _DOMAIN.search(one.message)
    ]  # fmt: skip
    return handles


def _on_rack(facts: Facts) -> bool:
    """Return whether something says that the job runs on a rack of one NVLink domain."""
    names = [one.name for one in facts.of(GpuSeen)]
    names += [one.gpu_name for one in facts.of(BenchmarkRank)]
    names += [one.text for one in facts.of(Opening)]
    return any(_NAMED.search(one) for one in names)


def _imports(facts: Facts) -> list[GpuCallFailed]:
    """Return the imports of fabric memory that failed, whatever their code."""
    return [
        one for one in facts.of(GpuCallFailed)
        if "import" in one.evidence.text.lower() and "fabric" in one.evidence.text.lower()
    ]  # fmt: skip


def _wanted(products: str, service: ServiceState) -> bool:
    """Return whether a service that does not run has GPUs that need it, or says why it fell."""
    failed = service.state in {"failed", "unavailable", "degraded", "down"}
    return failed and (_RACK.search(products) is not None or not products)


imex_domain = Rule(causes=("imex-domain-missing",), check=_check)
