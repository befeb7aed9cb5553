"""OpenSM brings up a rendered fabric in ibsim with the rendered configuration.

The simulator is told the cables of weft's own graph; the subnet manager reads what weft
renders; infiniband-diags read back what it programmed.
"""

import re
from collections import Counter

import pytest

from tools.ibsim import Lab, Net, cluster_of, guid_of, needs_ibsim, rendered
from weft.generate.plan import plan
from weft.generate.target import render
from weft.network import network as resolver
from weft.spec.cluster import Tenant

SEEN_WHEN_BAD = re.compile(
    r"Unrecognized|Warning:|PARSE ERROR|Error in QoS|cannot find or setup|ERR "
)
# ibsim has no agents for these, whatever the configuration says
ALWAYS_SAID = re.compile(r"ERR (?:7518|5411|3120|3108)")

pytestmark = [pytest.mark.tool, pytest.mark.slow, needs_ibsim]


def _complaints(said: str) -> list[str]:
    lines = [line for line in said.splitlines() if SEEN_WHEN_BAD.search(line)]
    return [line for line in lines if not ALWAYS_SAID.search(line)]


# At 1,024 hosts of 8 NICs the tables stand after 15 s, but the map of lanes takes one message
# for every two ports of every switch, and the simulator answers them for minutes.
@pytest.fixture(scope="module", params=[(64, 8), (1024, 1)], ids=["64x8", "1024x1"])
def lab(request, tmp_path_factory):
    hosts, nics = request.param
    cluster, folder = cluster_of(hosts, nics=nics), tmp_path_factory.mktemp("ib")
    net = Net(cluster)
    with Lab(folder, net) as running:
        said = running.opensm(rendered(cluster, net, folder))
        yield cluster, net, running, said


@pytest.mark.proves(
    "opensm",
    effect="the subnet comes up with the planned engine, without a complaint",
    tool="opensm",
)
def test_the_subnet_comes_up_with_the_planned_engine_and_no_complaint(lab):
    _, _, _, said = lab
    assert "SUBNET UP" in said
    assert "ftree tables configured on all switches" in said
    assert not _complaints(said)


def test_the_fabric_that_is_discovered_is_the_graph(lab):
    cluster, net, running, _ = lab
    found, here = Counter(), ""
    for line in running.ask("ibnetdiscover").splitlines():
        if match := re.match(r'Switch\s+\d+ "S-\w+"\s+# "([^"]+)"', line):
            here = match[1]
        elif line.startswith("Ca"):
            here = ""
        elif here and (match := re.match(r'\[(\d+)\]\s+"\S+"\[(\d+)\].*?# "([^"]+)"', line)):
            peer, _, device = match[3].partition(" mlx5_")
            far = int(device) if device else int(match[2])
            found[here, int(match[1]), peer, far] += 1
    assert found == net.cables()
    layout = resolver.layout(cluster)
    assert len({cable[0] for cable in found}) == layout.switches
    ends = layout.host_leaf_cables + 2 * (layout.leaf_spine_cables + layout.spine_core_cables)
    assert found.total() == ends


@pytest.mark.proves(
    "opensm",
    effect="lanes and partition are programmed as planned",
    tool="opensm",
)
def test_the_lanes_and_partition_that_were_programmed_are_the_planned_ones(lab):
    cluster, net, running, _ = lab
    subnet = plan(cluster).subnet
    guid = next(iter(net.hosts))
    port = f"0x{guid[:-1]}1"
    keys = running.ask("smpquery", "-G", "pkeys", port, "1")
    assert f"{int(subnet.p_key.text(), 16) | 0x8000:#06x}" in keys
    lanes = running.ask("smpquery", "-G", "sl2vl", port, "1")
    row = re.findall(r"\d+", lanes.splitlines()[-1].split(":", 1)[1].split("|", 1)[1])
    planned = [subnet.vl.whole() if sl == subnet.sl.whole() else 0 for sl in range(15)]
    assert [int(lane) for lane in row[:15]] == planned


