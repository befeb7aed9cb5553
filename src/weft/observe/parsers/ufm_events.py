"""The event log of UFM: what the manager of an InfiniBand fabric noticed.

A line is ``DATE TIME [id] [code] LEVEL [Category] Object [place]: text``.
"""

import re
from collections.abc import Sequence

from weft.observe.facts.adapters import CableEvent
from weft.observe.facts.base import Fact
from weft.observe.facts.interfaces import LinkEvent
from weft.observe.facts.programs import Message
from weft.observe.facts.subnet import FabricCheck
from weft.observe.moments import moment
from weft.observe.parser import READ, Parser
from weft.observe.patterns import Line, words

_EVENT = re.compile(
    r"\[\d{1,12}\] \[\d{1,5}\] (?P<level>CRITICAL|WARNING|MINOR|INFO) "
    r"\[(?P<category>[\w ]{3,40})\] "
    r"(?P<object>\w{2,20}) \[(?P<place>[^\]]{0,300})\](?: \[dev_id: \w+\])?: ?"
    r"(?P<text>.{1,400})"
)
_DOWN = re.compile(r"[Ll]ink (?:went|is) down")
_UP = re.compile(r"[Ll]ink is up")
_ERRORS = re.compile(
    r"(?:symbol error|link error recovery|local link integrity|rcv error|receive error|"
    r"excessive buffer|effective ber|raw ber|symbol ber|high ber)\b", re.IGNORECASE,
)  # fmt: skip
_NARROW = re.compile(
    r"operates? in .{1,20}(?:width|speed) mode|[Nn]on-?optimal link (?:width|speed)"
)
_HOT = re.compile(r"(?:cable|module|transceiver).{0,40}temperature", re.IGNORECASE)
_KEY = re.compile(r"[Bb]ad P_?[Kk]ey|pkey (?:mismatch|violation)")
_WITH_CAUSE = re.compile(r", ?cause ?:.*")
_GUID_PORT = re.compile(r"\b(?:0x)?[0-9a-f]{16}[:_]\d{1,3}\b")


def _event(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State what an event means; what is ordinary says nothing."""
    text, evidence = found["text"].strip(), line.evidence
    down, at = _DOWN.search(text), moment(line.text)
    if down or _UP.search(text):
        ends = _GUID_PORT.findall(text) or [found["place"]]
        link = " - ".join(sorted(one.replace("_", ":") for one in ends)[:2])
        lost = LinkEvent(interface=link, up=not down, moment=at, evidence=evidence)
        before = LinkEvent(interface=link, up=True, moment=at, evidence=evidence)
        return (before, lost) if down else (lost,)  # what went down was up
    if _KEY.search(text):
        return (Message(software="UFM", level="error", text=text, evidence=evidence),)
    if _HOT.search(text):
        event = f"error: {text.lower()[:120]}"
        return (CableEvent(device=found["place"], module=None, event=event, evidence=evidence),)
    if _ERRORS.search(text) or _NARROW.search(text):
        error = int(found["level"] == "CRITICAL")
        return (
            FabricCheck(stage="UFM", errors=error, warnings=1 - error, text=text,
                        evidence=evidence),
        )  # fmt: skip
    return READ


ufm_events = Parser(
    tool="UFM events",
    marks=(
        "[Hardware] ",
        "[Fabric Topology] ",
        "[Communication Error] ",
        "[Fabric Notif",
        "[Security] ",
        "[Fabric Configuration] ",
    ),
    reader=words((_EVENT, _event)),
    rank=16,
    longest=1024,
)
