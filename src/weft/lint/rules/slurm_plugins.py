"""Slurm is not told to use the topology, the GPUs or unlimited pinned memory.

What it checks: slurm.conf beside topology.conf: TopologyPlugin; GresTypes where nodes have
GPUs; limits that are passed on from the login node.
Why it matters: without the plug-in the file is not read, and jobs are scattered; the limit of
pinned memory of a login shell reaches every job and breaks RDMA.
What to do: TopologyPlugin=topology/tree; PropagateResourceLimitsExcept=MEMLOCK.
References: slurm.conf(5).
"""

from typing import Final

from weft.lint.facts import Option, TreeSwitch
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem

_MAIN: Final = frozenset({"ClusterName", "SlurmctldHost"})
"""What every slurm.conf has."""


def _check(case: Case) -> Found:
    rows = case.options("slurm")
    names = {one.name: one for one in rows}
    if not names.keys() & _MAIN:
        return  # gres.conf, or a file that slurm.conf includes, names no plug-in
    plugin = names.get("TopologyPlugin")
    if case.of(TreeSwitch) and (
        plugin is None or "default" in plugin.value or "flat" in plugin.value
    ):
        yield problem(
            plugin or rows[0],
            "there is a topology.conf, and slurm.conf does not use it",
            "set TopologyPlugin=topology/tree",
        )
    gres = [one for one in rows if one.name == "Gres" and "gpu" in one.value]
    if gres and "gpu" not in names.get("GresTypes", gres[0]).value.split(","):
        yield problem(
            gres, "nodes have GPUs, and GresTypes does not name them", "set GresTypes=gpu"
        )
    limits = names.get("PropagateResourceLimitsExcept"), names.get("PropagateResourceLimits")
    if gres and not any(one and _passes(one) for one in limits):
        yield problem(
            limits[1] or limits[0] or gres[0],
            "the login node's limit of pinned memory is passed on to jobs",
            "set PropagateResourceLimitsExcept=MEMLOCK",
        )


def _passes(one: Option) -> bool:
    if one.name.endswith("Except"):
        return any(word in one.value.upper() for word in ("MEMLOCK", "ALL"))
    return one.value.upper() == "NONE" or (
        "MEMLOCK" not in one.value.upper() and (one.value.upper() != "ALL")
    )


slurm_plugins = Rule(
    layer=Layer.SLURM,
    severity=Severity.WARNING,
    reference="https://slurm.schedmd.com/slurm.conf.html",
    check=_check,
)
