"""Connections over TCP that people try by hand, or see a program try: what the kernel answers.

``telnet``, ``curl``, ``wget``, ``ssh``, ``socat``, traditional ``nc``, ``/dev/tcp`` of a shell,
``strace`` of ``connect``, and a Python program that ends by it. Only what does not arrive is
stated: a refusal is an answer. Peers are those of a cluster: public names are no business of a
job.
"""

import errno
import re
from collections.abc import Sequence
from ipaddress import IPv4Address

from weft.observe.facts.base import Fact, Process
from weft.observe.facts.interfaces import PacketFilter
from weft.observe.facts.verbs import CallFailed
from weft.observe.parser import READ, Parser
from weft.observe.patterns import Line, words

_ADDRESS = r"\d{1,3}(?:\.\d{1,3}){3}"
_PEER = rf"(?P<peer>{_ADDRESS}|[A-Za-z][\w.-]{{0,80}})"
_ERROR = r"(?P<error>No route to host|Host is unreachable|Connection timed out)"
_TELNET = re.compile(
    rf"\btelnet: (?:connect to address {_PEER}(?: port \d{{1,5}})?|"
    r"(?:Unable to|can't) connect to remote host(?: \((?P<within>[\w.-]{1,80})\))?): "
    rf"{_ERROR}"
)
_URL = re.compile(
    rf"(?:\bconnect to {_PEER} port \d{{1,5}}(?: from \S{{1,60}} port \d{{1,5}})? failed|"
    rf"Failed to connect to (?P<within>[\w.-]{{1,80}}) port \d{{1,5}}[^:]{{0,40}}): {_ERROR}"
)
_WGET = re.compile(
    rf"\b[Cc]onnecting to (?:[^|\s]{{1,80}}\|)?{_PEER}\|?:\d{{1,5}}\.\.\. failed: {_ERROR}"
)
_SSH = re.compile(rf"\bssh: connect to host {_PEER} port \d{{1,5}}: {_ERROR}")
_SOCAT = re.compile(
    rf"\bsocat\[\d{{1,8}}\] E connect\(.{{0,40}}?{_PEER}:\d{{1,5}}, \d+\): {_ERROR}"
)
_NC = re.compile(rf"\[{_PEER}\] \d{{1,5}} \([\w?-]{{1,20}}\) ?: {_ERROR}")
_SHELL = re.compile(
    rf"/dev/tcp/{_PEER}/\d{{1,5}}: {_ERROR}|\b(?:ba)?sh: connect: (?P<error2>No route to host|"
    r"Connection timed out)"
)
_STRACE = re.compile(
    rf"\bconnect\(\d{{1,5}}, \{{.{{0,80}}?inet_addr\(\"{_PEER}\"\).{{0,40}}?\}}, "
    rf"\d{{1,4}}\)\s{{1,8}}= -1 E(?:HOSTUNREACH|TIMEDOUT) \({_ERROR}\)"
)
_PYTHON = re.compile(
    r"^\s*(?:OSError|TimeoutError|(?:socket\.)?error): \[Errno (?:113|110)\] "
    rf"{_ERROR}\s*$"
)
_PROHIBITED = re.compile(
    r"^From \S{1,60} icmp_seq=\d{1,8} (?:Packet filtered|Destination (?:Host|Net) Prohibited|"
    r"Communication (?:Administratively )?Prohibited)|"
    r"\bICMP (?:host )?\S{1,60} unreachable - admin prohibited"
)
"""What a host answers whose filter rejects: to an echo, or as ``tcpdump`` shows it."""
_COMMAND = re.compile(
    rf"\b(?:telnet|nc|ncat|netcat|curl|wget|ssh|python3?|strace|timeout|bash)\b.{{0,200}}?"
    rf"(?P<peer>{_ADDRESS})\b"
)
_NUMBERS = {
    "No route to host": errno.EHOSTUNREACH,
    "Host is unreachable": errno.EHOSTUNREACH,
    "Connection timed out": errno.ETIMEDOUT,
}


def _tried(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State a connection that was not made, to whom the line or the command names."""
    told = found.groupdict()
    asked = _COMMAND.search(line.source.command)
    peer = told.get("peer") or told.get("within") or (asked["peer"] if asked else "")
    error = told.get("error") or told.get("error2") or ""
    if not _of_a_cluster(peer):
        return READ
    return (
        CallFailed(
            call="connect", errno=_NUMBERS[error], error=error, peer=peer, library="nc",
            moment=line.moment, process=Process(host=line.host), evidence=line.evidence,
        ),
    )  # fmt: skip


def _of_a_cluster(peer: str) -> bool:
    """Return whether a peer may be a host of the job: a private address, or a short name."""
    if not re.fullmatch(_ADDRESS, peer):
        return bool(peer) and "." not in peer.partition(".svc")[0] and peer != "localhost"
    if any(int(part) > 0xFF for part in peer.split(".")):  # noqa: PLR2004 - a byte
        return False
    address = IPv4Address(peer)
    return not address.is_loopback and not address.is_global


def _prohibited(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    return (PacketFilter(chain="INPUT", policy="REJECT", host="", evidence=line.evidence),)


tcp_tools = Parser(
    tool="connections tried by hand",
    marks=("No route to host", "Host is unreachable", "Connection timed out", "rohibited",
           "Packet filtered"),
    reader=words(
        (_TELNET, _tried),
        (_URL, _tried),
        (_WGET, _tried),
        (_SSH, _tried),
        (_SOCAT, _tried),
        (_NC, _tried),
        (_SHELL, _tried),
        (_STRACE, _tried),
        (_PYTHON, _tried),
        (_PROHIBITED, _prohibited),
    ),
    rank=15,
    longest=600,
)  # fmt: skip
