"""A variable, or a forgotten nccl.conf, takes away what the cluster has.

What it checks: variables that switch RDMA, peer access or GPUDirect off, pin experimental
features, or fuse adapters of different NUMA domains, together with the line that shows the
harm. Why it matters: settings copied from another cluster or left from a test cost half the
bandwidth or hang a job, and no tool complains.
What to do: unset them all, run, and add back those that measurably help.
References: NCCL user guide, environment variables; nccl.conf in /etc and in the home folder.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from weft.doctor import job
from weft.doctor.rule import Facts, Fault, Finding, Rule, Severity, Symptom, finding
from weft.observe.facts.base import Fact
from weft.observe.facts.benchmarks import MeasuredCollective, MeasuredTransfer
from weft.observe.facts.collectives import CollectiveTimeout
from weft.observe.facts.communicators import ChannelPath, RingsConnected
from weft.observe.facts.interfaces import Interface
from weft.observe.facts.programs import Setting
from weft.observe.facts.transports import (
    NoProvider,
    NoSocketInterface,
    PluginSeen,
    ProviderChosen,
)
from weft.observe.facts.verbs import CallFailed, CompletionError

_UNSET = "unset it, also in /etc/nccl.conf and ~/.nccl.conf"
_LOOK = "env | grep -e NCCL -e UCX; cat /etc/nccl.conf ~/.nccl.conf"
_YES = ("1", "true", "yes")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Bad:
    """A setting that costs something, and what shows that it does here."""

    name: str
    values: tuple[str, ...]
    harm: str
    between_hosts: bool = False
    fault: Fault | None = None


_SETTINGS = (
    _Bad(name="NCCL_IB_DISABLE", values=_YES, harm="RDMA is switched off",
         between_hosts=True, fault=Fault.SOCKETS),
    _Bad(name="NCCL_NET", values=("socket", "Socket"), harm="sockets are forced",
         between_hosts=True, fault=Fault.SOCKETS),
    _Bad(name="NCCL_NET_GDR_LEVEL", values=("LOC", "0"), harm="GPUDirect RDMA is switched off",
         between_hosts=True, fault=Fault.GPUDIRECT_OFF),
    _Bad(name="NCCL_P2P_DISABLE", values=_YES, harm="GPUs of a host meet through host memory"),
    _Bad(name="NCCL_SHM_DISABLE", values=_YES, harm="ranks of a host meet through the network"),
)  # fmt: skip
_OF_PLUGIN = re.compile(r"network (?:aws )?(?:libfabric|ofi)\b.{0,20} not found", re.IGNORECASE)
_EXPERIMENTAL = ("NCCL_IB_USE_INLINE", "NCCL_IB_PREPOST_RECEIVE_WORK_REQUESTS")


def _check(facts: Facts) -> Iterator[Finding]:
    for bad in _SETTINGS:
        yield from _switched_off(facts, bad)
    yield from _experimental(facts)
    yield from _fused(facts)
    yield from _refused(facts)
    yield from _no_such_network(facts)
    yield from _without_gpus(facts)
    yield from _pinned_graph(facts)
    yield from _slow_provider(facts)
    yield from _other_family(facts)


def _switched_off(facts: Facts, bad: _Bad) -> Iterator[Finding]:
    found = [one for one in job.settings(facts, bad.name) if one.value in bad.values]
    if not found or (bad.between_hosts and job.on_one_host(facts)):
        return
    harm: list[Fact] = [*job.uses_sockets(facts)] if bad.fault is Fault.SOCKETS else []
    adapters = job.known_adapters(facts) and bad.fault is Fault.SOCKETS
    yield finding(
        "nccl-env-misuse",
        [*found, *harm],
        0.9 if harm and adapters else 0.6,
        severity=Severity.ERROR
        if harm and adapters
        else Severity.INFO
        if harm and _met(facts)
        else Severity.WARNING,
        message=f"{bad.name}={found[0].value}: {bad.harm}",
        advice=_UNSET,
        next_command=_LOOK,
        missing=() if adapters else ("whether this was meant",),
        explains=(Symptom.SOCKETS,) if harm else (Symptom.GPUDIRECT_OFF,),
        fault=bad.fault,
    )


def _met(facts: Facts) -> bool:
    """Return whether the ranks met over what is left, and nothing says that it is slow."""
    measured = facts.any_of(MeasuredCollective, MeasuredTransfer)
    failed = facts.any_of(CallFailed, CompletionError, CollectiveTimeout)
    return facts.any_of(ChannelPath, RingsConnected) and not (measured or failed)


def _slow_provider(facts: Facts) -> Iterator[Finding]:
    """Find a provider of sockets that somebody asked for, and that was taken."""
    asked = [
        one for one in job.settings(facts, "FI_PROVIDER")
        if one.value.startswith(("tcp", "sockets"))
    ]  # fmt: skip
    taken = [
        one for one in facts.of(ProviderChosen)
        if one.provider.startswith(("tcp", "sockets")) and "OFI" in one.evidence.text
    ]  # fmt: skip
    if asked and taken:
        yield finding(
            "nccl-env-misuse",
            [*asked, *taken],
            0.8,
            message=f"FI_PROVIDER={asked[0].value} keeps the plug-in to sockets",
            advice=_UNSET,
            next_command="env | grep FI_; fi_info -p efa",
            explains=(Symptom.SOCKETS,),
            fault=Fault.SOCKETS,
        )


def _other_family(facts: Facts) -> Iterator[Finding]:
    """Find a family of addresses asked for that the interfaces at hand do not have."""
    found = facts.of(NoSocketInterface)
    for one in job.settings(facts, "NCCL_SOCKET_FAMILY") if found else []:
        sixth = one.value.upper().endswith("6")
        named = job.settings(facts, "NCCL_SOCKET_IFNAME")
        names = [name.strip("=") for each in named for name in each.value.split(",")]
        held = [
            each for each in facts.of(Interface)
            if each.addresses and each.interface != "lo"
            and (not names or each.interface.startswith(tuple(names)))
        ]  # fmt: skip
        lacking = [each for each in held if not _has_family(each, sixth=sixth)]
        if (held and len(lacking) == len(held)) or not (held or names):
            yield finding(
                "nccl-env-misuse",
                [one, *found, *lacking],
                0.9 if lacking else 0.75,
                message=f"NCCL_SOCKET_FAMILY={one.value} leaves out the addresses at hand",
                advice=_UNSET,
                next_command="ip -br addr; env | grep NCCL_SOCKET",
                explains=("bootstrap-wrong-interface",),
            )


def _has_family(interface: Interface, *, sixth: bool) -> bool:
    """Return whether an interface has an address of the family that leads to other hosts."""
    return any(
        (":" in address) == sixth and not address.lower().startswith("fe80")
        for address in interface.addresses
    )


def _experimental(facts: Facts) -> Iterator[Finding]:
    found = [one for name in _EXPERIMENTAL for one in job.switched_on(facts, name)]
    if found:
        yield finding(
            "nccl-env-misuse",
            found,
            0.7,
            message=f"{found[0].name} switches on a path that few use and that may hang",
            advice=_UNSET,
            next_command=_LOOK,
            explains=(Symptom.WATCHDOG,),
        )


def _fused(facts: Facts) -> Iterator[Finding]:
    lines = job.said(facts, r"fusing .*different NUMA")
    level = [
        one for name in ("NCCL_NET_MERGE_LEVEL", "NCCL_IB_MERGE_NICS", "NCCL_NET_FORCE_MERGE")
        for one in job.settings(facts, name)
    ]  # fmt: skip
    if lines:
        yield finding(
            "nccl-env-misuse",
            [*lines, *level],
            0.9 if level else 0.7,
            message="adapters of different NUMA domains are fused into one",
            advice="unset NCCL_NET_MERGE_LEVEL and NCCL_NET_FORCE_MERGE, or keep them at PORT",
            next_command="nvidia-smi topo -m; env | grep NCCL_NET",
            explains=(Symptom.GPUDIRECT_OFF, Symptom.VERBS_CALL),
        )


def _no_such_network(facts: Facts) -> Iterator[Finding]:
    """Find a network asked for by name that no plug-in offers."""
    refused = job.said(facts, r"failed to initialize any net plugin|"
                              r"network \S+ not found")  # fmt: skip
    asked = [
        one for one in job.settings(facts, "NCCL_NET")
        if not re.search(r"libfabric|ofi", one.value, re.IGNORECASE)
    ]  # fmt: skip
    if refused and asked:
        yield finding(
            "nccl-env-misuse",
            [*refused, *asked],
            0.75,
            message=f"NCCL_NET={asked[0].value} names no network that is there",
            advice=_UNSET,
            next_command=_LOOK,
            explains=(Symptom.SOCKETS,),
        )


def _pinned_graph(facts: Facts) -> Iterator[Finding]:
    """Find a file of rings and trees, made for one machine and one version of the library."""
    pinned = job.settings(facts, "NCCL_GRAPH_FILE")
    failed = job.said(facts, r"nccl\w*error|unhandled|no transport found|graph file|\bfail")
    if pinned and failed:
        yield finding(
            "nccl-env-misuse",
            [*pinned, *failed],
            0.65,
            severity=Severity.WARNING,
            message="NCCL_GRAPH_FILE fixes rings and trees, which the library should find",
            advice=_UNSET,
            next_command=_LOOK,
            missing=("whether the job works without the file",),
        )


def _without_gpus(facts: Facts) -> Iterator[Finding]:
    """Find a list of transports, or a library, that leaves out what knows GPU memory."""
    lines = job.said(facts, r"ucx cuda support was not found|vram memory is detected as host")
    if lines:
        named = job.settings(facts, "UCX_TLS")
        yield finding(
            "nccl-env-misuse",
            [*lines, *named],
            0.7 if named else 0.6,
            message="UCX knows no GPU memory: UCX_TLS leaves its transports out, or another "
            "UCX without them is loaded",
            advice="unset UCX_TLS, or add cuda_copy,cuda_ipc to it; look at which libucp loads",
            next_command="env | grep UCX_; ucx_info -d | grep -i cuda; ldd <program>",
            explains=(Symptom.REGISTRATION, "mpi-ucx-not-nccl"),
        )


def _echoes_plugin(facts: Facts, line: Fact) -> bool:
    """Return whether a network is not found because its plug-in is not, or gave up before."""
    without = any(one.role == "net" and not one.loaded for one in facts.of(PluginSeen))
    misnamed = job.settings(facts, "NCCL_NET_PLUGIN")  # then another plug-in was looked for
    gave_up = facts.any_of(NoProvider) or (without and not misnamed)
    return gave_up and _OF_PLUGIN.search(line.evidence.text) is not None


def _refused(facts: Facts) -> Iterator[Finding]:
    """Find a variable whose value the library itself refuses."""
    lines = job.said(facts, r"could not force merge nics|"
                            r"(invalid|unknown|unrecogni[sz]ed|not a valid)\b(?! (?:resource|"
                            r"argument|device|memory|usage|context|access)\b).*"
                            r"\b(?-i:NCCL_(?!DEBUG)[A-Z])|"
                            r"\b(?-i:NCCL_(?!DEBUG)[A-Z_]+)\b.*\b(invalid|not valid|could not "

                                r"parse)|no algorithm/protocol available|error ?: network "
                                r".{1,40} not found|should not be called when nccl_comm_id|"
                            r"environment variable \[hccl_\w+\] is invalid|"
                            r"\b(?-i:NCCL_[A-Z_]+)\S* is out of range|"
                            r"\b(?-i:NCCL_[A-Z_]+) set on platform .*not supported|"
                            r"no valid (<ipv4|\[ipv6)|when getting address info|"
                            r"\b(?-i:NCCL_[A-Z_]+) has been set to .{0,200}not "
                            r"compatible")  # fmt: skip
    lines = [one for one in lines if not _echoes_plugin(facts, one)]
    named: list[Setting] = [
        one for one in facts.of(Setting)
        if one.name.startswith("NCCL_")
        and any(one.name in line.evidence.text for line in lines)
    ]  # fmt: skip
    if lines:
        yield finding(
            "nccl-env-misuse",
            [*lines, *named],
            0.75,
            message="the library refuses the value of a variable",
            advice="correct or unset the variable that the line names",
            next_command=_LOOK,
        )


environment_misuse = Rule(causes=("nccl-env-misuse",), check=_check)
