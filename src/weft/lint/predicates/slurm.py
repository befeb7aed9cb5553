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
    names = {row.name: row for row in rows}
    if not names.keys() & _MAIN:
        return  # gres.conf, or a file that slurm.conf includes, names no plug-in
    plugin = names.get("TopologyPlugin")
    if case.of(TreeSwitch) and (
        plugin is None or "default" in plugin.value or "flat" in plugin.value
    ):
        yield problem("topology", plugin or rows[0])
    gres = [row for row in rows if row.name == "Gres" and "gpu" in row.value]
    if gres and "gpu" not in names.get("GresTypes", gres[0]).value.split(","):
        yield problem("gres", *gres)
    limits = names.get("PropagateResourceLimitsExcept"), names.get("PropagateResourceLimits")
    if gres and not any(limit and _passes(limit) for limit in limits):
        yield problem("limits", limits[1] or limits[0] or gres[0])


def _passes(one: Option) -> bool:
    if one.name.endswith("Except"):
        return any(word in one.value.upper() for word in ("MEMLOCK", "ALL"))
    return one.value.upper() == "NONE" or (
        "MEMLOCK" not in one.value.upper() and (one.value.upper() != "ALL")
    )


def slurm_tree(case: Case) -> Found:
    rows = case.of(TreeSwitch)
    for switch, first in repeated(rows, lambda row: row.name):
        yield problem("twice", switch, first)
    by_name = {row.name: row for row in reversed(rows)}
    above: dict[str, TreeSwitch] = {}
    for row in rows:
        for child in row.switches:
            if child not in by_name:
                yield problem("child", row, child=child)
            elif above.setdefault(child, row) is not row:
                yield problem("parents", row, above[child], child=child)
    roots = [row for row in rows if by_name[row.name] is row and row.name not in above]
    if len(roots) > 1 and any(row.switches for row in rows):
        alone = [root for root in roots if not root.switches] or roots[1:]
        yield problem("roots", alone[0], *roots[:1], roots=roots)
    elif rows and not roots:
        yield problem("ring", *rows)
    yield from _nodes(case, rows)


def _nodes(case: Case, rows: list[TreeSwitch]) -> Found:
    under: dict[str, TreeSwitch] = {}
    for row in rows:
        twice = [node for node in row.nodes if under.setdefault(node, row) is not row]
        if twice:
            yield problem("leaves", row, under[twice[0]], twice=twice)
    yield from _unplaced(case, under)
    known = {name for nodes in case.of(Nodes) for name in nodes.names}
    if not known or not rows:
        return
    missing, alien = sorted(known - under.keys()), sorted(under.keys() - known)
    if missing:
        shown = next(nodes for nodes in case.of(Nodes) if missing[0] in nodes.names)
        yield problem("unplaced", shown, missing=missing)
    if alien:
        yield problem("alien", under[alien[0]], alien=alien)


def _unplaced(case: Case, under: dict[str, TreeSwitch]) -> Found:
    """Yield hosts of other files that no switch has, where most of them are in the tree."""
    for kind in (Slots, RailTable):
        hosts = {fact.device: fact for fact in case.of(kind)}
        missing = sorted(hosts.keys() - under.keys())
        if missing and len(missing) * 2 < len(hosts):
            seen = [hosts[missing[0]], *list(under.values())[:1]]
            yield problem("hosts", *seen, hosts=hosts, missing=missing)
            return
