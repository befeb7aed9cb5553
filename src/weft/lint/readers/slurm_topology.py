"""``topology.conf`` and ``topology.yaml`` of Slurm."""

from collections.abc import Iterator

import re2

from weft.lint.document import Tree
from weft.lint.facts import Fact, TreeSwitch
from weft.lint.flaws import flaw
from weft.lint.hostlist import expand, turned
from weft.lint.part import fact
from weft.lint.reader import YAML_ENDS, File, Reader

_PAIR = re2.compile(r"(\w+)=(\S+)")


def _claims(file: File) -> bool:
    tree = any(True for tree in file.documents for _ in _trees(tree))
    return tree or not file.name.endswith(YAML_ENDS)


def _trees(tree: Tree) -> Iterator[Tree]:
    if isinstance(tree.value, list):
        for item in tree.each():
            yield from item.under("tree", "switches").each()


def _read(file: File) -> Iterator[Fact]:
    for tree in file.documents:
        for switch in _trees(tree):
            nodes, below = (expand(switch[key].string()) for key in ("nodes", "children"))
            yield fact(TreeSwitch, switch, name=switch["switch"], nodes=nodes, switches=below)
    if file.documents:
        return
    for number, line in file.lines():
        pairs = dict(_PAIR.findall(line.partition("#")[0]))
        name = pairs.get("SwitchName") or pairs.get("BlockName")
        wrong = next(filter(None, (turned(text) for text in pairs.values())), "")
        if name and wrong:
            yield flaw(file.at(number), "range_of_hosts", wrong=wrong)
        if name:
            nodes, below = (expand(pairs.get(key, "")) for key in ("Nodes", "Switches"))
            yield TreeSwitch(at=file.at(number), name=name, nodes=nodes, switches=below)


slurm_topology = Reader(title="topology of Slurm", claims=_claims, read=_read)
