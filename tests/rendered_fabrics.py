"""Fabrics that weft renders, every kind and target, and what the linter finds in them."""

from functools import cache

from weft.generate.plan import plan
from weft.generate.target import render
from weft.lint.lint import all_rules, facts_of, find
from weft.lint.rule import Case, Severity
from weft.lint.text import Text
from weft.spec.kubernetes import Kubernetes
from weft.spec.load import preset

PCI = tuple(f"0000:{number:02x}:00.0" for number in range(0x1A, 0x1A + 8))


def _in_mode(mode):
    return preset("hgx_h100_roce", hosts=8).with_(
        kubernetes=Kubernetes(mode=mode, pci_addresses=PCI)
    )


FABRICS = {
    "roce": lambda: preset("hgx_h100_roce", hosts=32),
    "infiniband": lambda: preset("dgx_a100", hosts=32),
    "tcp": lambda: preset("a100_tcp_100g", hosts=64),
    "ultra_ethernet": lambda: preset("hgx_h100_roce", hosts=32).with_(
        fabric=preset("hgx_h100_roce").fabric.with_(kind="ultra_ethernet"),
        host=preset("hgx_h100_roce").host.with_(nic="pollara"),
    ),
    "roce_broadcom_nics": lambda: preset("mi300x_roce", hosts=32),
    "roce_arista": lambda: preset("hgx_h100_roce", hosts=32).with_(
        topology=preset("hgx_h100_roce").topology.with_(switch="arista_7060x6_64pe")
    ),
    "roce_cisco": lambda: preset("hgx_h100_roce", hosts=32).with_(
        topology=preset("hgx_h100_roce").topology.with_(switch="cisco_n9364e_sg2")
    ),
    "roce_juniper": lambda: preset("hgx_h100_roce", hosts=32).with_(
        topology=preset("hgx_h100_roce").topology.with_(switch="juniper_qfx5240_64od")
    ),
    "efa": lambda: preset("aws_p5", hosts=32),
    "frr": lambda: preset("a100_tcp_100g", hosts=160),
    "roce_functions": lambda: _in_mode("sriov_ethernet"),
    "roce_macvlan": lambda: _in_mode("macvlan_shared"),
    "infiniband_large": lambda: preset("dgx_h100", hosts=512),
    "roce_adaptive": lambda: preset("hgx_h100_roce", hosts=256).with_(
        fabric=preset("hgx_h100_roce").fabric.with_(load_balancing="adaptive")
    ),
}
"""By name; a target joins by itself once it can write one of them."""


@cache
def texts(fabric):
    """Return every file of every target that can write a fabric."""
    planned = plan(FABRICS[fabric]())
    return {file.path: file.text for file in render(planned, ["all"]).files}


@cache
def facts(name, content):
    """Read a file once: a fault changes one of very many."""
    return tuple(facts_of(Text(name=name, content=content))[1])


def findings(files, rules=()):
    """Return what is worse than a remark; of some rules alone, where they are named."""
    found = [fact for name, text in files.items() for fact in facts(name, text)]
    others = frozenset(name for name, _ in all_rules() if rules and name not in rules)
    return [one for one in find(Case(found), others)[0] if one.severity is not Severity.INFO]
