"""Valiant and UGAL on dragonfly+: closed forms, a naive twin, links that are down, packets.

g groups of H hosts with one NIC each, at line rate 1, have L links between every two groups.
"""

from dataclasses import replace

import numpy as np
import pytest

from link_loads import link_loads
from weft import plugins
from weft.catalogue.devices import Switch
from weft.engines.flow.routes import routed
from weft.engines.flow.solver import max_min_rates
from weft.engines.packet.simulation import simulate
from weft.engines.packet.static_routes import routes_of
from weft.network import routings, topologies
from weft.network.detour import pieces_of
from weft.network.forwarding import Forwarding
from weft.network.graph import SPINE_CORE, build
from weft.network.routing import Demands, Routing, pools
from weft.network.topology import Place, Topology, site_of
from weft.predict.flowed import flowed
from weft.predict.simulate import compile_traffic, options_of, scenario_fabric
from weft.spec.cluster import TopologyChoice
from weft.spec.load import load_scenario

RATE = 50e9
SIZES = [80, 96, 144, 272]
"""Hosts: 5, 6, 9 and 17 groups of 16."""


def network(hosts, nics=1):
    switch = Switch(name="test", title="", fabrics=(), radix={RATE: 8})
    place = Place(switch=switch, choice=TopologyChoice(kind="dragonfly_plus"))
    site = site_of(hosts, nics, nics, RATE, place)
    return build(plugins.load(topologies, "dragonfly_plus", Topology).layout(site))


def shape(graph):
    mesh = graph.layout.wiring
    return mesh.groups, mesh.group.trays, mesh.links_per_pair


def demands(source, target):
    return Demands(source=source, target=target, size_bytes=np.ones(len(source)))


def to_next_group(graph):
    """Return the adversarial pattern: every host sends to its place in the next group."""
    port = np.arange(graph.endpoints)
    return demands(port, (port + shape(graph)[1]) % graph.endpoints)


def to_all(graph):
    source, target = np.divmod(np.arange(graph.endpoints**2), graph.endpoints)
    return demands(source[source != target], target[source != target])


def rates(graph, flows, balancing, ratio=None):
    found = routed(graph, flows, balancing, ratio=ratio)
    return max_min_rates(found.bytes_per_s, found.uses) / RATE


@pytest.mark.parametrize("hosts", SIZES)
def test_minimal_paths_leave_the_next_group_one_pair_of_groups(hosts):
    """H hosts share L links: L / H."""
    graph = network(hosts)
    _, of_group, links = shape(graph)
    assert rates(graph, to_next_group(graph), "spray") == pytest.approx(links / of_group)


@pytest.mark.parametrize("hosts", SIZES)
def test_valiant_spreads_the_next_group_over_all_others(hosts):
    """H / (g - 2) out and as much on from each group to another: L (g - 2) / (2 H)."""
    graph = network(hosts)
    groups, of_group, links = shape(graph)
    expected = links * (groups - 2) / (2 * of_group)
    assert rates(graph, to_next_group(graph), "valiant") == pytest.approx(expected)


def test_valiant_leaves_uniform_traffic_half():
    """A pair of groups carries 2 H H of the N - 1 bytes that each host sends."""
    graph = network(80)
    _, of_group, links = shape(graph)
    expected = links * (graph.endpoints - 1) / (2 * of_group**2)
    slowest = rates(graph, to_all(graph), "valiant").min() * (graph.endpoints - 1)
    assert slowest == pytest.approx(expected, rel=1e-3)
    assert 0.5 < slowest < 0.65


@pytest.mark.parametrize("hosts", SIZES)
def test_ugal_comes_near_to_the_best_split_of_the_next_group(hosts):
    """x over the minimal links, the rest as Valiant: x H = 2 (1 - x) H / (g - 2), x = 2 / g."""
    graph = network(hosts)
    groups, of_group, links = shape(graph)
    best = links * groups / (2 * of_group)
    found = rates(graph, to_next_group(graph), "ugal")
    assert found.max() <= best * (1 + 1e-9)
    assert found.min() >= 0.9 * best


