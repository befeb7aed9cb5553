"""Logs of what starts pods: kubelet, containerd, CRI-O, Multus and other CNI plug-ins.

Only failures to give a pod its networks or devices are stated, as events of the cluster.
"""

import errno
import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact, Process
from weft.observe.facts.pods import ClusterEvent
from weft.observe.facts.verbs import CallFailed
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


def _no_node(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return _event("Failed", found, line)


def _denied(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State a connection between pods that a policy of the cluster drops."""
    return (
        CallFailed(
            call="connect", errno=errno.EHOSTUNREACH, error="dropped by a network policy",
            peer=found["peer"], library="network policy", moment=line.moment,
            process=Process(host=line.host), evidence=line.evidence,
        ),
    )  # fmt: skip


cni_log = Parser(
    tool="kubelet, container runtimes and CNI",
    marks=(
        "error adding container to network",
        "error adding pod",
        "failed to setup network",
        "multus",
        "Multus",
        "SRIOV-CNI",
        "failed (add)",
        "namespace isolation",
        "requested number of devices unavailable",
        "no healthy devices present",
        "assigning IP",
        "storage engine",
        "IPAM ",
        "IPAMConfig",
        "NIC networks, found",
        "actual number of GPUs",
        "/dev/infiniband",
        "imex-channels",
        "olicy denied",
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
            "annotation violates permission",
            r"(?P<text>annotation violates permission.*)",
            _sandbox,
        ),
        pattern("failed (add): ", r"failed \(add\): (?P<text>\S.*)", _sandbox),
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
            "lstat /dev/infiniband", r"(?P<text>lstat /dev/infiniband\S+ no such.*)", _no_node
        ),
        pattern(
            "while adding custom device",
            r"(?P<text>while adding custom device \W{1,3}/dev/infiniband.*no such.*)",
            _no_node,
        ),
        pattern("hostPath type", r"(?P<text>hostPath type .*/dev/infiniband.*)", _no_node),
        pattern(
            "/dev/nvidia-caps-imex",
            r"(?P<text>/dev/nvidia-caps-imex-channels/\S+ no such.*)",
            _no_node,
        ),
        pattern(
            "xx drop (Policy denied",
            r"xx drop \(Policy denied.{0,200}-> (?P<peer>\d+\.[\d.]+):\d+ tcp SYN",
            _denied,
        ),
        pattern(
            " <> ",
            r" <> (?P<peer>[\w./-]{1,120})(?::\d+)? .{0,40}[Pp]olicy denied.{0,20}DROPPED "
            r"\(TCP Flags: SYN\)",
            _denied,
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
