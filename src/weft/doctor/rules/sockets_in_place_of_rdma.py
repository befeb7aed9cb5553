"""The job runs over TCP sockets although the hosts have RDMA adapters.

What it checks: which network each rank chose, whether the library found a verbs device,
and whether the hosts' adapters, device nodes and ports would have allowed RDMA; whether the
container was started without the devices.
A job on one host is left alone: its network carries nothing.
Why it matters: TCP gives a tenth to a third of the bandwidth of RDMA and costs processor time;
the job runs, only slowly, so nobody looks.
What to do: give the container /dev/infiniband and the right to lock memory (on Kubernetes
through an RDMA device plug-in), install rdma-core in the image, unset NCCL_IB_DISABLE.
References: NCCL user guide, environment variables and troubleshooting; rdma-core README.
"""

import errno
import re
from collections.abc import Iterator
from dataclasses import replace

from weft.doctor import job
from weft.doctor.rule import (
    LIKELY_RATIO,
    Facts,
    Fault,
    Finding,
    Rule,
    Severity,
    Symptom,
    finding,
    suspect,
    suspected,
)
from weft.observe.facts.adapters import AdapterPort
from weft.observe.facts.base import Fact, PortState
from weft.observe.facts.hosts import DeviceNode, ModuleRefused
from weft.observe.facts.transports import (
    AdapterOpenFailed,
    NoProvider,
    NoRdmaDevice,
    NoVerbsLibrary,
    PluginSeen,
)
from weft.observe.facts.verbs import CallFailed

_ADVICE = "pass /dev/infiniband into the container with IPC_LOCK, or request the RDMA resource"
_LOOK = "ls -l /dev/infiniband; ibv_devices; ibstat   # in the container and on the host"
_MERELY_LISTED = frozenset({"", "empty list", "no ib devices found"})
"""What tools say that only list adapters, and a library that goes on without."""
_DRIVER = re.compile(
    r"(?:mlx[45]_(?:ib|core)|ib_(?:core|uverbs|cm|umad)|rdma_u?cm|bnxt_re|irdma|erdma|efa|ionic_rdma|"
    r"hns_roce\w*|hiroce\w*|qedr|iw_cxgb4|mana_ib)$"
)
_DENIED = suspect("container-rdma-permission", 0.3)
_SUSPECTS = (
    suspect("container-no-rdma-device", 0.4),
    suspect("hca-selection-wrong", 0.25),
    suspect("container-no-verbs-library", 0.2),
    suspect(
        "nccl-env-misuse",
        0.15,
        question="is NCCL_IB_DISABLE or NCCL_NET set, also in nccl.conf?",
    ),
)


def _check(facts: Facts) -> Iterator[Finding]:
    if job.on_one_host(facts):
        return
    yield from _undriven(facts)
    nodes: list[Fact] = [
        one for one in facts.of(DeviceNode)
        if not one.present and ("infiniband" in one.path or "uverbs" in one.path)
    ]  # fmt: skip
    missing = [*nodes, *_opens_without_reason(facts), *_opens_of_nothing(facts)]
    sockets: list[Fact] = [*facts.of(NoRdmaDevice), *job.uses_sockets(facts)]
    sockets += job.said(facts, r"failed to initialize any net plugin")
    adapters = [*job.active_ports(facts)]
    bare = _started_without(facts) if adapters or (job.hosts(facts) or 0) > 1 else []
    if nodes or (missing and not job.uses_rdma(facts)):
        wanted = bool(
            sockets
            or adapters
            or job.known_adapters(facts)
            or job.settings(facts, "NCCL_IB_HCA")
        )
        if wanted or len(missing) > len(nodes):  # else nothing shows that there is an adapter
            yield _not_passed_in([*missing, *sockets], seen=bool(nodes), wanted=wanted)
    if bare and not missing and not job.uses_rdma(facts):
        yield _started_bare([*facts.of(NoRdmaDevice), *bare, *adapters], wanted=bool(adapters))
    elif sockets and adapters and not job.uses_rdma(facts):
        yield suspected(
            _SUSPECTS,
            [*sockets, *adapters],
            symptom=Symptom.SOCKETS,
            message="the hosts have an active RDMA port, yet the job uses TCP sockets",
            advice=_ADVICE,
        )
    elif sockets and not adapters and not missing:
        yield from _unseen(facts, sockets)
        yield from _needed(facts)