def test_ugal_keeps_uniform_traffic_minimal():
    """Minimal links keep up, so no piece takes a detour and nothing is lost."""
    graph = network(80)
    flows = to_all(graph)
    longest = routed(graph, flows, "ugal").links.max()
    assert longest == routed(graph, flows, "spray").links.max()
    assert rates(graph, flows, "ugal") == pytest.approx(rates(graph, flows, "spray"))


def test_traffic_inside_a_group_takes_no_detour():
    graph = network(80)
    port = np.arange(16)
    flows = demands(port, (port + 5) % 16)
    for name in ("valiant", "ugal"):
        loads = link_loads(graph, plugins.load(routings, name, Routing), flows)
        assert not loads[graph.layer == SPINE_CORE].any()


def test_two_groups_have_none_between_them():
    graph = network(32)
    flows = to_next_group(graph)
    for name in ("valiant", "ugal"):
        assert rates(graph, flows, name) == pytest.approx(rates(graph, flows, "spray"))


def naive_valiant(graph, flows):
    """Return the bytes from group to group, flow by flow and middle by middle."""
    groups, of_group, _ = shape(graph)
    carried = np.zeros((groups, groups))
    for source, target, size in zip(flows.source, flows.target, flows.size_bytes, strict=True):
        here, there = source // of_group, target // of_group
        middles = [group for group in range(groups) if group not in {here, there}]
        if here == there:
            continue
        for middle in middles:
            carried[here, middle] += size / len(middles)
            carried[middle, there] += size / len(middles)
    return carried


@pytest.mark.parametrize("seed", range(3))
def test_valiant_loads_groups_like_its_naive_twin(seed):
    graph = network(96)
    rng = np.random.default_rng(seed)
    source = np.repeat(np.arange(96), 2)
    target = (source + rng.integers(1, 96, len(source))) % 96
    flows = replace(demands(source, target), size_bytes=rng.uniform(1, 5, len(source)))
    loads = link_loads(graph, plugins.load(routings, "valiant", Routing), flows, seed)
    across = graph.layer == SPINE_CORE
    groups = shape(graph)[0]
    pair = graph.group[graph.source] * groups + graph.group[graph.target]
    found = np.bincount(pair[across], weights=loads[across], minlength=groups**2)
    assert found == pytest.approx(naive_valiant(graph, flows).ravel())


def links_of(paths, row):
    return paths.links[paths.start[row] : paths.start[row + 1]]


def naive_ugal(graph, flows, seed):
    """Return the bytes of every set of links, decided piece by piece."""
    pieces, pool = pieces_of(graph, flows, seed), pools(graph)
    rate = np.bincount(pool, weights=graph.rate_bytes_per_s)
    detour_of = {int(piece): row for row, piece in enumerate(pieces.detoured)}
    placed = np.zeros(len(rate))
    order = sorted(range(len(pieces.round)), key=lambda piece: piece in detour_of)
    inside = len(order) - len(detour_of)
    last = int(pieces.round.max())
    rounds = [
        [piece for piece in order[inside:] if pieces.round[piece] == number]
        for number in range(last + 1)
    ]
    for now in (order[:inside], *rounds):
        before = placed.copy()
        for piece in now:
            flow = pieces.minimal.flow[piece]
            links = links_of(pieces.minimal, piece)
            if piece in detour_of:
                detour = links_of(pieces.detours, detour_of[piece])
                ends = (flows.source == flows.source[flow], flows.target == flows.target[flow])
                due = max(flows.size_bytes[end].sum() for end in ends) / RATE
                near, far = ((before / rate)[pool[one]].max() for one in (links, detour))
                links = detour if near > max(due, far) * (1 + 1e-9) else links
            np.add.at(placed, pool[links], flows.size_bytes[flow] * pieces.minimal.share[piece])
    return placed


@pytest.mark.parametrize("seed", range(2))
def test_ugal_loads_links_like_its_naive_twin(seed):
    graph = network(80)
    rng = np.random.default_rng(seed)
    target = (np.arange(80) + 16 + rng.integers(0, 3, 80)) % 80
    flows = replace(demands(np.arange(80), target), size_bytes=rng.uniform(1, 5, 80))
    loads = link_loads(graph, plugins.load(routings, "ugal", Routing), flows, seed)
    found = np.bincount(pools(graph), weights=loads)
    naive = naive_ugal(graph, flows, seed)
    assert found == pytest.approx(naive)
    minimal = routed(graph, flows, "spray").links.max()
    assert routed(graph, flows, "ugal", seed=seed).links.max() > minimal


