"""Logs of Kubernetes device plug-ins for RDMA and SR-IOV: what they offer, and what not."""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.pods import ClusterEvent
from weft.observe.facts.programs import Message
from weft.observe.parser import Parser
from weft.observe.patterns import Line, nothing, pattern, table


def _refused(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        Message(
            software="device plug-in",
            level="error",
            text=found[0].strip()[:300],
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _unsynchronised(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that the daemon of the SR-IOV operator could not set a node's functions up."""
    del found
    return (
        ClusterEvent(
            reason="NotReady", message=line.text.strip()[-300:], kind="SriovNetworkNodeState",
            subject=line.host, warning=True, evidence=line.evidence,
        ),
    )  # fmt: skip


def _served(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that a plug-in took a device in."""
    text = found[0].strip()[:300]
    return (
        Message(software="device plug-in", level="info", text=text, evidence=line.evidence),
    )


_STAMP = r"(?:\d{4}/\d\d/\d\d \d\d:\d\d:\d\d|[IWEF]\d{4} [\d:.]+ +\d+ [\w.]+:\d+\])"
device_plugin = Parser(
    tool="Kubernetes device plug-ins",
    marks=(
        "missing RDMA device spec",
        "Devices were found for resource",
        "No devices found for",
        "devices were found for",
        "no eligible devices",
        "no devices in device pool",
        "ResourceName:",
        "ResourcePrefix",
        "discoverDevices()",
        "DiscoverSriovDevices()",
        "resource server",
        "Kubelet Plugin Registry",
        "device plugin with",
        "device plugin unable",
        "Exiting.. ",
        "EFA devices",
        "configure sriov",
        "exposing devices",
        "astSyncError",
        "lockdown mode",
        "set NumVfs",
        "openibd ",
        "is not rdma device",
        "RDMA devices available for RDMA capable",
        "Are RDMA modules loaded",
        "] added",
        "has RDMA spec",
        "Cannot add device",
        "/sys/class/infiniband_verbs/",
        "gets registered",
        'exposing "',
        "ListAndWatch(",
        "No devices found.",
    ),
    reader=table(
        pattern("missing RDMA device spec", r"missing RDMA device spec for.*", _refused),
        pattern(
            "Devices were found for resource",
            r"Devices were found for resource .*",
            _refused,
        ),
        pattern(
            "no devices in device pool",
            r"no devices in device pool.*",
            _refused,
        ),
        pattern("No devices found for", r"No devices found for.*", _refused),
        pattern("devices were found for", r"devices were found for.*", _refused),
        pattern("no eligible devices", r"no eligible devices found.*", _refused),
        pattern(
            "Exiting.. ", r"Exiting\.\. (?:can not change|one or more invalid).*", _refused
        ),
        pattern("No valid EFA devices", r"No valid EFA devices found.*", _refused),
        pattern("Fail to configure sriov", r"Fail to configure sriov.*", _refused),
        pattern("main.go", r"main\.go:\d+\] No devices found\.\s*$", _refused),
        pattern("ListAndWatch(", r"ListAndWatch\(\S+\): send devices .{0,40}\{Devices:\[\]"
                r"\*Device\{\},?\}", _refused),
        pattern("ListAndWatch(", r"ListAndWatch\(\S+\): send devices .{0,40}\{Devices:\[\]"
                r"\*Device\{&", _served),
        pattern("exposing devices:", r"exposing devices: +\[\]", _refused),
        pattern("yncStatus", r"yncStatus\W{1,5}Failed\W.{0,20}astSyncError\W{1,5}.*",
                _unsynchronised),
        pattern("device detected when in lockdown", r"device detected when in lockdown mode.*",
                _unsynchronised),
        pattern("openibd ", r"openibd (?:re)?start\W{1,3}failed with.*", _refused),
        pattern("fail to set NumVfs", r"fail to set NumVfs.*", _unsynchronised),
        pattern("no EFA devices", r"no EFA devices (?:were )?found.*", _refused),
        pattern("No EFA devices", r"No EFA devices (?:were )?found(?!, falling).*", _refused),
        pattern("rdma is required in", r"rdma is required in .* not rdma device.*", _refused),
        pattern("No RDMA devices available", r"No RDMA devices available for.*", _refused),
        pattern("RDMA resources for", r"RDMA resources for \S+ not found.*", _refused),
        pattern("device plugin unable", r"device plugin unable.{0,20} Kubelet.*", _refused),
        pattern("device [", r"device \[[0-9a-f:.]{7,13}\] added", _served),
        pattern("Cannot add device", r"Cannot add device \[[0-9a-f:.]{7,13}\]\. Already all.*",
                _refused),
        pattern("has RDMA spec", r"has RDMA spec \[/dev/infiniband/.*", _served),
        pattern(
            "device: ",
            r"device: [\w.-]+,uverbs\d+,/sys/class/infiniband_verbs/uverbs\d+,\S+",
            _served,
        ),
        pattern("", rf"{_STAMP} Fetching EFA devices", nothing),
        pattern("gets registered", r"gets registered successfully", nothing),
        pattern("", rf"{_STAMP} (?:exposing \W?\d+\W? devices|Updating \"|Listening for|All "
                r"servers)", nothing),
        pattern("", rf"{_STAMP} Resource: &\{{", nothing),
        pattern("", rf"{_STAMP} (?:loaded config|Using Kubelet|Registered device|Initializing "
                r"resource|Starting|Discovering|discovered interfaces|Resource manager|"
                r"manager\.go|ResourceList|resource manager|Creating new|Watching)", nothing),
        pattern("discoverDevices()", r"discoverDevices\(\)", nothing),
        pattern("DiscoverSriovDevices()", r"DiscoverSriovDevices\(\): un", nothing),
    ),
    rank=47,
)  # fmt: skip
