"""Predicates on Slurm."""

from typing import Final

from weft.lint.facts import Launch, Nodes, Option, RailTable, Slots, TreeSwitch
from weft.lint.rule import Case, Found, problem, repeated


def slurm_binding(launch: Launch) -> Found:
    if launch.tool != "srun":
        return
    for word in launch.words:
        name, _, value = word.partition("=")
        if name == "--gpus-per-task" or (name == "--gpu-bind" and value != "none"):
            yield problem("word", launch, word=word)


_MAIN: Final = frozenset({"ClusterName", "SlurmctldHost"})
"""What every slurm.conf has."""


def slurm_plugins(case: Case) -> Found:
    rows = case.options("slurm")
    names = {one.name: one for one in rows}
    if not names.keys() & _MAIN:
        return  # gres.conf, or a file that slurm.conf includes, names no plug-in
    plugin = names.get("TopologyPlugin")
    if case.of(TreeSwitch) and (
        plugin is None or "default" in plugin.value or "flat" in plugin.value
    ):
        yield problem("topology", plugin or rows[0])
    gres = [one for one in rows if one.name == "Gres" and "gpu" in one.value]
    if gres and "gpu" not in names.get("GresTypes", gres[0]).value.split(","):
        yield problem("gres", *gres)
    limits = names.get("PropagateResourceLimitsExcept"), names.get("PropagateResourceLimits")
    if gres and not any(one and _passes(one) for one in limits):
        yield problem("limits", limits[1] or limits[0] or gres[0])


def _passes(one: Option) -> bool:
    if one.name.endswith("Except"):
        return any(word in one.value.upper() for word in ("MEMLOCK", "ALL"))
    return one.value.upper() == "NONE" or (
        "MEMLOCK" not in one.value.upper() and (one.value.upper() != "ALL")
    )


def slurm_tree(case: Case) -> Found:
    rows = case.of(TreeSwitch)
    for one, first in repeated(rows, lambda one: one.name):
        yield problem("twice", one, first)
    by_name = {one.name: one for one in reversed(rows)}
    above: dict[str, TreeSwitch] = {}
    for one in rows:
        for child in one.switches:
            if child not in by_name:
                yield problem("child", one, child=child)
            elif above.setdefault(child, one) is not one:
                yield problem("parents", one, above[child], child=child)
    roots = [one for one in rows if by_name[one.name] is one and one.name not in above]
    if len(roots) > 1 and any(one.switches for one in rows):
        alone = [one for one in roots if not one.switches] or roots[1:]
        yield problem("roots", alone[0], *roots[:1], roots=roots)
    elif rows and not roots:
        yield problem("ring", *rows)
    yield from _nodes(case, rows)


def _nodes(case: Case, rows: list[TreeSwitch]) -> Found:
    under: dict[str, TreeSwitch] = {}
    for one in rows:
        twice = [node for node in one.nodes if under.setdefault(node, one) is not one]
        if twice:
            yield problem("leaves", one, under[twice[0]], twice=twice)
    yield from _unplaced(case, under)
    known = {name for one in case.of(Nodes) for name in one.names}
    if not known or not rows:
        return
    missing, alien = sorted(known - under.keys()), sorted(under.keys() - known)
    if missing:
        shown = next(one for one in case.of(Nodes) if missing[0] in one.names)
        yield problem("unplaced", shown, missing=missing)
    if alien:
        yield problem("alien", under[alien[0]], alien=alien)


def _unplaced(case: Case, under: dict[str, TreeSwitch]) -> Found:
    """Yield hosts of other files that no switch has, where most of them are in the tree."""
    for kind in (Slots, RailTable):
        hosts = {one.device: one for one in case.of(kind)}
        missing = sorted(hosts.keys() - under.keys())
        if missing and len(missing) * 2 < len(hosts):
            seen = [hosts[missing[0]], *list(under.values())[:1]]
            yield problem("hosts", *seen, hosts=hosts, missing=missing)
            return
