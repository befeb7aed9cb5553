"""What tools printed of running NICs: ``mlnx_qos -i``, ``ip link``, as in a bundle."""

from collections.abc import Iterator, Mapping

from weft.inventory.inventory import Reading
from weft.inventory.values import Value, whole
from weft.lint.facts import Fact, Interfaces, Map, Mapped, Pause, Port, Side, Trust
from weft.lint.reader import File, Reader
from weft.readers.read import read_text


def _read(file: File) -> Iterator[Fact]:
    seen = read_text(file.text.content, file.name)
    listed = [
        entity.field("interface") for entity, found in seen.of("interface") if "flags" in found
    ]
    if listed:
        yield Interfaces(at=file.at(1), device=file.name, names=tuple(listed))
    for entity, found in seen.of("interface"):
        last = {name: told[-1] for name, told in found.items()}
        yield from _interface(file, entity.field("interface"), last)
    for entity, found in seen.of("priority"):
        for told in found.get("dscp", ())[-1:]:
            for dscp in _numbers(told.value):
                yield Mapped(
                    at=file.at(told.evidence.line), side=Side.HOST, kind=Map.DSCP_TO_CLASS,
                    source=dscp, target=int(entity.field("priority")),
                    ports=_ports(entity.field("interface")),
                )  # fmt: skip


def _interface(file: File, name: str, found: Mapping[str, Reading]) -> Iterator[Fact]:
    if pfc := found.get("pfc"):
        enabled = tuple(place for place, flag in enumerate(_numbers(pfc.value)) if flag)
        at = file.at(pfc.evidence.line)
        yield Pause(at=at, side=Side.HOST, ports=_ports(name), priorities=enabled)
    if trust := found.get("trust"):
        at, mode = file.at(trust.evidence.line), str(trust.value)
        yield Trust(at=at, side=Side.HOST, ports=_ports(name), mode=mode)
    mtu, flags = found.get("mtu"), found.get("flags")
    if mtu and isinstance(mtu.value, float) and not _is_loopback(flags):
        state = found.get("state")
        yield Port(
            at=file.at(mtu.evidence.line), side=Side.HOST, name=name,
            mtu_bytes=int(mtu.value), up=state.value == "up" if state else None,
        )  # fmt: skip


def _is_loopback(flags: Reading | None) -> bool:
    return flags is not None and isinstance(flags.value, tuple) and "LOOPBACK" in flags.value


def _numbers(value: Value) -> list[int]:
    listed = value if isinstance(value, tuple) else ()
    return [number for text in listed if (number := whole(text)) is not None]


def _ports(name: str) -> tuple[str, ...]:
    return (name,) if name else ()


nic_state = Reader(title="printed state of NICs", read=_read)
