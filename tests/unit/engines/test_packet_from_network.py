"""The packet engine on weft's own topologies."""

import numpy as np
import pytest

from weft.engines.packet.schedules import endpoint, wiring_of
from weft.engines.packet.simulation import Flows, Options, simulate
from weft.engines.packet.wiring import shortest_routes
from weft.network.network import graph, layout
from weft.spec.load import preset

MIB = 1 << 20


def across(network, hosts: int, nics: int, size_bytes: int) -> Flows:
    """Every NIC sends to the same NIC of the host half the cluster away."""
    host, nic = np.divmod(np.arange(hosts * nics), nics)
    near = [endpoint(network, h, n) for h, n in zip(host, nic, strict=True)]
    far = [
        endpoint(network, (h + hosts // 2) % hosts, n) for h, n in zip(host, nic, strict=True)
    ]
    return Flows(
        source=np.array(near),
        target=np.array(far),
        size_bytes=np.full(len(near), size_bytes, np.int64),
    )


@pytest.mark.parametrize(
    ("name", "hosts"),
    [("dgx_h100", 64), ("dgx_h100", 300), ("dgx_a100", 80), ("dgx_b300", 160)],
)
def test_every_pair_is_joined_by_paths_of_the_length_that_the_layout_says(name, hosts):
    """A packet's time is its serialisation per link plus cables: it tells how many links."""
    cluster = preset(name, hosts=hosts)
    network = graph(cluster)
    wiring = wiring_of(network)
    work = across(network, hosts, 1, 1)
    outcome = simulate(wiring, work, Options(mtu_bytes=1, header_bytes=0))
    links = layout(cluster).switch_hops("far") + 1
    assert outcome.counts["data_hops"] <= links * hosts
    assert outcome.counts["data_hops"] >= (links - 2) * hosts
    assert outcome.counts["flows_done"] == hosts


def test_balancing_by_packet_keeps_a_non_blocking_fabric_busy_and_hashing_does_not():
    """A permutation fits a 1:1 fabric: adaptive routing loses little, a hash a flow much."""
    hosts, size = 64, 2 * MIB
    cluster = preset("dgx_h100", hosts=hosts)
    network = graph(cluster)
    wiring, work = wiring_of(network), across(network, hosts, 8, size)
    routes = shortest_routes(wiring)
    ideal_s = size / cluster.host.nic_bytes_per_s

    def slowest(balancing: str) -> float:
        outcome = simulate(wiring, work, Options(balancing=balancing), routes=routes)
        return ideal_s / (outcome.completion_ps * 1e-12)

    assert slowest("adaptive") > 0.9
    assert slowest("ecmp") < 0.5
