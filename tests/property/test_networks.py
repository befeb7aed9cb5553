"""A network is resolved whole or refused with both sides named, whatever is put together."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import catalogue
from weft.catalogue.fitting import nics_for, switches_for
from weft.errors import Infeasible, Mismatch
from weft.network import fabric
from weft.network.network import resolve
from weft.spec.load import load_cluster, preset, presets

SHAPES = ["fat_tree", "leaf_spine", "rail_optimized", "dragonfly_plus"]
FABRICS = fabric.names()
MODES = sorted({mode for name in FABRICS for mode in fabric.find(name).load_balancing})
SERVERS = ["", "dgx_h100", "aws_p5", "azure_nd_h100_v5", "gcp_a3_mega", "oci_bm_gpu_h100_8"]


@st.composite
def clusters(draw):
    """Put together any fabric, switch, NIC, rate, balancing, topology and server."""
    base = preset("dgx_h100", hosts=draw(st.sampled_from([1, 2, 16, 64])))
    host = base.host.with_(
        server=draw(st.sampled_from(SERVERS)), nic=draw(st.sampled_from(["", *NICS])),
        nics=draw(st.sampled_from([1, 4, 8])),
        nic_bytes_per_s=draw(st.sampled_from([12.5e9, 25e9, 50e9, 100e9])),
    )  # fmt: skip
    choice = base.fabric.with_(
        kind=draw(st.sampled_from(FABRICS)),
        load_balancing=draw(st.sampled_from([None, *MODES])),
        in_network_reduction=draw(st.booleans()),
        mtu_bytes=draw(st.sampled_from([None, 1500, 4096, 9000])),
    )
    topology = base.topology.with_(
        kind=draw(st.sampled_from(SHAPES)), switch=draw(st.sampled_from([None, *SWITCHES]))
    )
    return base.with_(host=host, fabric=choice, topology=topology)


NICS = catalogue.names("nics")
SWITCHES = catalogue.names("switches")


@settings(max_examples=400)
@given(clusters())
def test_every_part_speaks_the_fabric_or_the_network_is_refused(cluster):
    kind = cluster.fabric.kind
    network, refusal = _answer(cluster)
    if network is None:
        lines = refusal.splitlines()
        assert all(line.split(".")[0] in SECTIONS for line in lines)
        assert kind in refusal or cluster.host.server in refusal
        return
    if network.nic is not None:
        assert kind in network.nic.fabrics
        assert network.nic.bytes_per_s.value >= cluster.host.nic_bytes_per_s * (1 - 1e-9)
    if cluster.fabric.load_balancing is not None:
        assert cluster.fabric.load_balancing in network.fabric.load_balancing
    if network.switch is None:
        assert cluster.hosts == 1
        return
    assert network.fabric.carried_by in network.switch.fabrics
    assert max(network.switch.radix) >= network.link_bytes_per_s / network.planes * (1 - 1e-9)
    if cluster.fabric.in_network_reduction:
        assert network.fabric.in_network_reduction
        assert network.switch.in_network_reduction
    if network.provider is not None:
        rented = network.provider.servers[cluster.host.server]
        assert kind in rented.fabrics
        assert cluster.topology.kind in rented.topologies


SECTIONS = {"host", "fabric", "topology"}


def _answer(cluster):
    """Return the network of a cluster, or none and why."""
    try:
        return resolve(cluster), ""
    except Mismatch as error:
        return None, str(error)


@settings(max_examples=200)
@given(clusters())
def test_what_a_refusal_offers_would_have_fitted(cluster):
    """Every switch that is named as one that speaks the fabric is accepted in its place."""
    plain = cluster.with_(
        host=cluster.host.with_(server="", nic=""),
        fabric=type(cluster.fabric)(kind=cluster.fabric.kind),
        topology=type(cluster.topology)(kind="leaf_spine"),
    )
    rate = cluster.host.nic_bytes_per_s
    for switch in switches_for(cluster.fabric.kind, rate):
        pinned = plain.with_(topology=plain.topology.with_(switch=switch.name))
        assert resolve(pinned).fabric.name == cluster.fabric.kind
    for nic in nics_for(cluster.fabric.kind, rate):
        chosen = plain.with_(
            host=plain.host.with_(nic=nic.name), topology=_with_ports(plain, rate)
        )
        if chosen.topology.switch is not None:
            assert resolve(chosen).nic.name == nic.name


def _with_ports(cluster, rate):
    able = switches_for(cluster.fabric.kind, rate)
    return cluster.topology.with_(switch=able[0].name if able else None)


@pytest.mark.parametrize("name", presets())
def test_every_preset_resolves_and_is_laid_out(name):
    network = resolve(preset(name))
    assert network.layout.switches > 0
    assert network.cable is not None


@pytest.mark.parametrize("name", presets())
def test_one_host_needs_no_network(name):
    network = resolve(preset(name, hosts=1))
    assert not network.is_needed
    assert network.layout.switches == sum(network.layout.cables.values()) == 0


def test_fabrics_of_equal_carriers_have_equal_usual_switches():
    """No fabric is cheaper than another because its switch is another model by default."""
    ethernet = [f for f in map(fabric.find, FABRICS) if "sn5600" in f.usual_switches.values()]
    assert {"roce", "ultra_ethernet", "tcp"} <= {found.name for found in ethernet}
    for one, other in pairwise(ethernet):
        for rate in one.usual_switches.keys() & other.usual_switches.keys():
            assert one.usual_switches[rate] == other.usual_switches[rate]


@pytest.mark.parametrize("name", FABRICS)
def test_a_usual_switch_speaks_its_fabric_at_its_rate(name):
    for rate, switch in fabric.find(name).usual_switches.items():
        assert switch in {able.name for able in switches_for(name, rate)}


def test_a_provider_names_servers_of_the_catalogue_that_are_rented():
    rented = {
        server
        for name in catalogue.names("providers")
        for server in catalogue.find("providers", name).servers
    }
    clouds = {
        name for name in catalogue.names("servers") if catalogue.find("servers", name).cloud
    }
    assert rented == clouds


def test_a_network_that_runs_out_of_ports_is_infeasible_and_not_a_mismatch():
    big = preset("dgx_h100", hosts=100_000)
    assert resolve(big).switch.name == "qm9700"
    with pytest.raises(Infeasible):
        _ = resolve(big).layout


@pytest.mark.parametrize(
    ("name", "sets", "said"),
    [
        ("dgx_h100", "topology.switch=arista_7060x6_64pe", "fabric.kind is infiniband"),
        ("hgx_h100_roce", "topology.switch=qm9700", "an InfiniBand switch"),
        ("aws_p5", "fabric.kind=roce", "Amazon Web Services rents aws_p5 with efa"),
        ("hgx_h100_roce", "fabric.kind=ultra_ethernet", "pollara"),
        ("hgx_h100_roce", "host.nic=efa_v4", "speaks efa and tcp"),
        ("hgx_h100_roce", "host.nic=connectx6", "400 Gb/s is more than connectx6 has"),
        ("hgx_h100_roce", "fabric.in_network_reduction=true", "no switch of roce reduces"),
        ("hgx_h100_roce", "fabric.load_balancing=spray", "ecmp, adaptive, flowlet and planned"),
        ("dgx_h100", "fabric.mtu_bytes=9000B", "256, 512, 1024, 2048, 4096 bytes"),
        ("dgx_h100", "topology.cable_m=3000", "no medium carries 400 Gb/s so far"),
        ("aws_p5", "topology.kind=dragonfly_plus", "a network of kind fat_tree"),
    ],
)
def test_a_wrong_part_is_refused_where_it_is_written(name, sets, said):
    with pytest.raises(Exception, match=sets.split("=", maxsplit=1)[0]) as caught:
        load_cluster({"preset": name}, [sets])
    assert said in str(caught.value).replace("\n", " ")
