"""The verbs library could not be opened, so there is no RDMA for this process.

What it checks: failures to open libibverbs, unless a fabric plug-in failed before (its
failure is the cause then and this line its echo), or the job is on one host.
Why it matters: NCCL goes on with sockets without an error.
What to do: install libibverbs1 and ibverbs-providers (rdma-core) in the image.
References: NCCL troubleshooting guide; rdma-core packaging.
"""

import re
from collections.abc import Iterator

from weft.doctor import job
from weft.doctor.rule import Facts, Fault, Finding, Rule, Severity, Symptom, finding, suspect
from weft.observe.facts.adapters import AdapterPort
from weft.observe.facts.aftermath import WorkSeen
from weft.observe.facts.base import PortState
from weft.observe.facts.benchmarks import MeasuredLatency, MeasuredTransfer, TransferSetup
from weft.observe.facts.gpus import GpuCallFailed
from weft.observe.facts.hosts import DeviceNode
from weft.observe.facts.transports import (
    AdapterOpenFailed,
    NoProvider,
    NoRdmaDevice,
    NoVerbsLibrary,
    PluginSeen,
)

_EFA = re.compile(r"(?<![a-z])(?:efa|ofi|libfabric)(?![a-z])", re.IGNORECASE)


def _check(facts: Facts) -> Iterator[Finding]:
    yield from _renamed(facts)
    absent = _absent(facts)
    failing = facts.of(GpuCallFailed) or job.said(facts, r"internal error|unhandled system")
    alone = job.on_one_host(facts) and not failing
    if not absent or alone or facts.of(NoProvider) or _others_work(facts, absent):
        return
    if any(
        not one.loaded and one.role == "net" and _EFA.search(f"{one.name} {one.reason}")
        for one in facts.of(PluginSeen)
    ):
        return
    wanted = [*job.settings(facts, "NCCL_IB_HCA"), *job.settings(facts, "NCCL_IB_GID_INDEX")]
    nodes = [one for one in facts.of(DeviceNode) if one.present and "infiniband" in one.path]
    sure = bool(wanted or nodes or job.known_adapters(facts))
    likely = sure or (job.hosts(facts) or 0) > 1
    yield finding(
        "container-no-verbs-library",
        [*absent, *wanted, *nodes, *job.uses_sockets(facts)],
        0.85 if sure else 0.7 if likely else 0.55,
        severity=Severity.ERROR
        if sure
        else Severity.INFO
        if job.worked_after(facts, absent)
        else Severity.WARNING,
        message="libibverbs, or its part for this adapter, is not where the job runs"
        if not all(one.library.startswith("UCX") for one in absent)
        else "UCX has no part for the adapters where the job runs",
        advice="install rdma-core (libibverbs1, ibverbs-providers) in the image"
        + (", and a UCX built with it" if absent[0].library.startswith("UCX") else ""),
        next_command="ldconfig -p | grep -e ibverbs -e mlx5; ls /dev/infiniband",
        missing=() if sure else ("whether the host has an RDMA adapter at all (ibstat)",),
        explains=(Symptom.SOCKETS, "container-no-rdma-device", "rdma-netdev-other-namespace"),
        suspects=(_OTHER_ABI,) if _is_of_other_abi(absent) else (),
        fault=Fault.SOCKETS,
    )


_BY_ITS_OLD_NAME = re.compile(r"hfi1_\d+$")
_OF_OPAINFO = re.compile(r"\bPortState:")
"""Only adapters of Omni-Path are listed so; others may be called by their place as well."""


def _renamed(facts: Facts) -> Iterator[Finding]:
    """Find an Omni-Path port in use under a name by which its library does not look for it."""
    unseen = job.said(facts, r"no psm2 device is active|hfi1 units: total -?\d+, active 0\b")
    up = [
        one for one in facts.of(AdapterPort)
        if one.state is PortState.ACTIVE
        and (one.adapter.startswith("opa") or _OF_OPAINFO.search(one.evidence.text))
    ]  # fmt: skip
    if unseen and up and not any(_BY_ITS_OLD_NAME.match(one.adapter) for one in up):
        yield finding(
            "verbs-provider-incompatible",
            [*unseen, *up],
            0.7,
            subject=up[0].adapter,
            message=f"the library looks for hfi1_0 and the like; the port in use is called "
            f"{up[0].adapter}",
            advice="keep the kernel's names (NAME_KERNEL in the udev rule of rdma-core), or a "
            "newer libpsm2",
            next_command="ls /sys/class/infiniband /dev/hfi1*; fi_info -p psm2",
            explains=(Symptom.SOCKETS, "efa-provider-missing"),
        )


def _others_work(facts: Facts, absent: list[NoVerbsLibrary]) -> bool:
    """Return whether only the part for one of several adapters lacks, and RDMA works below."""
    of_one = all(one.library.startswith("provider") for one in absent)
    measured = any(one.kind == "result" for one in facts.of(WorkSeen)) or facts.any_of(
        MeasuredTransfer, MeasuredLatency
    )
    return of_one and measured and job.worked_after(facts, absent)


_OTHER_ABI = suspect("verbs-provider-incompatible", 0.3)


def _is_of_other_abi(absent: list[NoVerbsLibrary]) -> bool:
    return any("kernel ABI" in one.evidence.text for one in absent)


def _absent(facts: Facts) -> list[NoVerbsLibrary]:
    """Return what could not be loaded; providers count where no adapter was found then."""
    absent = facts.of(NoVerbsLibrary)
    gone = any(not one.present and "infiniband" in one.path for one in facts.of(DeviceNode))
    denied = gone or facts.any_of(AdapterOpenFailed)
    fine = job.uses_rdma(facts) or job.verbs_adapters(facts) or facts.any_of(TransferSetup)
    if denied or fine:
        return [one for one in absent if not one.library.startswith("provider")]
    none = facts.any_of(NoRdmaDevice) or job.uses_sockets(facts) or not job.began(facts)
    return [one for one in absent if none or not one.library.startswith("provider")]


verbs_library = Rule(
    causes=("container-no-verbs-library", "verbs-provider-incompatible"), check=_check
)
