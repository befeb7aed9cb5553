"""Kernel modules that are refused or not there, and whether signatures are asked for."""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.hosts import ModuleRefused, SecureBoot
from weft.observe.parser import READ
from weft.observe.parsers.kernel_log.lines import host_of
from weft.observe.patterns import Line, pattern


def _symbol(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        ModuleRefused(
            name=found["module"],
            reason=found["reason"].strip(),
            symbol=found["symbol"],
            host=host_of(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


_OF_MODULE = re.compile(r"(?P<module>\w{2,40}): $")


def _unlike_kernel(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State a module that was built against other symbols than the kernel's own."""
    named = _OF_MODULE.search(line.before)
    if not named:
        return READ
    return (
        ModuleRefused(
            name=named["module"], reason="disagrees about version of symbol",
            symbol=found["symbol"], host=host_of(line), moment=line.moment,
            evidence=line.evidence,
        ),
    )  # fmt: skip


def _refused(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        ModuleRefused(
            name=found["module"],
            reason=found["reason"].strip(" :'\""),
            host=host_of(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _secure_boot(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        SecureBoot(
            enabled=found["state"].lower() == "enabled",
            host=host_of(line),
            evidence=line.evidence,
        ),
    )


PATTERNS = (
    pattern(
        "disagrees about version",
        r"disagrees about version of symbol (?P<symbol>\w+)",
        _unlike_kernel,
    ),
    pattern(
        "nvidia_peermem: ",
        r"(?P<module>nvidia_peermem): (?P<reason>Unknown symbol) (?P<symbol>\w+)",
        _symbol,
    ),
    pattern(
        "nv_peer_mem: ",
        r"(?P<module>nv_peer_mem): (?P<reason>Unknown symbol|disagrees about version of symbol)"
        r" (?P<symbol>\w+)",
        _symbol,
    ),
    pattern(
        "Loading of unsigned",
        r"(?P<reason>Loading of unsigned module) ?(?P<module>\w*)",
        _refused,
    ),
    pattern(
        "ERROR: could not insert",
        r"ERROR: could not insert '?(?P<module>\w+)'?: (?P<reason>.*)",
        _refused,
    ),
    pattern(
        "ERROR: Module ",
        r"ERROR: Module (?P<module>\S+) (?P<reason>not found|is not currently loaded).*",
        _refused,
    ),
    pattern(
        "Failed to find module",
        r"Failed to find module '(?P<module>[\w-]+)'(?P<reason>)",
        _refused,
    ),
    pattern(
        "FATAL: Module", r"FATAL: Module (?P<module>\S+) (?P<reason>not found.*)", _refused
    ),
    pattern("SecureBoot ", r"SecureBoot (?P<state>enabled|disabled)", _secure_boot),
    pattern("Secure boot ", r"Secure boot (?P<state>enabled|disabled)", _secure_boot),
)
