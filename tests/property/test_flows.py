"""Changes of a network whose effect on flows is known without solving for it."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.engines.flow.routes import PATHS, SPREAD, routed
from weft.engines.flow.solver import Flows, Uses, complete, max_min_rates
from weft.network.network import graph
from weft.network.routing import Demands
from weft.spec.load import load_cluster

HOSTS = 32
KINDS = {
    "leaf_spine": {"switch_ports": 16},
    "oversubscribed": {"kind": "leaf_spine", "switch_ports": 16, "oversubscription": 3},
    "fat_tree": {"switch_ports": 8},
    "multi_plane": {"switch_ports": 16, "planes": 2},
    "dragonfly_plus": {"switch_ports": 8},
    "many_groups": {"kind": "dragonfly_plus", "switch_ports": 6},
}
HOST = {"gpus": 1, "nics": 1, "server": "", "scale_up": {"gpus": 1}}
BALANCINGS = sorted({*PATHS, *SPREAD})
SAME = 1e-9


@cache
def network(kind):
    return graph(
        load_cluster(
            {
                "preset": "hgx_h100_roce", "hosts": HOSTS, "host": HOST,
                "topology": {"kind": kind, **KINDS[kind]},
            }
        )
    )  # fmt: skip


kinds = st.sampled_from(sorted(KINDS))
balancings = st.sampled_from(BALANCINGS)
ends = st.lists(
    st.tuples(st.integers(0, HOSTS - 1), st.integers(1, HOSTS - 1), st.floats(1, 8)),
    min_size=1, max_size=24,
)  # fmt: skip


def demands(found):
    source, far, size = (np.array(one) for one in zip(*found, strict=True))
    return Demands(source=source, target=(source + far) % HOSTS, size_bytes=size)


def sorted_rates(found):
    return np.sort(max_min_rates(found.bytes_per_s, found.uses))


def is_no_better(worse, better):
    """Compare from the slowest flow on: max-min fairness makes it as fast as can be."""
    apart = np.flatnonzero(np.abs(worse - better) > SAME * better)
    return not len(apart) or worse[apart[0]] < better[apart[0]]


@given(kinds, balancings, ends, st.integers(0), st.floats(0.1, 1.0))
def test_a_slower_link_never_helps_the_slowest_flows(kind, balancing, found, link, left):
    """Read the other way round: a faster link never hurts them. Paths stay as they were."""
    wires, asked = network(kind), demands(found)
    ratio = np.ones(wires.links)
    ratio[link % wires.links] = left
    slow = routed(wires, asked, balancing, ratio=ratio)
    assert is_no_better(sorted_rates(slow), sorted_rates(routed(wires, asked, balancing)))


@given(kinds, st.sampled_from(sorted(SPREAD)), ends, st.integers(0))
def test_a_removed_link_never_helps_where_packets_spread(kind, balancing, found, link):
    """With one path a flow another hash may collide less, so there it can."""
    wires, asked = network(kind), demands(found)
    inner = np.flatnonzero(np.minimum(wires.source, wires.target) >= wires.endpoints)
    gone = inner[link % len(inner)]
    ratio = np.ones(wires.links)
    ratio[[gone, wires.reverse[gone]]] = 0.0
    cut = routed(wires, asked, balancing, ratio=ratio)
    assert is_no_better(sorted_rates(cut), sorted_rates(routed(wires, asked, balancing)))


@given(kinds, balancings, ends, st.randoms())
def test_flows_in_another_order_get_the_same(kind, balancing, found, random):
    wires = network(kind)
    order = list(range(len(found)))
    random.shuffle(order)
    rates, others = (
        max_min_rates(one.bytes_per_s, one.uses)
        for one in (
            routed(wires, demands(found), balancing),
            routed(wires, demands([found[at] for at in order]), balancing),
        )
    )
    assert others == pytest.approx(rates[order], rel=SAME)


@given(kinds, st.sampled_from(sorted(SPREAD)), ends, st.integers(1, HOSTS))
def test_relabelled_hosts_change_nothing(kind, balancing, found, leaves):
    """Hosts take the numbers of those some leaves further on, in a network of equal leaves."""
    wires = network(kind)
    leaf = wires.leaf_of[:, 0]
    sizes = np.unique(leaf, return_counts=True)[1]
    groups = np.unique(wires.group[leaf], return_counts=True)[1]
    if len(set(sizes.tolist())) > 1 or len(set(groups.tolist())) > 1:
        return
    step = leaves * int(groups[0])
    asked = demands(found)
    moved = Demands(
        source=(asked.source + step) % HOSTS, target=(asked.target + step) % HOSTS,
        size_bytes=asked.size_bytes,
    )  # fmt: skip
    rates, others = (
        max_min_rates(one.bytes_per_s, one.uses)
        for one in (routed(wires, asked, balancing), routed(wires, moved, balancing))
    )
    assert others == pytest.approx(rates, rel=SAME)


@given(kinds, balancings, ends, ends)
def test_two_problems_side_by_side_take_what_each_takes_alone(kind, balancing, left, right):
    wires = network(kind)
    halves = [routed(wires, demands(found), balancing) for found in (left, right)]
    sizes = [demands(found).size_bytes for found in (left, right)]
    alone = [
        complete(one.bytes_per_s, Flows(uses=one.uses, size_bytes=size)).end_s
        for one, size in zip(halves, sizes, strict=True)
    ]
    first, second = (one.uses for one in halves)
    weights = [
        np.ones(len(uses.links)) if uses.weight is None else uses.weight
        for uses in (first, second)
    ]
    both = Uses(
        weight=np.concatenate(weights),
        start=np.concatenate([first.start, first.start[-1] + second.start[1:]]),
        links=np.concatenate([first.links, second.links + len(halves[0].bytes_per_s)]),
    )
    rates = np.concatenate([one.bytes_per_s for one in halves])
    found = complete(rates, Flows(uses=both, size_bytes=np.concatenate(sizes))).end_s
    assert found == pytest.approx(np.concatenate(alone), rel=SAME)
