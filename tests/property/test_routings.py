"""Every routing, on every topology: real paths, no loops, up then down, shares of one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from link_loads import link_loads
from weft import plugins
from weft.catalogue.devices import Switch
from weft.errors import Infeasible
from weft.network import routings, topologies
from weft.network.graph import HOST_LEAF, LEAF_SPINE, build
from weft.network.routing import Demands, Routing
from weft.network.topology import Place, Topology, site_of
from weft.spec.cluster import TopologyChoice

RATE = 50e9
ROUTINGS = plugins.names(routings)
CASES = [
    ("leaf_spine", 12, 16, 1),
    ("fat_tree", 40, 16, 1),
    ("rail_optimized", 20, 16, 1),
    ("rail_optimized", 70, 16, 1),
    ("rail_optimized", 30, 16, 2),
    ("rail_only", 40, 8, 1),
    ("multi_plane", 30, 8, 4),
    ("dragonfly_plus", 50, 16, 1),
    ("dragonfly_plus", 24, 8, 1),
    ("rail_optimized", 2, 64, 1),
]


def make(kind, hosts, radix, planes, nics=4):
    ports = {RATE / n: radix * n for n in (1, 2, 4, 8)}
    switch = Switch(name="test", title="", fabrics=(), radix=ports)
    place = Place(switch=switch, choice=TopologyChoice(kind=kind, planes=planes))
    site = site_of(hosts, nics, nics, RATE, place)
    return build(plugins.load(topologies, kind, Topology).layout(site))


def demands(pairs):
    source, target = np.array(pairs).T
    return Demands(source=source, target=target, size_bytes=np.ones(len(pairs)))


@pytest.fixture(scope="module", params=CASES, ids=lambda c: "-".join(map(str, c)))
def graph(request):
    return make(*request.param)


@pytest.mark.parametrize("name", ROUTINGS)
@settings(max_examples=20, deadline=None)
@given(data=st.data(), seed=st.integers(0, 9))
def test_paths_lead_from_source_to_target_without_loops(graph, name, data, seed):
    host = st.integers(0, graph.layout.site.hosts - 1)
    nic = st.integers(0, 3)
    pairs = data.draw(st.lists(st.tuples(host, host, nic, nic), min_size=1, max_size=8))
    joined = graph.layout.joins_rails
    ends = [(4 * a + m, 4 * b + (n if joined else m)) for a, b, m, n in pairs]
    flows = demands([(a, b) for a, b in ends if a != b] or [(0, 4)])
    paths = plugins.load(routings, name, Routing).route(graph, flows, seed)
    shares = np.bincount(paths.flow, weights=paths.share)
    assert shares == pytest.approx(np.ones(len(flows.source)))
    has_detours = plugins.load(routings, name, Routing).has_detours
    for path in range(len(paths.flow)):
        check_path(graph, flows, paths, path, has_detours=has_detours)


def check_path(graph, flows, paths, path, *, has_detours):
    links = paths.links[paths.start[path] : paths.start[path + 1]]
    flow = paths.flow[path]
    assert graph.source[links[0]] == flows.source[flow]
    assert graph.target[links[-1]] == flows.target[flow]
    assert (graph.source[links[1:]] == graph.target[links[:-1]]).all()
    vertices = np.append(graph.source[links], graph.target[links[-1]])
    assert len(set(vertices.tolist())) == len(vertices), "no vertex twice"
    assert len(set(graph.plane[links].tolist())) == 1, "a packet stays in its plane"
    climbs = np.sign(np.diff(graph.tier(vertices)))
    assert has_detours or (np.diff(climbs) <= 0).all(), "once a path turns down it stays down"


@pytest.mark.parametrize("name", ROUTINGS)
def test_loads_add_up_to_what_the_hosts_send(graph, name):
    ports = np.arange(graph.endpoints)
    flows = Demands(
        source=ports, target=np.roll(ports, -4), size_bytes=np.full(len(ports), 3.0)
    )
    loads = link_loads(graph, plugins.load(routings, name, Routing), flows)
    for into in (True, False):
        ends = graph.target if into else graph.source
        at_hosts = np.bincount(ends, weights=loads)[: graph.endpoints]
        assert at_hosts == pytest.approx(flows.size_bytes)


def shift(graph, hosts):
    ports = np.arange(graph.endpoints)
    nics = graph.layout.site.nics_per_host
    return Demands(
        source=ports, target=np.roll(ports, -hosts * nics), size_bytes=np.ones(len(ports))
    )


def most_on_uplinks(graph, name, flows):
    loads = link_loads(graph, plugins.load(routings, name, Routing), flows)
    return loads[graph.layer >= LEAF_SPINE].max()


@pytest.mark.parametrize("name", ["static_dmodk", "spray"])
@pytest.mark.parametrize("hosts", [8, 16, 24])
def test_a_shift_on_a_full_two_tier_network_has_no_conflict(name, hosts):
    """As many uplinks as ports: a permutation of ports needs each uplink once."""
    graph = make("rail_optimized", 32, 16, 1)
    assert most_on_uplinks(graph, name, shift(graph, hosts)) == pytest.approx(1)


def test_spraying_over_three_tiers_is_even_up_and_nearly_even_down():
    graph = make("rail_optimized", 128, 16, 1)
    flows = shift(graph, 64)
    loads = link_loads(graph, plugins.load(routings, "spray", Routing), flows)
    up = (graph.target > graph.source) & (graph.layer >= LEAF_SPINE)
    assert loads[up].max() == pytest.approx(1)
    assert most_on_uplinks(graph, "spray", flows) < most_on_uplinks(graph, "ecmp", flows) / 2


@pytest.mark.parametrize("name", ["static_dmodk", "adaptive"])
def test_a_shift_on_a_full_three_tier_network_has_no_conflict(name):
    graph = make("rail_optimized", 128, 16, 1)
    assert graph.layout.tiers == 3
    assert most_on_uplinks(graph, name, shift(graph, 64)) == pytest.approx(1)


def test_hashing_collides_where_static_routing_does_not():
    graph = make("rail_optimized", 32, 16, 1)
    assert most_on_uplinks(graph, "ecmp", shift(graph, 8)) >= 2


def test_adaptive_routing_is_never_worse_than_hashing_on_a_shift():
    graph = make("leaf_spine", 30, 16, 1)
    flows = shift(graph, 7)
    adaptive, hashed = (most_on_uplinks(graph, n, flows) for n in ("adaptive", "ecmp"))
    assert adaptive < hashed


def test_spraying_uses_all_planes_evenly():
    graph = make("multi_plane", 30, 8, 4)
    loads = link_loads(graph, plugins.load(routings, "spray", Routing), shift(graph, 9))
    planes = np.bincount(graph.plane, weights=loads * (graph.layer == HOST_LEAF))
    assert planes == pytest.approx(np.full(4, planes[0]))


def test_spraying_spreads_one_flow_over_every_uplink_of_its_leaf():
    graph = make("rail_optimized", 32, 16, 1)
    loads = link_loads(graph, plugins.load(routings, "spray", Routing), demands([(0, 64)]))
    uplinks = loads[(graph.layer == LEAF_SPINE) & (graph.source == graph.leaf_of[0, 0])]
    assert uplinks == pytest.approx(np.full(8, 1 / 8))


def test_the_hash_depends_on_the_seed():
    graph = make("rail_optimized", 32, 16, 1)
    flows = shift(graph, 8)
    ecmp = plugins.load(routings, "ecmp", Routing)
    one, same, other = (ecmp.route(graph, flows, seed).links for seed in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).any()


def test_rails_that_are_not_joined_are_refused_with_what_to_do():
    graph = make("rail_only", 40, 8, 1)
    with pytest.raises(Infeasible, match="scale-up network"):
        plugins.load(routings, "ecmp", Routing).route(graph, demands([(0, 5)]), 0)
