"""Flows on real networks: what hashing, spreading, oversubscription and dead links leave."""

import numpy as np
import pytest

from weft import plugins
from weft.catalogue.devices import Switch
from weft.engines.flow.routes import coupled, routed
from weft.engines.flow.solver import Uses, max_min_rates
from weft.errors import Infeasible, SpecError
from weft.network import topologies
from weft.network.graph import HOST_LEAF, LEAF_SPINE, build
from weft.network.routing import Demands, pools
from weft.network.topology import Place, Topology, site_of
from weft.spec.cluster import TopologyChoice

RATE = 50e9
KINDS = [
    ("leaf_spine", 32, 16, 1), ("fat_tree", 60, 16, 1), ("rail_optimized", 40, 16, 1),
    ("rail_only", 40, 8, 1), ("multi_plane", 30, 8, 4), ("dragonfly_plus", 50, 16, 1),
]  # fmt: skip


def network(kind, hosts, radix, planes=1, *, nics=1, oversubscription=1.0):
    ports = {RATE / n: radix * n for n in (1, 2, 4, 8)}
    switch = Switch(name="test", title="", fabrics=(), radix=ports)
    choice = TopologyChoice(kind=kind, planes=planes, oversubscription=oversubscription)
    site = site_of(hosts, nics, nics, RATE, Place(switch=switch, choice=choice))
    return build(plugins.load(topologies, kind, Topology).layout(site))


def shift(graph, by, nics=1):
    """Every port sends to the same port of the host ``by`` further."""
    port = np.arange(graph.endpoints)
    target = (port + by * nics) % graph.endpoints
    zero = np.zeros_like(port)
    return Demands(source=port, target=target, size_bytes=np.ones(len(port)), plane=zero)


def rates_of(graph, demands, balancing, **more):
    found = routed(graph, demands, balancing, **more)
    return max_min_rates(found.bytes_per_s, found.uses) / graph.rate_bytes_per_s[0]


@pytest.mark.parametrize("case", KINDS, ids=lambda case: case[0])
def test_every_set_of_links_holds_links_of_one_layer_plane_and_direction(case):
    graph = network(*case, nics=4)
    pool = pools(graph)
    for kind in (graph.layer, graph.plane, graph.target > graph.source):
        assert len(np.unique(pool * 7 + kind)) == len(np.unique(pool))
    assert (np.bincount(pool[graph.layer == HOST_LEAF], minlength=1) <= 1).all()


def test_spreading_over_a_full_tree_leaves_every_port_its_rate():
    """Nothing is oversubscribed, so a permutation runs at line rate."""
    graph = network("fat_tree", 60, 16)
    for balancing in ("spray", "adaptive"):
        assert rates_of(graph, shift(graph, 17), balancing) == pytest.approx(np.ones(60))


def test_leaves_that_are_oversubscribed_leave_one_part_in_as_many():
    """Each of n ports of a leaf sends elsewhere over u uplinks: u / n of the rate."""
    graph = network("leaf_spine", 36, 16, oversubscription=3.0)
    per_leaf = graph.layout.hosts_per_unit
    uplinks = int(((graph.source == graph.first[0]) & (graph.layer == LEAF_SPINE)).sum())
    rates = rates_of(graph, shift(graph, per_leaf), "spray")
    assert rates == pytest.approx(np.full(36, uplinks / per_leaf))
    assert uplinks < per_leaf


def test_hashing_leaves_what_the_fullest_uplink_does():
    """On a full tree the slowest flow has one part in as many as share its fullest link."""
    graph = network("leaf_spine", 32, 16)
    demands = shift(graph, 8)
    found = routed(graph, demands, "ecmp", seed=1)
    fullest = np.bincount(found.uses.links).max()
    assert fullest > 1
    assert rates_of(graph, demands, "ecmp", seed=1).min() == pytest.approx(1 / fullest)


