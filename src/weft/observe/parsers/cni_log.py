"""Logs of what starts pods: kubelet, containerd, CRI-O, Multus and other CNI plug-ins.

Only failures to give a pod its networks or devices are stated, as events of the cluster.
"""

import re
from collections.abc import Sequence

from weft.observe.facts import ClusterEvent, Fact
from weft.observe.parser import Parser
from weft.observe.patterns import Line, nothing, pattern, table

_POD = re.compile(
    r'(?:pod="?|\[|for pod "?|PodSandbox for "?)'
    r"(?P<pod>[a-z0-9][\w.-]{0,80}/[a-z0-9][\w.-]{0,120})"
)
_SLASHES = re.compile(r'\\+"')


def _event(reason: str, found: re.Match[str], line: Line) -> Sequence[Fact]:
    message = _SLASHES.sub('"', found["text"]).strip()
    pod = _POD.search(line.text)
    return (
        ClusterEvent(
            reason=reason,
            message=message[:300],
            subject=pod["pod"].partition("/")[2].partition("/")[0] if pod else "",
            warning=True,
            evidence=line.evidence,
        ),
    )


def _sandbox(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return _event("FailedCreatePodSandBox", found, line)


def _admission(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return _event("UnexpectedAdmissionError", found, line)


cni_log = Parser(
    tool="kubelet, container runtimes and CNI",
    marks=(
        "error adding container to network",
        "error adding pod",
        "failed to setup network",
        "multus",
        "Multus",
        "SRIOV-CNI",
        "requested number of devices unavailable",
        "no healthy devices present",
        "assigning IP",
        "storage engine",
        "IPAM ",
        "IPAMConfig",
        "NIC networks, found",
        "actual number of GPUs",
        "kubelet[",
        "containerd[",
        "crio[",
    ),
    reader=table(
        pattern(
            "error adding container to network",
            r"(?P<text>error adding container to network.*)",
            _sandbox,
        ),
        pattern("error adding pod", r"(?P<text>error adding pod .*)", _sandbox),
        pattern("failed to setup network", r"(?P<text>failed to setup network.*)", _sandbox),
        pattern("SRIOV-CNI", r"(?P<text>SRIOV-CNI failed.*)", _sandbox),
        pattern("Multus: ", r"(?P<text>Multus: .{0,200}?error.*)", _sandbox),
        pattern(
            "] Error ", r"\] (?P<text>Error (?:assigning IP|at storage engine).*)", _sandbox
        ),
        pattern(
            "] IPAM ", r"\] (?P<text>IPAM (?:connectivity|client init|config).*)", _sandbox
        ),
        pattern("] LoadIPAM", r"\] (?P<text>LoadIPAMConfig .*Error.*)", _sandbox),
        pattern(
            "expected ", r"(?P<text>expected \d+ .{0,20}NIC networks, found \d.*)", _sandbox
        ),
        pattern(
            "Number of GPUs detected",
            r"(?P<text>Number of GPUs detected \d+ is not equal to the actual number.*)",
            _sandbox,
        ),
        pattern("] Error deallocating", r"\] Error deallocating IP: did not find", nothing),
        pattern(
            "Allocate failed due to",
            r"(?P<text>Allocate failed due to .*)",
            _admission,
        ),
        pattern("kubelet[", r"kubelet\[\d+\]: ", nothing),
        pattern("containerd[", r"containerd\[\d+\]: ", nothing),
        pattern("crio[", r"crio\[\d+\]: ", nothing),
        pattern("[verbose]", r"\[verbose\] (?:Add|Del):", nothing),
    ),
    rank=61,
    longest=8192,
)