def test_a_path_crosses_as_many_switches_as_the_layout_says(lab):
    cluster, net, running, _ = lab
    layout = resolver.layout(cluster)
    first = guid_of(1, 0)
    last = guid_of(1, (cluster.hosts - 1) * net.nics)
    trace = running.ask("ibtracert", "-G", f"0x{first[:-1]}1", f"0x{last[:-1]}1")
    crossed = len(re.findall(r"^\[\d+\] -> switch port", trace, re.MULTILINE))
    assert crossed == layout.switch_hops(layout.scope(cluster.hosts))


FAULTS = {
    "an unknown option": ("routing_engine", "no_such_option 1\nrouting_engine"),
    "an engine that OpenSM has not": ("ftree,updn", "ar_updn"),
    "a weight out of range": ("qos_vlarb_high 0:64", "qos_vlarb_high 0:999"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_seen(fault, tmp_path):
    """Or else no complaint would mean nothing."""
    cluster = cluster_of(64)
    net = Net(cluster)
    good = rendered(cluster, net, tmp_path)
    bad = good.replace(*FAULTS[fault])
    assert bad != good
    with Lab(tmp_path, net) as running:
        assert _complaints(running.opensm(bad))


@pytest.mark.parametrize("kind", ["fat_tree", "leaf_spine"])
def test_other_trees_come_up_too(kind, tmp_path):
    cluster = cluster_of(64, kind)
    net = Net(cluster)
    with Lab(tmp_path, net) as running:
        said = running.opensm(rendered(cluster, net, tmp_path))
    assert "ftree tables configured on all switches" in said
    assert not _complaints(said)


def _port(host: int) -> str:
    return f"{guid_of(1, host * 8)[:-1]}1"


@pytest.mark.proves(
    "opensm",
    effect="hosts of two tenants have no path to one another",
    tool="opensm",
)
def test_hosts_of_two_tenants_have_no_path_to_one_another(tmp_path):
    """The manager runs on a host of neither; every port has its tenant's key at index 0."""
    tenants = (Tenant(name="red", hosts=3), Tenant(name="blue", hosts=3, p_key=0x20))
    cluster = cluster_of(8).with_(tenants=tenants)
    net = Net(cluster)
    devices = plan(cluster).names.device_list()
    ports = {
        f"{cable.peer} {devices[cable.peer_port]}": f"0x{guid[:-1]}1"
        for guid, (_, _, cable) in net.hosts.items()
    }
    guids = {name: f"0x{guid}" for name, guid in net.guids.items()} | ports
    files = {file.path: file.text for file in render(plan(cluster, guids), ["opensm"]).files}
    for path, text in files.items():
        (tmp_path / path.removeprefix("opensm/")).write_text(text)
    conf = files["opensm/opensm.master.conf"].replace("/etc/opensm", str(tmp_path))
    assert "m_key FILL_IN_M_KEY" in conf
    with Lab(tmp_path, net) as running:
        running.client["SIM_HOST"] = f"H-{guid_of(1, 7 * 8)}"
        said = running.opensm(conf.replace("FILL_IN_M_KEY", "0x1f2e3d4c5b6a7988"))
        assert not _complaints(said)
        for host, first in ((0, "0x8001 0x7fff"), (2, "0x8001 0x7fff"), (3, "0x8020 0x7fff")):
            assert first in running.ask("smpquery", "-G", "pkeys", f"0x{_port(host)}", "1")

        def keys(source: int, target: int) -> list[str]:
            """Return the P_Keys of the paths that the subnet manager gives."""
            gids = [
                ":".join(("fe80:", *re.findall("....", _port(one)))) for one in (source, target)
            ]
            shown = running.ask("saquery", "PR", "--sgid-to-dgid", "-".join(gids))
            return re.findall(r"pkey\.+(\S+)", shown)

        assert (keys(0, 2), keys(3, 5)) == (["0x8001"], ["0x8020"])
        assert (keys(0, 3), keys(5, 2), keys(0, 6)) == ([], [], [])