def test_more_queue_pairs_a_connection_take_other_paths():
    graph = network("leaf_spine", 32, 16)
    port = np.zeros(64, np.int64)
    demands = Demands(
        source=port, target=port + 20, size_bytes=np.ones(64), entropy=np.arange(64)
    )
    links = routed(graph, demands, "ecmp").uses.links
    used = np.unique(links[graph.source[links] == graph.first[0]])
    uplinks = (graph.source == graph.first[0]) & (graph.layer == LEAF_SPINE)
    assert len(used) == uplinks.sum()


@pytest.mark.parametrize("case", KINDS, ids=lambda case: case[0])
@pytest.mark.parametrize("balancing", ["ecmp", "static", "spray"])
def test_no_path_crosses_a_link_that_is_down(case, balancing):
    graph = network(*case, nics=4)
    dead = int(np.flatnonzero(graph.layer == LEAF_SPINE)[0])
    ratio = np.ones(graph.links)
    ratio[[dead, graph.reverse[dead]]] = 0.0
    demands = shift(graph, 11, nics=4)
    if balancing == "spray":
        pool = pools(graph)
        before, after = (
            routed(graph, demands, balancing, ratio=one).bytes_per_s for one in (None, ratio)
        )
        assert after[pool[dead]] == before[pool[dead]] - graph.rate_bytes_per_s[dead]
        return
    found = routed(graph, demands, balancing, ratio=ratio)
    assert not np.isin(found.uses.links, [dead, graph.reverse[dead]]).any()
    assert len(found.uses.start) == graph.endpoints + 1
    for flow in (0, graph.endpoints - 1):
        links = found.uses.links[found.uses.start[flow] : found.uses.start[flow + 1]]
        assert graph.source[links[0]] == flow
        assert graph.target[links[-1]] == demands.target[flow]
        assert (graph.source[links[1:]] == graph.target[links[:-1]]).all()


@pytest.mark.parametrize("balancing", ["ecmp", "spray"])
def test_a_slower_link_never_helps_the_slowest(balancing):
    """Paths stay, capacity shrinks: max-min cannot lift the smallest rate."""
    graph = network("fat_tree", 60, 16)
    demands = shift(graph, 17)
    before = rates_of(graph, demands, balancing, seed=2).min()
    for link in range(0, graph.links, 7):
        ratio = np.ones(graph.links)
        ratio[link] = 0.5
        assert rates_of(graph, demands, balancing, seed=2, ratio=ratio).min() <= before


def test_a_port_without_a_link_cannot_be_routed_around():
    graph = network("leaf_spine", 32, 16)
    ratio = np.ones(graph.links)
    ratio[graph.start[3]] = 0.0
    with pytest.raises(Infeasible, match="flow 3"):
        routed(graph, shift(graph, 8), "ecmp", ratio=ratio)


def test_a_ring_runs_as_fast_as_its_slowest_send():
    """Ten sends on links of their own, one of which has half the rate."""
    uses = Uses(start=np.arange(11), links=np.arange(10))
    ring = coupled(uses, np.zeros(10, np.int64), np.ones(10))
    capacity = np.full(10, RATE)
    capacity[7] = RATE / 2
    assert max_min_rates(capacity, ring) == pytest.approx([RATE / 2])


def test_parts_of_a_send_on_the_same_link_share_it():
    """Three of four equal parts on one link: 3/4 r = C, so r = 4 C / 3 while the other fits."""
    uses = Uses(start=np.arange(5), links=np.array([0, 0, 0, 1]))
    send = coupled(uses, np.zeros(4, np.int64), np.full(4, 0.25))
    assert max_min_rates(np.array([RATE, RATE]), send) == pytest.approx([RATE * 4 / 3])


def test_an_unknown_load_balancing_names_those_that_there_are():
    graph = network("leaf_spine", 32, 16)
    with pytest.raises(SpecError, match="adaptive, ecmp"):
        routed(graph, shift(graph, 8), "round_robin")
