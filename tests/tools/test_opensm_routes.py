"""Tables that OpenSM programmed are read back, and packets follow them.

One subnet in ibsim for every routing engine; the tables come in each form that OpenSM and
infiniband-diags write.
"""

import numpy as np
import pytest

from forwarding_text import loads_of, two_tiers
from tools.ibsim import Lab, Net, needs_ibsim, rendered
from weft.engines.packet.pattern import compile_traffic
from weft.engines.packet.settings import options_of
from weft.engines.packet.simulation import simulate
from weft.engines.packet.static_routes import routes_of, scenario_fabric
from weft.network.forwarding import read_forwarding
from weft.network.network import graph
from weft.spec.load import load_scenario
from weft.spec.show import document

HOSTS = 64
DUMPS = "log_flags 0x43\n"  # errors, info, and the routing in files

pytestmark = [pytest.mark.tool, pytest.mark.slow, needs_ibsim]


@pytest.fixture(scope="module", params=["ftree", "minhop", "updn"])
def subnet(request, tmp_path_factory):
    """Bring the subnet up with one engine, and keep every form of its tables."""
    cluster, folder = two_tiers(HOSTS), tmp_path_factory.mktemp(request.param)
    net = Net(cluster)
    with Lab(folder, net) as lab:
        planned = rendered(cluster, net, folder)
        asked = planned.replace("routing_engine ftree,updn", f"routing_engine {request.param}")
        said = lab.opensm(f"{asked}\n{DUMPS}")
        assert f"{request.param} tables configured on all switches" in said
        (folder / "fts").write_text(lab.ask("dump_fts"))
        one = [lab.ask("ibroute", "-G", f"0x{guid}") for guid in net.guids.values()]
        (folder / "ibroute").write_text("".join(one))
    return cluster, folder


def links_of(cluster, folder, *names):
    files = [str(folder / name) for name in names]
    return read_forwarding(cluster, graph(cluster), files).links


def test_every_form_of_the_tables_says_the_same(subnet):
    first = links_of(*subnet, "opensm-lfts.dump")
    assert (first >= 0).all()
    for names in (["fts"], ["ibroute"], ["opensm.fdbs", "opensm-subnet.lst"]):
        assert (links_of(*subnet, *names) == first).all()


@pytest.mark.parametrize("pattern", ["random", "shift"])
def test_every_packet_goes_where_opensm_said(subnet, pattern):
    cluster, folder = subnet
    spec = load_scenario(
        {
            "cluster": document(cluster)["spec"],
            "traffic": [{"permutation": {"size_bytes": "64KiB", "pattern": pattern}}],
            "network": {"balancing": "static", "routes": str(folder / "opensm-lfts.dump")},
        }
    )
    fabric = scenario_fabric(spec)
    schedule, options = compile_traffic(fabric, spec, 1), options_of(spec, 1)
    routes = routes_of(schedule, fabric)
    flows = schedule.flows
    outcome = simulate(schedule.wiring, flows, options, routes=routes)
    packets = -(-flows.size_bytes // options.mtu_bytes)
    size = flows.size_bytes + packets * options.header_bytes
    ends = zip(flows.source.tolist(), flows.target.tolist(), size.tolist(), strict=True)
    found = loads_of(cluster, fabric.forwarding.links, ends)
    wanted = [found.get(link, 0) for link in range(fabric.graph.links)]
    assert outcome.links.sent_bytes.tolist() == wanted
    flows_on_the_busiest = max(wanted) / size[0]
    assert flows_on_the_busiest == 1 if pattern == "shift" else flows_on_the_busiest > 1


def test_no_shift_of_all_hosts_shares_a_link(subnet):
    """Port p of a leaf sends over uplink p, whatever the distance [Zahavi 2012]."""
    cluster, folder = subnet
    links = links_of(cluster, folder, "opensm-lfts.dump")
    host = np.arange(HOSTS)
    for distance in range(1, HOSTS):
        flows = zip(host, (host + distance) % HOSTS, np.ones(HOSTS, int), strict=True)
        assert max(loads_of(cluster, links, flows).values()) == 1
