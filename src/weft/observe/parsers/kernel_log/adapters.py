"""Adapters' faults, however a driver words them; InfiniBand's core, mlx4, bnxt."""

import re
from collections.abc import Sequence

from weft.observe.facts.adapters import AdapterFault
from weft.observe.facts.base import Fact
from weft.observe.parser import READ
from weft.observe.parsers.kernel_log.lines import host_of
from weft.observe.parsers.kernel_log.links import interface_before
from weft.observe.patterns import Line, pattern

_KINDS = (
    ("limits exceeded", "keys"),
    ("health", "health"),
    ("in error state", "health"),
    ("slot unavailable", "health"),
    ("device disabled", "health"),
    ("miss count", "health"),
    ("fatal", "health"),
    ("insufficient power", "power"),
    ("temperature", "temperature"),
    ("timeout", "timeout"),
    ("timedout", "timeout"),
    ("didn't send any completion", "timeout"),
    ("reset", "reset"),
    ("create_mkey", "keys"),
    ("async reg mr failed", "keys"),
    ("max_mr", "keys"),
    ("alloc mr", "keys"),
    ("allocate mr", "keys"),
)
_NAME_OF_A_BIT = re.compile(r"\[ ?\d+\] \w")
"""The bit of an error register, which the line above tells of."""
_RECOVERED = re.compile(
    r"non-?fatal reset|reset (?:done|complete|finished|succe|request(?:ed)? succe)|"
    r"requests max timeout"
)
"""A reset that an adapter came back from, and what a driver says of its patience."""


def fault(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State what an adapter's driver complains of, by the kind that its words tell."""
    text = found["text"].strip()
    low = text.lower()
    if _RECOVERED.search(low) or _NAME_OF_A_BIT.match(text):
        return READ
    kind = next((k for word, k in _KINDS if word in low), "command" if "failed" in low else "")
    if not kind:
        return ()
    groups = found.groupdict()
    return (
        AdapterFault(
            kind=kind,
            device=found["device"],
            text=text,
            command=groups.get("command") or "",
            status=(groups.get("status") or "").strip(),
            host=host_of(line),
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


PATTERNS = (
    pattern(
        "NIC Link is ", r"NIC Link is (?P<word>[Uu]p|[Dd]own)(?P<interface>)", interface_before
    ),
    pattern("infiniband ", r"infiniband (?P<device>\w+): (?P<text>.*)", fault),
    pattern("mlx4_", r"mlx4_\w+ (?P<device>\S+:\S+?|\S+(?=:)):? (?P<text>.*)", fault),
    pattern("bnxt_", r"bnxt_\w+ (?P<device>\S+:\S+?|\S+(?=:)):? (?P<text>.*)", fault),
)
