"""Metrics that exporters serve (Prometheus' text format): of GPUs and of InfiniBand ports.

They are of any age: the last fault of a GPU stays until the exporter starts anew.
"""

import re
from collections.abc import Sequence

from weft.observe.facts.adapters import AdapterPort
from weft.observe.facts.base import Fact, PhysicalState, PortState
from weft.observe.facts.gpus import (
    GpuFault,
    GpuLinkErrors,
    GpuReading,
    GpuThrottle,
    RemappedRows,
)
from weft.observe.facts.hosts import ServiceState
from weft.observe.facts.interfaces import Counter
from weft.observe.facts.pci import PcieError
from weft.observe.parser import READ, Parser
from weft.observe.patterns import Line, nothing, pattern, table

_LABEL = re.compile(r'(\w{1,40})="([^"]{0,200})"')
_MANAGER = {1: "inactive", 2: "activating", 4: "failed"}
"""States of the fabric manager that are not well [DCGM, dcgmFabricManagerStatus]."""
_LOGICAL = {1: PortState.DOWN, 2: PortState.INIT, 3: PortState.ARMED, 4: PortState.ACTIVE}
_PHYSICAL = {
    2: PhysicalState.POLLING, 3: PhysicalState.DISABLED, 4: PhysicalState.TRAINING,
    5: PhysicalState.LINK_UP,
}  # fmt: skip
"""States of ports by their number in sysfs [linux, drivers/infiniband/core/sysfs.c]."""
_SPELT = {
    "symbol_error": "symbol_error",
    "link_downed": "link_downed",
    "link_error_recovery": "link_error_recovery",
    "port_errors_received": "port_rcv_errors",
    "port_discards_transmitted": "port_xmit_discards",
    "local_link_integrity_errors": "local_link_integrity_errors",
    "excessive_buffer_overrun_errors": "excessive_buffer_overrun_errors",
}
_HEAT = {0x20: "sw_thermal_slowdown", 0x40: "hw_thermal_slowdown"}
"""Bits of the mask of reasons that hold clocks down [nvml.h, nvmlClocksEventReason]."""


_MANY_REPLAYS = 1000


def _labels(found: re.Match[str]) -> dict[str, str]:
    return dict(_LABEL.findall(found["labels"]))


def _of_gpu(found: re.Match[str], line: Line) -> Sequence[Fact]:
    labels, name, value = _labels(found), found["name"], int(float(found["value"]))
    gpu, host = labels.get("gpu", ""), labels.get("Hostname", line.host)
    if value <= 0:
        return READ
    if name == "FABRIC_MANAGER_STATUS":
        state = _MANAGER.get(value)
        return () if state is None else (
            ServiceState(
                service="nvidia-fabricmanager", state=state, text="not running for this GPU",
                host=host, evidence=line.evidence,
            ),
        )  # fmt: skip
    value = int(labels.get("xid", value) or value)
    if name == "XID_ERRORS":
        return (
            GpuFault(
                code=value, bus_id=f"GPU {gpu}", text="kept by an exporter", host=host,
                evidence=line.evidence,
            ),
        )  # fmt: skip
    if name.startswith("CLOCK"):
        reasons = [reason for bit, reason in _HEAT.items() if value & bit]
        return tuple(
            GpuThrottle(gpu=gpu, reason=one, active=True, host=host, evidence=line.evidence)
            for one in reasons
        )
    return _of_memory(name, gpu, value, line, host)


def _of_memory(name: str, gpu: str, value: int, line: Line, host: str) -> Sequence[Fact]:
    """State what a counter of a GPU's memory, slot or links says."""
    if name.startswith("ECC_DBE"):
        return (
            GpuReading(
                gpu=gpu, name="ecc_uncorrectable_volatile", value=float(value), host=host,
                evidence=line.evidence,
            ),
        )  # fmt: skip
    if name.startswith("PCIE_REPLAY"):
        return _replays(gpu, value, line)
    if name.startswith("ROW_REMAP"):
        failed = name.endswith("FAILURE")
        return (
            RemappedRows(
                gpu=gpu, pending=not failed, failed=failed, host=host, evidence=line.evidence
            ),
        )
    return (
        GpuLinkErrors(
            gpu=gpu, link=None, counter=name.lower(), value=value, host=host,
            evidence=line.evidence,
        ),
    )  # fmt: skip


