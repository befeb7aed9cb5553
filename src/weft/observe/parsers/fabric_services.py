"""The services of scale-up fabrics: fabric manager and IMEX, in their logs and the journal.

A fabric manager that finds no switch has nothing to do, which is a state of its own here.
"""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.hosts import ServiceState
from weft.observe.facts.programs import Message
from weft.observe.parser import Parser
from weft.observe.patterns import Build, Line, nothing, pattern, table

_HOST = re.compile(r"\d\d:\d\d:\d\d(?:\.\d+)?(?:[+-]\d\d:\d\d)? (?P<host>[\w.-]+) [\w-]+\[")
_NAMES = {"fabric": "nvidia-fabricmanager", "imex": "nvidia-imex"}


def _host(line: Line) -> str:
    found = _HOST.search(line.text[:200])
    return found["host"] if found else line.host


def _is(service: str, state: str) -> Build:
    """Return a maker of the fact that a service is in a state, whatever else the line says."""

    def build(_found: re.Match[str], line: Line) -> Sequence[Fact]:
        return (
            ServiceState(
                service=_NAMES[service],
                state=state,
                text=line.text.strip()[:200],
                host=_host(line),
                moment=line.moment,
                evidence=line.evidence,
            ),
        )

    return build


def _said(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        Message(
            software="fabric manager",
            level="error",
            text=found[0].strip()[:300],
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _said_of_partition(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return _said(found, line) if "fail" in line.text.lower() else ()


def _untrained(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    text = f"nvlink: failed to train: {line.text.strip()[:200]}"
    return (
        Message(
            software="fabric manager", level="error", text=text, moment=line.moment,
            evidence=line.evidence,
        ),
    )  # fmt: skip


_LOG = r"\[[A-Z][a-z]{2} \d\d \d{4} [\d:]+\] \[(?:INFO|WARNING|ERROR|CRITICAL)\] \[tid \d+\]"
fabric_services = Parser(
    tool="fabric manager and IMEX",
    marks=(
        "NV_WARN_NOTHING_TO_DO",
        "[tid ",
        "nv-fabricmanager",
        "nvidia-fabricmanager",
        "nvidia-imex[",
        "fabric manager",
        "Fabric Manager",
        "Fabric manager",
        "IMEX",
        "multicast team",
        "activate partition",
        "NVSwitches don't match",
        "Message payload details",
        "nvlsm: ",
        "fabricmanager-start",
        "Imex session",
        "NVLink fabric ",
    ),
    reader=table(
        pattern("NV_WARN_NOTHING_TO_DO", r"NV_WARN_NOTHING_TO_DO", _is("fabric", "not needed")),
        pattern("no NVSwitch devices", r"no NVSwitch devices", _is("fabric", "not needed")),
        pattern(
            "uccessfully configured all the available",
            r"uccessfully configured all the available .*NVSwitch",
            _is("fabric", "active"),
        ),
        pattern(
            "driver interface version",
            r"driver interface version .{0,60}(?:don't|doesn't|do not|does not) match",
            _is("fabric", "failed"),
        ),
        pattern(
            "fabric manager",
            r"fabric manager .{0,60}version .{0,80}(?:don't|doesn't|do not|does not) match",
            _is("fabric", "failed"),
        ),
        pattern(
            "NVSwitches don't match",
            r"NVSwitches don't match with any supported",
            _is("fabric", "failed"),
        ),
        pattern("aborting fabric manager", r"aborting fabric manager", _is("fabric", "failed")),
        pattern(
            "fabric manager ",
            r"fabric manager (?:is )?(?:exiting|aborting|terminating)",
            _is("fabric", "failed"),
        ),
        pattern("not trained", r"not trained to ACTIVE", _untrained),
        pattern("failed NVLink connections", r"failed NVLink connections", _untrained),
        pattern(
            "abric manager",
            r"abric manager (?:initialization|startup) (?:has )?failed",
            _is("fabric", "failed"),
        ),
        pattern(
            "abric Manager",
            r"abric Manager (?:initialization|startup) (?:has )?failed",
            _is("fabric", "failed"),
        ),
        pattern(
            "Failed to start ",
            r"Failed to start (?:nvidia-fabricmanager\.service - )?(?:NVIDIA )?[Ff]abric "
            r"[Mm]anager",
            _is("fabric", "failed"),
        ),
        pattern(
            "abric manager",
            r"abric manager (?:is not running|not running|is not started)",
            _is("fabric", "failed"),
            re.IGNORECASE,
        ),
        pattern(
            "abric Manager",
            r"abric Manager (?:is not running|not running|is not started)",
            _is("fabric", "failed"),
        ),
        pattern(
            "failed to find the GPU handle",
            r"failed to find the GPU handle \d+ in the multicast team.*",
            _said,
        ),
        pattern(
            "activate partition",
            r"activate partition.{0,120}",
            _said_of_partition,
        ),
        pattern("failed to setup multicast team", r"failed to setup multicast team.*", _said),
        pattern(
            "No matching network interface found",
            r"No matching network interface found for any IP",
            _is("imex", "failed"),
        ),
        pattern(
            "node config",
            r"node config(?:uration)? file.{0,80}(?:erminat|not found|invalid|empty)",
            _is("imex", "failed"),
        ),
        pattern(
            "Failed to read node", r"Failed to (?:read|open|parse) node", _is("imex", "failed")
        ),
        pattern(
            "local IP",
            r"local IP.{0,60}(?:not|in the node config).{0,60}",
            _is("imex", "failed"),
        ),
        pattern(
            "Failed to start ", r"Failed to start .{0,30}NVIDIA IMEX", _is("imex", "failed")
        ),
        pattern(
            "Kernel module",
            r"Kernel module \S+ has not been loaded, fabric manager cannot be started",
            _is("fabric", "failed"),
        ),
        pattern(
            "nvlsm: ", r"nvlsm: .{0,80}(?:can't|cannot|fail|error)", _is("fabric", "failed")
        ),
        pattern(
            "abric manager config",
            r"abric manager config file item: \w+ has an invalid value",
            _is("fabric", "failed"),
        ),
        pattern("Imex session", r"Imex session.{0,80}NV_ERR_", _is("imex", "failed")),
        pattern(
            "NVLink fabric ",
            r"NVLink fabric (?:not attached|registration error).{0,120}refusing to start",
            _is("imex", "failed"),
        ),
        pattern("IMEX", r"IMEX version \S+ is running with", _is("imex", "active")),
        pattern("[", _LOG + r"(?!.*\bNVSwitch (?:non-)?fatal error \d)", nothing),
        pattern("Message payload details", r"Message payload details", nothing),
        pattern("nv-fabricmanager[", r"nv-fabricmanager\[\d+\]:", nothing),
        pattern("nvidia-imex[", r"nvidia-imex\[\d+\]:", nothing),
    ),
    rank=52,
)
