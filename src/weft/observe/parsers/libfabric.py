"""libfabric: ``fi_info``, its own log, and the OFI plug-in's lines outside a library's log."""

import errno
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.observe.facts.base import Fact, Process
from weft.observe.facts.programs import Message, SharedMemoryFailed
from weft.observe.facts.transports import BootstrapInterface, NoProvider, ProviderChosen
from weft.observe.facts.verbs import CallFailed
from weft.observe.parser import READ, Parser, Source

_NONE = re.compile(
    r".{0,300}?(?:NET/OFI (?:.{0,80}: )?(?:Couldn't|Could not|Unable to) find any "
    r"(?:optimal |eligible |suitable )?provider|NET/OFI No eligible providers|"
    r"fi_getinfo: provider (?P<provider>\w+) output empty list|"
    r"fi_(?:getinfo|info)\b.{0,80}(?:No data available|-61\b)|"
    r"EFA libfabric provider not detected|No available EFA devices)",
    re.IGNORECASE,
)
_USUAL = re.compile(
    r".{0,200}?fi_getinfo: provider (?:(?!efa)\S+ returned -61\b|(?:tcp|udp|sockets|shm|sm2|"
    r"net|ofi_\w+|mrail|off_coll|lnx)\S* output empty list)"
)
_SAID = re.compile(
    r".{0,200}?(?P<text>This error indicates that the security group on either.*|"
    r"err: \d{1,3}, (?:prov_err|message): .*|no PSM2 device is active|"
    r"hfi1 units: total -?\d+, active 0\b.*|"
    r"EFA internal error: \(\d{1,5}\) .*|"
    r"(?:Work completion|CQ|cq)\b.{0,80}(?:[Uu]nreachable|[Uu]nresponsive) re(?:mote|ceiver).*)"
)
_SHARED = re.compile(
    r".{0,120}?\b(?:smr_|shm_|:shm:).{0,120}(?:No space left on device|"
    r"Not enough available space in /dev/shm)"
)
_UNMET = re.compile(
    r".{0,200}?(?::tcp:|:net:|:sockets:|xnet_|tcpx_).{0,120}connection failure "
    r"\(sockerr (?P<errno>\d{1,3})\)"
)
"""What the providers over TCP say of a peer to which they could not connect."""
_OTHER = re.compile(r"-p \"?(?:shm|tcp|net|sockets|udp|sm2|lnx|self|ofi_rx[md])\b")
_NIC = re.compile(
    r"\s*(?:\|CCL_\w{4,6}\|)?\s*nic: \{ name (?:tcp|sockets|net):(?P<name>[\w.-]{1,40})"
)
"""The interface that oneCCL took of those which the provider over TCP offers."""
_BARE = re.compile(r"\s*-61(?: \(?No data available\)?)?\s*$")
_FIELD = re.compile(
    r"\s*(?P<name>provider|fabric|domain|version|type|protocol): ?(?P<value>\S.{0,120})$"
)
_OFI = re.compile(
    r".{0,200}?(?:(?:INFO|WARN|TRACE): Function: \w+ Line: \d+: NET/OFI|libfabric:\d)"
)
_OF_VERBS = re.compile(
    r"\bibv_\w+.{0,40}(?:fail|error)|mr_reg.{0,60}fail|Cannot allocate|Unable to register MR\b"
)
"""What the verbs library said to a provider: it is read as of any program that uses it."""
_HOST = re.compile(r"\s*(?P<host>[A-Za-z][\w.-]{1,80}):\d+:\d+ ")


@dataclass(slots=True)
class _Reader:
    """Reads the blocks of ``fi_info``, one an endpoint."""

    source: Source
    provider: str = ""
    at: tuple[str, int] = ("", 0)

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line."""
        if _USUAL.match(text):
            return READ  # every provider that does not fit says so
        told = self._event(text, number)
        if told is None:
            told = self._none(text, number)
        if told is not None:
            return told
        field = _FIELD.match(text)
        if field and (self.provider or field["name"] == "provider"):
            return self._field(field["name"], field["value"].strip(), text, number)
        return READ if _OFI.match(text) and not _OF_VERBS.search(text) else None

    def end(self) -> Iterable[Fact]:
        """State the last provider, should its block be cut."""
        provider, self.provider = self.provider, ""
        return self._chosen(provider, "") if provider else READ

    def _event(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return what a provider says of itself: what failed, of whom, over which interface."""
        failed = self._failed(text, number)
        if failed:
            return (failed,)
        said, nic = _SAID.match(text), _NIC.match(text)
        if said:
            return (self._message(said["text"], text, number),)
        if nic is None:
            return None
        process = Process(host=self.source.host)
        evidence = self.source.evidence(text, number)
        return (
            BootstrapInterface(
                interface=nic["name"], address="", process=process, evidence=evidence
            ),
        )

    def _none(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return that no provider was found, if it was one of a fabric that was asked for."""
        none = _NONE.match(text)
        asked = "fi_info" in self.source.command
        if not none and not (asked and _BARE.match(text)):
            return None
        if asked and _OTHER.search(self.source.command):
            return READ  # every machine may lack it
        found = _HOST.match(text)
        process = Process(host=found["host"] if found else self.source.host)
        provider = (none["provider"] or "") if none else ""
        evidence = self.source.evidence(text, number)
        return (NoProvider(provider=provider, process=process, evidence=evidence),)

    def _message(self, said: str, text: str, number: int) -> Message:
        """State what the provider says of a peer."""
        return Message(
            software="libfabric",
            level="error",
            text=said.strip()[:300],
            process=Process(host=self.source.host),
            evidence=self.source.evidence(text, number),
        )

    def _failed(self, text: str, number: int) -> SharedMemoryFailed | CallFailed | None:
        """State shared memory that could not be had, or a peer not reached over TCP."""
        evidence = self.source.evidence(text, number)
        if _SHARED.match(text):
            return SharedMemoryFailed(errno=errno.ENOSPC, evidence=evidence)
        unmet = _UNMET.match(text)
        if unmet is None:
            return None
        code = int(unmet["errno"])
        return CallFailed(
            call="connect",
            errno=code,
            error=os.strerror(code),
            library="libfabric",
            process=Process(host=self.source.host),
            evidence=evidence,
        )

    def _field(self, name: str, value: str, text: str, number: int) -> Sequence[Fact]:
        if name == "provider":
            before = tuple(self.end())
            self.provider, self.at = value, (text, number)
            return before
        if name == "fabric":
            provider, self.provider = self.provider, "-"
            return self._chosen(provider, value)
        return READ

    def _chosen(self, provider: str, fabric: str) -> Sequence[Fact]:
        if provider == "-":
            return READ
        process = Process(host=self.source.host)
        evidence = self.source.evidence(*self.at)
        return (
            ProviderChosen(
                provider=provider, fabric=fabric, process=process, evidence=evidence
            ),
        )


libfabric = Parser(
    tool="fi_info and libfabric",
    marks=(
        "security group",
        "prov_err",
        ", message: ",
        "nreachable re",
        "nresponsive re",
        "provider: ",
        "nic: {",
        "NET/OFI",
        "fi_getinfo",
        "libfabric:",
        "EFA internal error",
        "sockerr ",
        "-61",
        "available EFA",
    ),
    reader=_Reader,
    rank=17,
)
