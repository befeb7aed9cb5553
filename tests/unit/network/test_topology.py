"""Layouts against published designs, and what the user is told when ports run out."""

import pytest

from weft import plugins
from weft.catalogue.devices import Switch
from weft.catalogue.fitting import usual_switch
from weft.errors import Infeasible
from weft.network import topologies
from weft.network.network import graph, layout
from weft.network.topology import Place, Topology, site_of
from weft.spec import load
from weft.spec.cluster import Cluster, FabricChoice, Host, ScaleUp, TopologyChoice
from weft.units import rate_from_gbit


def lay_out(kind, hosts, radix, *, gbit=400, gpus=8, nics=8, **choice):
    ports = {rate_from_gbit(gbit / n): radix * n for n in (1, 2, 4, 8)}
    switch = Switch(name="test", title="", fabrics=(), radix=ports)
    place = Place(switch=switch, choice=TopologyChoice(kind=kind, **choice))
    site = site_of(hosts, gpus, nics, rate_from_gbit(gbit), place)
    return plugins.load(topologies, kind, Topology).layout(site)


def cluster(hosts=64, *, gbit="400Gb/s", nics=8, fabric="infiniband", **choice):
    scale_up = ScaleUp(bytes_per_s="450GB/s")
    host = Host(
        gpu="h100_sxm",
        gpus=8,
        nic="connectx7",
        nics=nics,
        nic_bytes_per_s=gbit,
        scale_up=scale_up,
    )
    return Cluster(
        hosts=hosts, host=host, fabric=FabricChoice(kind=fabric),
        topology=TopologyChoice(**choice),
    )  # fmt: skip


SUPERPOD = [
    # hosts, radix, (leaf, spine, core), (leaf-spine, spine-core) cables
    pytest.param(31, 64, (8, 4, 0), (256, 0), id="H100 1 SU"),
    pytest.param(63, 64, (16, 8, 0), (512, 0), id="H100 2 SU"),
    pytest.param(95, 64, (24, 16, 0), (768, 0), id="H100 3 SU: 16 spines, not 12"),
    pytest.param(127, 64, (32, 16, 0), (1024, 0), id="H100 4 SU"),
    pytest.param(256, 64, (64, 32, 0), (2048, 0), id="B200 8 SU, the two-tier limit"),
    pytest.param(512, 64, (128, 128, 64), (4096, 4096), id="B200 16 SU"),
    pytest.param(1024, 64, (256, 256, 128), (8192, 8192), id="B200 32 SU"),
    pytest.param(2048, 64, (512, 512, 256), (16384, 16384), id="B200 64 SU"),
    pytest.param(32, 144, (8, 4, 0), (576, 0), id="B300 with 32 hosts: all uplinks cabled"),
    pytest.param(72, 144, (8, 4, 0), (576, 0), id="B300 XDR 1 SU"),
    pytest.param(144, 144, (16, 8, 0), (1152, 0), id="B300 XDR 2 SU"),
    pytest.param(288, 144, (32, 18, 0), (2304, 0), id="B300 XDR 4 SU: 18 spines, not 16"),
    pytest.param(576, 144, (64, 36, 0), (4608, 0), id="B300 XDR 8 SU: 36 spines, not 32"),
    pytest.param(1296, 144, (144, 72, 0), (10368, 0), id="B300 XDR 18 SU"),
]


@pytest.mark.parametrize(("hosts", "radix", "switches", "cables"), SUPERPOD)
def test_rail_optimized_networks_are_those_of_superpod(hosts, radix, switches, cables):
    found = lay_out("rail_optimized", hosts, radix)
    assert (found.leaf, found.spine, found.core) == switches
    assert tuple(found.cables.values()) == (8 * hosts, *cables)


@pytest.mark.parametrize("units", [1, 2, 4, 8, 16])
def test_two_planes_of_400g_are_superpod_b300_on_ethernet(units):
    found = lay_out("multi_plane", 64 * units, 64, gbit=800, planes=2)
    assert (found.leaf, found.spine, found.tiers) == (16 * units, 8 * units, 2)
    assert found.host_leaf_cables == found.leaf_spine_cables == 512 * units


def test_eight_planes_of_100g_join_131072_gpus_in_two_tiers():
    found = lay_out("multi_plane", 16384, 64, gbit=800)
    assert (found.planes, found.tiers, found.radix) == (8, 2, 512)
    assert found.leaf == 8 * 512


def test_a_full_fat_tree_has_5_n_over_k_switches():
    found = lay_out("fat_tree", 8192, 64)
    assert found.switches == 5 * found.site.hosts * 8 // 64


def test_pods_of_3072_gpus_are_tapered_seven_to_one():
    """24,576 GPUs in 8 pods, 1:7 above the pod: 96 links down need 14 up, not 13.7."""
    found = lay_out("fat_tree", 3072, 128, hosts_per_pod=384, pod_oversubscription=7.0)
    assert (found.tiers, found.hosts_per_pod, found.hosts_per_unit) == (3, 384, 8)
    assert found.oversubscription("pod") == 1
    assert 6.5 < found.oversubscription("far") <= 7


def test_rails_that_fit_one_group_each_stay_below_the_cores():
    found = lay_out("rail_optimized", 140, 40)
    assert (found.leaf, found.spine, found.core) == (56, 80, 28)
    assert found.scope(140) == "pod"


