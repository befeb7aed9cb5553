"""The tree of switches is not a tree over all nodes.

What it checks: topology.conf: children that are there, nodes under one leaf only, one root, no
cycles, and nodes that slurm.conf does not know, or that no switch has.
Why it matters: slurmctld stops at a missing child; a node under two leaves, or under none, is
accepted in silence, and jobs are placed across the fabric.
What to do: every node under exactly one leaf; one switch above all.
References: topology.conf(5).
"""

from weft.lint.facts import Nodes, RailTable, Slots, TreeSwitch
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    rows = case.of(TreeSwitch)
    by_name: dict[str, TreeSwitch] = {}
    for one in rows:
        if by_name.setdefault(one.name, one) is not one:
            yield problem(
                [one, by_name[one.name]],
                f"switch {one.name} is defined twice",
                "define it once",
            )
    above: dict[str, TreeSwitch] = {}
    for one in rows:
        for child in one.switches:
            if child not in by_name:
                yield problem(
                    one, f"{one.name} has the child {child}, which is not there", "define it"
                )
            elif above.setdefault(child, one) is not one:
                yield problem(
                    [one, above[child]],
                    f"{child} hangs on {above[child].name} and on {one.name}",
                    "hang it on one",
                )
    roots = [one for one in by_name.values() if one.name not in above]
    if len(roots) > 1 and any(one.switches for one in rows):
        alone = [one for one in roots if not one.switches] or roots[1:]
        yield problem(
            [alone[0], *roots[:1]],
            f"{len(roots)} switches have nothing above them: jobs cannot span them",
            "join them by one switch",
        )
    elif rows and not roots:
        yield problem(rows, "the switches form a ring", "let one be the root")
    yield from _nodes(case, rows)


def _nodes(case: Case, rows: list[TreeSwitch]) -> Found:
    under: dict[str, TreeSwitch] = {}
    for one in rows:
        twice = [node for node in one.nodes if under.setdefault(node, one) is not one]
        if twice:
            yield problem(
                [one, under[twice[0]]],
                f"{twice[0]} is under {under[twice[0]].name} and under {one.name}",
                "put it under its own leaf",
            )
    yield from _unplaced(case, under)
    known = {name for one in case.of(Nodes) for name in one.names}
    if not known or not rows:
        return
    missing, alien = sorted(known - under.keys()), sorted(under.keys() - known)
    if missing:
        shown = next(one for one in case.of(Nodes) if missing[0] in one.names)
        yield problem(
            shown,
            f"{len(missing)} nodes are under no switch, {missing[0]} first",
            "put each under its leaf",
        )
    if alien:
        yield problem(
            under[alien[0]],
            f"slurm.conf does not know {len(alien)} nodes, {alien[0]} first",
            "correct the names",
        )


def _unplaced(case: Case, under: dict[str, TreeSwitch]) -> Found:
    """Yield hosts of other files that no switch has, where most of them are in the tree."""
    for kind in (Slots, RailTable):
        hosts = {one.device: one for one in case.of(kind)}
        missing = sorted(hosts.keys() - under.keys())
        if missing and len(missing) * 2 < len(hosts):
            yield problem(
                [hosts[missing[0]], *list(under.values())[:1]],
                f"{len(missing)} of {len(hosts)} hosts are under no switch of Slurm, "
                f"{missing[0]} first",
                "put each under its leaf",
                severity=Severity.WARNING,
            )
            return


slurm_tree = Rule(
    layer=Layer.SLURM,
    severity=Severity.ERROR,
    reference="https://slurm.schedmd.com/topology.conf.html",
    check=_check,
)