def to_some(graph):
    """Every host sends to a few others, inside its group and outside."""
    source = np.repeat(np.arange(graph.endpoints), 5)
    far = np.tile([1, 19, 33, 50, 71], graph.endpoints)
    return demands(source, (source + far) % graph.endpoints)


@pytest.mark.parametrize("pattern", [to_next_group, to_some])
@pytest.mark.parametrize("balancing", ["valiant", "ugal"])
def test_a_removed_link_never_helps(pattern, balancing):
    graph = network(80)
    flows = pattern(graph)
    before = rates(graph, flows, balancing).min()
    inner = np.flatnonzero(np.minimum(graph.source, graph.target) >= graph.endpoints)
    for link in inner[::29]:
        ratio = np.ones(graph.links)
        ratio[[link, graph.reverse[link]]] = 0.0
        assert rates(graph, flows, balancing, ratio).min() <= before * (1 + 1e-9)


@pytest.mark.parametrize("balancing", ["valiant", "ugal"])
def test_detours_avoid_a_pair_of_groups_whose_links_are_all_down(balancing):
    graph = network(272)
    flows = to_next_group(graph)
    pool = pools(graph)
    across = graph.layer == SPINE_CORE
    gone = across & (graph.group[graph.source] == 3) & (graph.group[graph.target] == 4)
    ratio = np.where(gone | gone[graph.reverse], 0.0, 1.0)
    found = routed(graph, flows, balancing, ratio=ratio)
    assert not np.isin(pool[gone], found.uses.links).any()
    assert rates(graph, flows, balancing, ratio).min() > 0.3


def one_detour_each(fabric, flows):
    """Return forwarding tables over one detour of every flow; targets are all different."""
    graph = fabric.graph
    found = pieces_of(graph, flows, 0)
    detours = found.detours
    drawn = np.random.default_rng(1).integers(0, found.round.max() + 1, len(flows.source))
    taken = np.flatnonzero(found.round[found.detoured] == drawn[detours.flow])
    table = np.full((graph.vertices - graph.first[0], graph.endpoints), -1, np.int32)
    for path in taken:
        links = detours.links[detours.start[path] + 1 : detours.start[path + 1]]
        target = flows.target[detours.flow[path]]
        table[graph.source[links] - graph.first[0], target] = links
    return Forwarding(links=table, files=(), sha256="", entries=int((table >= 0).sum()))


def scenario(hosts):
    sends = [
        {"source": host, "target": (host + 16) % hosts, "size_bytes": "1MiB"}
        for host in range(hosts)
    ]
    return load_scenario({
        "cluster": {
            "preset": "hgx_h100_roce", "hosts": hosts,
            "host": {"gpus": 1, "nics": 1, "server": "", "scale_up": {"gpus": 1}},
            "topology": {"kind": "dragonfly_plus", "switch_ports": 8},
        },
        "network": {"balancing": "ecmp"},
        "traffic": [{"flows": {"name": "next group", "flows": sends}}],
    })  # fmt: skip


def ends(schedule, fabric, options):
    by_packets = simulate(
        schedule.wiring, schedule.flows, options, routes=routes_of(schedule, fabric)
    )
    by_flows = flowed(schedule, fabric, options, until_s=1.0)
    return by_packets.end_ps, by_flows.end_ps


def test_packets_on_detours_take_as_long_as_flows():
    """One detour a flow: packets and flows are within 5 % of the last end, as promised."""
    asked = scenario(144)
    fabric = scenario_fabric(asked)
    schedule = compile_traffic(fabric, asked, 1)
    minimal, _ = ends(schedule, fabric, options_of(asked, 1))
    detours = replace(fabric, forwarding=one_detour_each(fabric, to_next_group(fabric.graph)))
    options = replace(options_of(asked, 1), balancing="static")
    packets, flows = ends(schedule, detours, options)
    assert max(flows) == pytest.approx(max(packets), rel=0.05)
    assert packets.mean() < 0.75 * minimal.mean()
