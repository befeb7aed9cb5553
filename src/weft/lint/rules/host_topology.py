"""GPUs and NICs of a topology file are far apart, or unequal.

What it checks: the XML of NCCL_TOPO_FILE: GPUs without a NIC on their PCIe switch or socket,
sockets with very different numbers, links narrower than those of their like.
Why it matters: a GPU without a near NIC sends through another socket, and its rail is slow; all
others wait for it.
What to do: correct the file where the machine is symmetric; else pair GPUs and NICs by hand.
References: NCCL user guide, NCCL_TOPO_FILE; nvidia-smi topo -m.
"""

from collections import Counter

from weft.lint.facts import PciDevice
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    by_file: dict[str, list[PciDevice]] = {}
    for one in case.of(PciDevice):
        by_file.setdefault(one.at.text.name, []).append(one)
    for rows in by_file.values():
        gpus = [one for one in rows if one.kind == "gpu"]
        nets = [one for one in rows if one.kind == "net"]
        near = {one.switch for one in nets if one.switch}
        sockets = {one.numa for one in nets}
        apart = [g for g in gpus if nets and near and g.switch and g.switch not in near]
        with_near = [g for g in gpus if g.switch in near]
        for one in gpus:
            if nets and one.numa not in sockets:
                yield problem(
                    [one, nets[0]],
                    f"GPU {one.name} is on socket {one.numa}, which has no NIC",
                    "correct the file, or move a NIC",
                )
            elif one in apart and with_near:
                yield problem(
                    one,
                    f"GPU {one.name} shares its PCIe switch with no NIC, as others do",
                    "correct the file, or pair them by hand",
                )
        for kind in (gpus, nets):
            widths = Counter(one.width for one in kind if one.width)
            usual = widths.most_common(1)[0][0] if widths else None
            for one in kind:
                if one.width and usual and one.width < usual:
                    yield problem(
                        one,
                        f"{one.kind} {one.name} has {one.width} lanes, its like {usual}",
                        "find out why",
                    )


host_topology = Rule(
    layer=Layer.HOSTS,
    severity=Severity.WARNING,
    reference="https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    check=_check,
)
