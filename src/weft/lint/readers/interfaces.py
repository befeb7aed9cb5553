"""``/etc/network/interfaces`` (ifupdown) and netplan: MTU and addresses of ports."""

from collections.abc import Iterator

import re2

from weft.lint.facts import Address, Bond, Fact, Port, Side
from weft.lint.part import fact
from weft.lint.reader import YAML_ENDS, File, Reader
from weft.lint.sections import sections

_SWITCH = re2.compile(r"swp\d+")
_STARTS = frozenset({"auto", "allow-auto", "allow-hotplug"})


def _claims(file: File) -> bool:
    netplan = any(tree["network"]["ethernets"] for tree in file.documents)
    return netplan or not file.name.endswith(YAML_ENDS)


def _read(file: File) -> Iterator[Fact]:
    for tree in file.documents:
        for name, one in tree.under("network", "ethernets").items():
            if one["mtu"]:
                yield fact(Port, one["mtu"], side=Side.HOST, name=name, mtu_bytes=one["mtu"])
            for address in one["addresses"].each():
                yield fact(Address, address, side=Side.HOST, port=name, address=address)
        for name, one in tree.under("network", "bonds").items():
            members = tuple(part.string() for part in one["interfaces"].each())
            yield Bond(at=one.at, side=Side.HOST, name=name, members=members)
    if not file.documents:
        yield from _ifupdown(file)


def _ifupdown(file: File) -> Iterator[Fact]:
    side = Side.SWITCH if _SWITCH.search(file.head) else Side.HOST
    device = file.text.folder if side is Side.SWITCH else ""
    parts = sections(file, comment="#")
    started = {name for one in parts if one.words[0] in _STARTS for name in one.words[1:]}
    for one in parts:
        if one.starts("iface") and one.word(1) != "lo":
            mtu, address = one.first("mtu"), one.first("address")
            name = one.word(1)
            given = {"device": device, "side": side}
            if mtu or _SWITCH.fullmatch(name):
                up = False if started and name not in started else None
                yield fact(Port, mtu or one, name=name, mtu_bytes=mtu, up=up, **given)
            if address:
                yield fact(Address, address, port=name, address=address, **given)


interfaces = Reader(title="ifupdown and netplan", claims=_claims, read=_read)
