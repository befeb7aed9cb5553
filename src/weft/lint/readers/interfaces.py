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
        for name, item in tree.under("network", "ethernets").items():
            if item["mtu"]:
                yield fact(Port, item["mtu"], side=Side.HOST, name=name, mtu_bytes=item["mtu"])
            for address in item["addresses"].each():
                yield fact(Address, address, side=Side.HOST, port=name, address=address)
        for name, item in tree.under("network", "bonds").items():
            members = tuple(part.string() for part in item["interfaces"].each())
            yield Bond(at=item.at, side=Side.HOST, name=name, members=members)
    if not file.documents:
        yield from _ifupdown(file)


def _ifupdown(file: File) -> Iterator[Fact]:
    side = Side.SWITCH if _SWITCH.search(file.head) else Side.HOST
    device = file.text.folder if side is Side.SWITCH else ""
    parts = sections(file, comment="#")
    started = {name for part in parts if part.words[0] in _STARTS for name in part.words[1:]}
    for part in parts:
        if part.starts("iface") and part.word(1) != "lo":
            mtu, address = part.first("mtu"), part.first("address")
            name = part.word(1)
            given = {"device": device, "side": side}
            if mtu or _SWITCH.fullmatch(name):
                up = False if started and name not in started else None
                yield fact(Port, mtu or part, name=name, mtu_bytes=mtu, up=up, **given)
            if address:
                yield fact(Address, address, port=name, address=address, **given)


interfaces = Reader(title="ifupdown and netplan", claims=_claims, read=_read)
