"""What the drivers of adapters of any maker say in the kernel's log when a device gives up.

Each driver has words of its own for few failures: firmware that does not answer, commands that
time out, hardware errors, a device that could not be brought up. What else they say is left
to the kernel's log.
"""

import errno
import re
from collections.abc import Sequence

from weft.observe.facts.adapters import AdapterFault
from weft.observe.facts.base import Fact
from weft.observe.parser import READ, Parser
from weft.observe.parsers._values import is_prose
from weft.observe.patterns import Line, words

_DRIVERS = (
    r"bnxt_en|bnxt_re|hns3|hns_roce\w*|hclge(?:vf)?|mana|ionic(?:_rdma)?|erdma|irdma|i40iw|ice|"
    r"i40e|iavf|idpf|efa|ena|qedr|qede|cxgb4|iw_cxgb4|mlx4_\w+|ocrdma|be2net|hinic3?|hiroce3?|"
    r"xsc\w*|hfi1|gve|sfc|nfp"
)
_DEVICE = r"(?P<device>[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.\d)"
_FIRMWARE = (
    r"(?:firmware|\bfw|mfw|mailbox|mbox|cmdq|cmd queue|command queue|admin ?q(?:ueue)?|"
    r"admin command|devcmd|hwc|hwrm)\b"
)
_GIVES_UP = (
    r"(?:time[d]?[ -]?out|stall|stopp(?:ed|ing)|not respon|unresponsive|fatal|halted|abandon|"
    r"init(?:ialization)? failed|is closed|is dead|query failed)"
)
_SICK = re.compile(
    rf"(?:(?:^|[\s\]])(?:{_DRIVERS}) {_DEVICE}|\b(?:{_DRIVERS})(?: (?P<name>[a-z]\w+))?:|"
    r"\[qed\w*:\d+\((?P<bus>[^)]{1,20})\)\]).{0,80}?"
    rf"(?P<text>{_FIRMWARE}.{{0,60}}?{_GIVES_UP}|"
    r"timed ?out.{0,20}msec|Error \(timeout: \d|Abandoning msg|"
    r"\b(?:hw|hardware) error\b.{0,30}occurred|RAS.{0,40}uncorrect|uncorrected RAS|"
    r"device (?:has failed|removed|unrecoverable|is going to be reset)|needs reset|"
    r"adapter (?:halted|stopped|error)|Rebuild failed|unload and reload driver|critical error|"
    r"\bunrecoverable|Internal error detected|reset (?:failed|aborted)|"
    r"adminq state [23]\b|didn't send any completion for admin|isn't ready, can't reset|"
    r"[Ff]ailed to submit command \w+ \(opcode \d+\) err -19).*",
    re.IGNORECASE,
)
_PROBE = re.compile(
    rf"\b(?:(?:{_DRIVERS}|mlx5_core): probe of {_DEVICE} failed with error -\d+|"
    rf"(?:{_DRIVERS}|mlx5_core) (?P<bus>[0-9a-fA-F:.]{{7,13}}): probe with driver \w+ failed "
    r"with error -\d+)"
)
_RECOVERS = re.compile(
    r"non-?fatal reset|recover(?:y|ed) (?:succe|complet|done)", re.IGNORECASE
)
_NO_KEYS = re.compile(
    rf"(?:\b(?:{_DRIVERS}) {_DEVICE}|\binfiniband (?P<name>\w+):).{{0,60}}?"
    r"(?:[Ff]ailed to (?:alloc(?:ate)?|register)(?: id for| HW| free)? (?:MR|stag|mkey)\b|"
    r"out of (?:stags|mkeys|mrs|mr size|keys)\b|"
    r"Max (?:MRs?|stags)\b.{0,20}(?:exceeded|reached)).*",
    re.IGNORECASE,
)


_NUMBER = re.compile(r"\[-(\d{1,3})\]|\berr(?:or)?:? -(\d{1,3})")
_LACKS = {errno.ENOMEM, errno.ENOSPC, errno.ENOBUFS, errno.EAGAIN, errno.EDQUOT}
"""Errors that say that something is used up; others are a device that does not answer."""


def _no_keys(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that an adapter has no memory key left, or did not carry out what was asked."""
    number = _NUMBER.search(line.text)
    lacks = number is None or int(number[1]) in _LACKS
    return (
        AdapterFault(
            kind="keys" if lacks else "timeout", device=found["device"] or found["name"] or "",
            text=found[0].strip()[:200], host=line.host, moment=line.moment,
            evidence=line.evidence,
        ),
    )  # fmt: skip


def _sick(found: re.Match[str], line: Line) -> Sequence[Fact]:
    groups = found.groupdict()
    named = [groups.get(name) for name in ("device", "name", "bus")]
    if _RECOVERS.search(line.text) or (not any(named) and is_prose(line.text)):
        return READ
    return (
        AdapterFault(
            kind="health",
            device=next((one for one in named if one), ""),
            text=found[0].strip()[:200],
            host=line.host,
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


adapter_drivers = Parser(
    tool="drivers of adapters",
    marks=(
        "bnxt_", "hns3", "hns_", "hclge", "mana", "ionic", "erdma", "irdma", "ice ", "i40",
        "iavf", "idpf", "efa ", "ena ", "[qed", "cxgb4", "mlx4_", "ocrdma", "be2net", "hinic",
        "hiroce", "xsc", "hfi1", "gve ", "sfc ", "nfp ", "infiniband ", "probe of",
        "probe with",
    ),
    reader=words((_PROBE, _sick), (_SICK, _sick), (_NO_KEYS, _no_keys)),
    rank=18,
    longest=512,
)  # fmt: skip
