"""``cluster-config.yaml`` of NVIDIA's Kubernetes launch kit (l8k): subnets and rails."""

from collections.abc import Iterator

from weft.lint.document import Tree
from weft.lint.facts import AddressPool, Fact, Flaw
from weft.lint.flaws import flaw
from weft.lint.part import fact
from weft.lint.reader import File, Reader

_ONCE = ("rdmaDevice", "networkInterface", "pciAddress", "rail")


def _claims(file: File) -> bool:
    return any(tree["nvIpam"] and tree["networkOperator"] for tree in file.documents)


def _read(file: File) -> Iterator[Fact]:
    for tree in file.documents:
        for item in tree.under("nvIpam", "subnets").each():
            given = {"subnet": item["subnet"], "gateway": item["gateway"], "kind": "l8k"}
            yield fact(AddressPool, item, name=item["subnet"].string(), **given)
        for group in tree["clusterConfig"].each():
            yield from _rails(group)


def _rails(group: Tree) -> Iterator[Flaw]:
    """Yield what two network interfaces of one group of hosts share and may not."""
    seen: dict[tuple[str, str], Tree] = {}
    for tree in group["pfs"].each():
        if tree["traffic"].string() not in {"", "east-west"}:
            continue
        for name in _ONCE:
            key = name, tree[name].string()
            if key[1] and key in seen:
                yield flaw(tree[name].at, "shared_interface", name=name, value=key[1])
            seen.setdefault(key, tree)


l8k = Reader(title="cluster file of l8k", claims=_claims, read=_read)
