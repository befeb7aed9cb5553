"""Bytes that the busiest rank of an algorithm sends over the size, in closed form."""

from weft.traffic.collective import Operation, domains
from weft.traffic.collectives.double_binary_tree import first_parent, trees
from weft.traffic.collectives.tree import heap_parent, parents_by_rank

ONCE = frozenset({Operation.BROADCAST, Operation.REDUCE})


def sent_ratio(title, operation, ranks, per_domain):
    """Return the ratio of an algorithm by its title; the bus factor where it has no other."""
    own = RATIOS.get(title)
    return operation.bus_factor(ranks) if own is None else own(operation, ranks, per_domain)


def most_edges(*trees_of_parents):
    """Count the edges of every rank, to parents and to children; return the most."""
    ends = [rank for parents in trees_of_parents for edge in parents.items() for rank in edge]
    return max(map(ends.count, set(ends)), default=0)


def ring(operation, ranks, _):
    return float(ranks > 1) if operation in ONCE else operation.bus_factor(ranks)


def tree(operation, ranks, per_domain):
    """A rank sends the whole buffer to its parent when reducing, to its children otherwise."""
    parents = parents_by_rank([list(one) for one in domains(ranks, per_domain)], heap_parent)
    if operation is Operation.ALL_REDUCE:
        return most_edges(parents)
    if operation is Operation.REDUCE:
        return float(ranks > 1)
    above = list(parents.values())
    return max(map(above.count, set(above)), default=0)


def halving_doubling(operation, ranks, _):
    core = 1 << ranks.bit_length() - 1
    return operation.bus_factor(core) + float(core != ranks)


def hierarchical(operation, ranks, per_domain):
    """(m-1)/m inside domains of m ranks, and what a rail carries between the d domains."""
    count = ranks // per_domain
    inside, between = (per_domain - 1) / per_domain, (count - 1) / count
    if operation is Operation.ALL_TO_ALL:
        return inside + between
    once = inside + between / per_domain
    return 2 * once if operation is Operation.ALL_REDUCE else once


def nvls(operation, ranks, _):
    loaded = 0.0 if operation is Operation.ALL_GATHER else 1.0
    return loaded + (0.0 if operation is Operation.REDUCE_SCATTER else 1 / ranks)


def nvls_tree(_, ranks, per_domain):
    """Loads, the share stored, and one rail's share over the busiest rank's edges."""
    rail = parents_by_rank([[rank] for rank in range(0, ranks, per_domain)], first_parent)
    return 1 + (1 + most_edges(rail)) / per_domain


def collnet(_, __, per_domain):
    return 2 * (per_domain - 1) / per_domain + 1 / per_domain


RATIOS = {
    "Ring": ring, "Binary tree": tree, "Recursive halving and doubling": halving_doubling,
    "Hierarchical": hierarchical, "NVLS": nvls, "NVLS tree": nvls_tree,
    "CollNet (SHARP)": collnet,
    "Double binary tree": lambda _, *group: most_edges(*trees(*group)) / 2,
    "Send and receive": lambda _, ranks, __: float(ranks > 1),
}  # fmt: skip
