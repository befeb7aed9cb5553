"""What people and watchers write of the second networks of pods, in whatever form.

An address that two pods have, and children (macvlan) of an interface that RDMA uses.
"""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.pods import PodInterface
from weft.observe.facts.programs import Message
from weft.observe.parser import Parser
from weft.observe.patterns import Line, words

_TAKEN = re.compile(
    r"(?:address|\bIP\b)\W{0,2}(?P<address>\d{1,3}(?:\.\d{1,3}){3}) (?:is|was) (?:already )?"
    r"(?:used|in use|held|claimed|assigned|allocated)[\w ]{0,20} (?:by|to) (?:\d+|two|"
    r"several|both|another|other)\b|duplicate (?:IP|address)(?:es)? (?:\w+ ){0,3}\d{1,3}\.\d",
    re.IGNORECASE,
)
_CHILD = re.compile(
    r"^(?=.*(?:\bmacvlans?\b|MacvlanNetwork))(?=.*(?:\bmlx\d_|\brdma|\bRDMA|RoCE|\bHCA\b|\bGIDs?\b|"
    r"\bnet\d\b|\bparent\b|MacvlanNetwork|\bmode (?:bridge|passthru|private|vepa)\b))"
)
_ZERO = re.compile(
    r"\b(?:gid table|GIDs?)\b.{0,40}\b(?:all zeros?|is empty|are empty)\b|"
    r"no (?:valid|usable) GID\b.{0,60}no address",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"(?<!\S)(?:pods?/)?(?P<pod>[a-z0-9][\w.-]{0,60})\s+(?P<name>net\d{1,2})(?:@\w+)?\s+"
    r"(?:UP|UNKNOWN)\s+(?P<address>\d{1,3}(?:\.\d{1,3}){3}/\d{1,2})(?:\s+(?P<node>[\w.-]+))?\s*$"
)


def _taken(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (Message(software="IPAM", level="error", text=found.string.strip()[:200],
                    evidence=line.evidence),)  # fmt: skip


def _zero(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (Message(software="GID table", level="error", text=found.string.strip()[:200],
                    evidence=line.evidence),)  # fmt: skip


def _child(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (Message(software="macvlan", level="info", text=found.string.strip()[:200],
                    evidence=line.evidence),)  # fmt: skip


def _listed(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        PodInterface(
            pod=found["pod"], interface=found["name"], addresses=(found["address"],),
            node=found["node"] or "", evidence=line.evidence,
        ),
    )  # fmt: skip


pod_network_words = Parser(
    tool="notes on the networks of pods",
    marks=(
        "macvlan",
        "Macvlan",
        "zero",
        "empty",
        "GID",
        "address",
        "duplicate",
        "uplicate",
        "IP ",
        " net",
    ),
    reader=words((_LISTED, _listed), (_TAKEN, _taken), (_ZERO, _zero), (_CHILD, _child)),
    rank=91,
)