def test_a_rack_of_72_gpus_attaches_as_18_trays_of_four_rails():
    found = lay_out("rail_optimized", 8, 144, gbit=800, gpus=72, nics=72)
    assert (found.rails, found.leaf, found.spine, found.hosts_per_unit) == (4, 8, 4, 4)


def test_what_fits_one_switch_needs_no_second():
    found = lay_out("rail_optimized", 8, 64)
    assert (found.switches, found.tiers) == (1, 1)
    assert [found.switch_hops(s) for s in ("leaf", "pod", "far")] == [1, 1, 1]


def test_rail_only_keeps_rails_apart_and_drops_the_spines_that_join_them():
    apart, joined = lay_out("rail_only", 64, 64), lay_out("rail_optimized", 64, 64)
    assert (apart.switches, joined.switches) == (8, 24)
    assert not apart.joins_rails


def test_dragonfly_plus_is_four_switches_across():
    found = lay_out("dragonfly_plus", 500, 64)
    assert [found.switch_hops(s) for s in ("leaf", "pod", "far")] == [1, 3, 4]


def test_more_oversubscription_is_never_more_switches_nor_more_bisection():
    layouts = [lay_out("leaf_spine", 100, 64, oversubscription=o) for o in (1, 2, 3, 7)]
    switches = [found.switches for found in layouts]
    cuts = [f.bisection_links() * f.link_bytes_per_s * f.planes for f in layouts]
    assert switches == sorted(switches, reverse=True)
    assert cuts == sorted(cuts, reverse=True)
    assert cuts[0] > cuts[-1]


def test_scopes_follow_the_number_of_neighbouring_hosts():
    found = lay_out("rail_optimized", 1024, 64)
    assert [found.scope(n) for n in (1, 32, 33, 128, 129)] == ["leaf"] * 2 + ["pod"] * 2 + [
        "far"
    ]


REFUSED = [
    ("leaf_spine", 257, {}, "stop at 64 leaves .256 hosts or trays"),
    ("leaf_spine", 100, {"hosts_per_pod": 10}, "hosts_per_pod is 10"),
    ("fat_tree", 2048, {"hosts_per_pod": 500}, "hosts_per_pod of at most 128"),
    ("rail_optimized", 8193, {}, "k.k.k/4 = 65536"),
    ("dragonfly_plus", 200, {"hosts_per_pod": 200}, "smaller hosts_per_pod"),
]


@pytest.mark.parametrize(("kind", "hosts", "choice", "words"), REFUSED)
def test_a_network_that_cannot_be_says_why_and_what_to_do(kind, hosts, choice, words):
    with pytest.raises(Infeasible, match=words):
        lay_out(kind, hosts, 64, **choice)


def test_a_leaf_that_cannot_take_one_host_is_refused():
    with pytest.raises(Infeasible, match="16 ports to one leaf"):
        lay_out("leaf_spine", 20, 16, nics=16)


def test_a_link_faster_than_every_port_is_refused():
    with pytest.raises(Infeasible, match=r"at most 400 Gb/s; a link of .* 800 Gb/s"):
        layout(cluster(gbit="800Gb/s", switch="qm9700"))


def test_hosts_without_a_nic_have_no_network():
    with pytest.raises(Infeasible, match=r"host\.nics"):
        layout(cluster(nics=0))


def test_a_switch_with_one_known_rate_splits_its_ports_in_two():
    radix = {rate_from_gbit(800): 64}
    switch = Switch(name="test", title="", fabrics=(), radix=radix)
    place = Place(switch=switch, choice=TopologyChoice())
    assert site_of(64, 4, 4, rate_from_gbit(400), place).radix(1) == 128


@pytest.mark.parametrize(
    ("fabric", "gbit", "switch"),
    [
        ("infiniband", 200, "qm8700"),
        ("infiniband", 400, "qm9700"),
        ("infiniband", 800, "q3400"),
        ("roce", 100, "sn4700"),
        ("roce", 400, "sn5600"),
        ("ultra_ethernet", 800, "sn5600"),
        ("efa", 3200, "sn5600"),
    ],
)
def test_a_fabric_has_its_usual_switch_at_a_rate(fabric, gbit, switch):
    assert usual_switch(fabric, rate_from_gbit(gbit)) == switch


@pytest.mark.parametrize("kind", plugins.names(topologies))
def test_the_switch_and_rate_of_a_cluster_come_from_its_spec(kind):
    found = layout(cluster(64, kind=kind))
    assert (found.kind, found.switch, found.link_bytes_per_s * found.planes) == (
        kind, "qm9700", 50e9,
    )  # fmt: skip
    assert found.cables["host_leaf"] == 512


def test_the_graph_of_a_cluster_has_a_vertex_for_every_nic_and_switch():
    spec = cluster(64)
    assert graph(spec).vertices == 512 + layout(spec).switches


def test_thinner_uplinks_never_need_more_spines_than_full_ones():
    """Whatever the radix divides into, 2:1 needs no more spines than 1:1 does."""
    for hosts in (64, 128, 256, 512):
        spines = [
            layout(
                load.preset("hgx_h100_roce", hosts=hosts, topology={"oversubscription": ratio})
            ).spine
            for ratio in (1.0, 1.5, 2.0, 3.0, 7.0)
        ]
        assert max(spines) == spines[0], (hosts, spines)