def _undriven(facts: Facts) -> Iterator[Finding]:
    """Suspect a host whose kernel refused the RDMA driver of an adapter."""
    refused = [one for one in facts.of(ModuleRefused) if _DRIVER.match(one.name)]
    if refused and not job.uses_rdma(facts) and not job.active_ports(facts):
        yield suspected(
            (replace(_SUSPECTS[0], confidence_ratio=0.45), *_SUSPECTS[2:3]),
            refused,
            severity=Severity.WARNING,
            message=f"the kernel refused {refused[0].name}: its adapters offer no RDMA",
            advice="install the driver that was built for the running kernel, or boot the "
            "kernel that it was built for",
        )


def _not_passed_in(evidence: list[Fact], *, seen: bool, wanted: bool) -> Finding:
    """Name the missing device node; where nothing wants RDMA, the host may have none."""
    sure = 0.9 if seen and wanted else 0.65 if wanted or not seen else LIKELY_RATIO
    return finding(
        "container-no-rdma-device",
        evidence,
        sure,
        severity=Severity.ERROR if sure > LIKELY_RATIO else Severity.WARNING,
        message="the RDMA adapter's device node is not there where the job runs",
        advice=_ADVICE,
        next_command=_LOOK,
        missing=() if seen else ("ls -l /dev/infiniband where the job runs",),
        explains=(Symptom.SOCKETS, "mpi-ucx-not-nccl"),
        suspects=() if seen else (_DENIED,),
        fault=Fault.SOCKETS,
    )


def _started_without(facts: Facts) -> list[Fact]:
    """Return how containers without devices were started, where the library found none."""
    return job.containers_without_devices(facts) if facts.of(NoRdmaDevice) else []


def _started_bare(evidence: list[Fact], *, wanted: bool) -> Finding:
    """Say that the container was started without the devices, if the host has any."""
    return finding(
        "container-no-rdma-device",
        evidence,
        0.75 if wanted else 0.55,
        severity=Severity.ERROR if wanted else Severity.WARNING,
        message="the container was started without the RDMA adapters' device nodes",
        advice="start it with --device=/dev/infiniband --ulimit memlock=-1, or --privileged",
        next_command=_LOOK,
        missing=() if wanted else ("whether the host has an RDMA adapter at all (ibstat)",),
        explains=(Symptom.SOCKETS,),
        fault=Fault.SOCKETS,
    )


def _opens_without_reason(facts: Facts) -> list[Fact]:
    """Return adapters that could not be opened, where denial is not the stated reason.

    Where the same listing shows a port that is up, the others belong to somebody else.
    """
    own = {
        one.evidence.file for one in facts.of(AdapterPort) if one.state is PortState.ACTIVE
    }  # fmt: skip
    return [
        one for one in facts.of(AdapterOpenFailed)
        if one.errno not in {1, 13} and "permi" not in one.error.lower()
        and (one.adapter or one.evidence.file not in own)
    ]  # fmt: skip


def _opens_of_nothing(facts: Facts) -> list[CallFailed]:
    """Return opens of a listed adapter that found no node to open."""
    return [
        one for one in facts.of(CallFailed)
        if "open_device" in one.call
        and (one.errno == errno.ENOENT or "no such file" in one.error.lower())
    ]  # fmt: skip


def _needed(facts: Facts) -> Iterator[Finding]:
    """State that a program which works over RDMA alone found no adapter."""
    alone = [one for one in facts.of(NoRdmaDevice) if one.cause not in _MERELY_LISTED]
    if alone and len(alone) == len(facts.of(NoRdmaDevice)) and not facts.any_of(NoVerbsLibrary):
        yield suspected(
            _SUSPECTS,
            alone,
            symptom=Symptom.SOCKETS,
            severity=Severity.WARNING,
            message="a program that needs RDMA found no adapter",
            advice=_ADVICE,
        )


def _unseen(facts: Facts, sockets: list[Fact]) -> Iterator[Finding]:
    """State sockets without judging: nothing shows that there is an adapter to use."""
    other = facts.any_of(NoVerbsLibrary, NoProvider) or any(
        not one.loaded and one.reason for one in facts.of(PluginSeen)
    )
    if job.uses_sockets(facts) and (job.hosts(facts) or 0) > 1 and not other:
        yield suspected(
            _SUSPECTS,
            sockets,
            symptom=Symptom.SOCKETS,
            severity=Severity.INFO,
            message="the job uses TCP sockets; no output shows an RDMA adapter on these hosts",
            advice="if the hosts have RDMA adapters, collect ibstat; if not, nothing is wrong",
        )


sockets_in_place_of_rdma = Rule(causes=("container-no-rdma-device",), check=_check)
