"""What tools printed of running NICs: ``mlnx_qos -i``, ``ip link``, as in a bundle."""

from collections.abc import Iterator
from typing import Final

import re2

from weft.lint.facts import Fact, Map, Mapped, Pause, Port, Side, Trust
from weft.lint.reader import File, Reader
from weft.observe.facts import interfaces, service_quality
from weft.observe.reading import read_text

_MARKS: Final = re2.compile(
    r"(?m)^(Priority trust state|PFC configuration:|dscp2prio mapping|"
    r"\d+: \S+: <[A-Z,_-]+> mtu )"
)


def _claims(file: File) -> bool:
    return not file.is_shell and not file.documents and _MARKS.search(file.head) is not None


def _read(file: File) -> Iterator[Fact]:
    found = read_text(file.text.content, file.name)
    for one in found:
        yield from _fact(file, one)


def _fact(file: File, one: object) -> Iterator[Fact]:
    if isinstance(one, service_quality.PauseSetting):
        yield Pause(
            at=file.at(one.evidence.line),
            side=Side.HOST,
            ports=_ports(one.interface),
            priorities=one.priorities,
        )
    elif isinstance(one, service_quality.TrustState):
        yield Trust(
            at=file.at(one.evidence.line),
            side=Side.HOST,
            ports=_ports(one.interface),
            mode=one.trust,
        )
    elif isinstance(one, service_quality.DscpPriority):
        for dscp in one.dscp:
            yield Mapped(
                at=file.at(one.evidence.line),
                side=Side.HOST,
                kind=Map.DSCP_TO_CLASS,
                source=dscp,
                target=one.priority,
                ports=_ports(one.interface),
            )
    elif isinstance(one, interfaces.Interface) and one.mtu_bytes and one.kind != "loopback":
        yield Port(
            at=file.at(one.evidence.line),
            side=Side.HOST,
            name=one.interface,
            mtu_bytes=one.mtu_bytes,
            up=one.up,
        )


def _ports(name: str) -> tuple[str, ...]:
    return (name,) if name else ()


nic_state = Reader(title="printed state of NICs", claims=_claims, read=_read)