def _of_state(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State a port that the exporter of the node lists; the numbers are the kernel's."""
    labels, value = _labels(found), int(float(found["value"]))
    logical = found["name"] == "state"
    physical = PhysicalState.UNKNOWN if logical else _PHYSICAL.get(value, PhysicalState.UNKNOWN)
    down = physical in {PhysicalState.DISABLED, PhysicalState.POLLING}
    state = _LOGICAL.get(value, PortState.UNKNOWN) if logical else (
        PortState.DOWN if down else PortState.UNKNOWN)  # fmt: skip
    port = labels.get("port", "")
    return (
        AdapterPort(
            adapter=labels.get("device", ""), port=int(port) if port.isdigit() else None,
            state=state, physical_state=physical, host=labels.get("instance", line.host),
            evidence=line.evidence,
        ),
    )  # fmt: skip


def _replays(gpu: str, value: int, line: Line) -> Sequence[Fact]:
    """State packets sent again over a slot, if they are many: some are usual."""
    if value < _MANY_REPLAYS:
        return READ
    return (
        PcieError(
            device=f"GPU {gpu}", kind="replays", text=f"{value} replays", host=line.host,
            evidence=line.evidence,
        ),
    )  # fmt: skip


def _of_port(found: re.Match[str], line: Line) -> Sequence[Fact]:
    labels, name = _labels(found), _SPELT.get(found["name"])
    if name is None:
        return READ
    port = labels.get("port", "")
    return (
        Counter(
            where=labels.get("device", ""),
            port=int(port) if port.isdigit() else None,
            name=name,
            value=int(float(found["value"])),
            host=labels.get("instance", line.host),
            evidence=line.evidence,
        ),
    )


_VALUE = r"\{(?P<labels>[^}]{0,1500})\} (?P<value>[\d.]{1,20}(?:e[+-]?\d{1,3})?)\s*(?:\d+)?\s*$"
exporter = Parser(
    tool="exporters of metrics",
    marks=("DCGM_FI_", "DCGM_EXP_", "node_infiniband_", "# HELP ", "# TYPE "),
    reader=table(
        pattern(
            "DCGM_FI_DEV_",
            r"DCGM_FI_DEV_(?P<name>XID_ERRORS|ROW_REMAP_PENDING|ROW_REMAP_FAILURE|"
            rf"NVLINK_(?:REPLAY|RECOVERY)_ERROR_COUNT_TOTAL|FABRIC_MANAGER_STATUS|"
            r"ECC_DBE_VOL_TOTAL|PCIE_REPLAY_COUNTER|"
            rf"CLOCKS?_(?:EVENT|THROTTLE)_REASONS){_VALUE}",
            _of_gpu,
        ),
        pattern("DCGM_EXP_", rf"DCGM_EXP_(?P<name>XID_ERRORS)_COUNT{_VALUE}", _of_gpu),
        pattern(
            "node_infiniband_",
            rf"node_infiniband_(?P<name>state|physical_state)_id{_VALUE}",
            _of_state,
        ),
        pattern("DCGM_EXP_", r"DCGM_EXP_\w+\{", nothing),
        pattern(
            "node_infiniband_",
            rf"node_infiniband_(?P<name>\w{{3,60}}?)_total{_VALUE}",
            _of_port,
        ),
        pattern("DCGM_FI_", r"DCGM_FI_\w+\{", nothing),
        pattern("node_infiniband_", r"node_infiniband_\w+\{", nothing),
        pattern("# HELP ", r"# HELP \w", nothing),
        pattern("# TYPE ", r"# TYPE \w", nothing),
    ),
    rank=4,
)
