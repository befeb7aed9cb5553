"""Relays: flows that send what others bring, against closed forms."""

import numpy as np
import pytest

from weft.engines.packet.simulation import Flows, Options, Relay, simulate
from weft.engines.packet.tables import FlowControl
from weft.engines.packet.wiring import leaf_spine
from weft.errors import SpecError

PS_PER_BYTE = 20
PROPAGATION = 500_000
MTU = 4096
FRAME = MTU * PS_PER_BYTE
MIB = 1 << 20
NETWORK = leaf_spine(
    leaves=2, hosts_per_leaf=4, spines=2, bytes_per_s=50e9, propagation_s=500e-9
)


def flows(pairs, size_bytes, relays):
    source, target = np.array(pairs).T
    sizes = np.full(len(pairs), size_bytes, np.int64)
    return Flows(source=source, target=target, size_bytes=sizes, relays=tuple(relays))


def test_a_chain_of_relays_takes_one_transfer_and_a_hop_each():
    """T = S/C + (hops - 1) frames + cables: the second flow sends while the first arrives."""
    chain = flows([(0, 1), (1, 2)], MIB, [Relay(feeders=(0,), fed=(1,))])
    took = simulate(NETWORK, chain).end_ps
    assert took[0] == MIB * PS_PER_BYTE + FRAME + 2 * PROPAGATION
    assert took[1] == MIB * PS_PER_BYTE + 3 * FRAME + 4 * PROPAGATION


def test_a_relay_waits_for_the_slowest_feeder():
    """Two feeders share the link to host 2: what leaves it goes at half of the rate.

    T = 2 S/C + 3 frames + 4 cables.
    """
    both = flows([(0, 2), (1, 2), (2, 3)], MIB, [Relay(feeders=(0, 1), fed=(2,))])
    took = simulate(NETWORK, both).end_ps
    assert took[2] == 2 * MIB * PS_PER_BYTE + 3 * FRAME + 4 * PROPAGATION


def test_a_relay_feeds_several():
    """Two copies share the link that leaves host 1: T = 2 S/C + 3 frames + 4 cables."""
    copies = flows([(0, 1), (1, 2), (1, 3)], MIB, [Relay(feeders=(0,), fed=(1, 2))])
    took = simulate(NETWORK, copies).end_ps
    assert took.max() == 2 * MIB * PS_PER_BYTE + 3 * FRAME + 4 * PROPAGATION


@pytest.mark.parametrize("packets", [1, 4, 16])
def test_a_lead_bounds_what_is_under_way(packets):
    """W packets a round trip R, where those take less than R: T = N / W R + (W - 1) F/C."""
    round_trip = 4 * (FRAME + PROPAGATION)
    relays = [
        Relay(feeders=(0,), fed=(1,)),
        Relay(feeders=(1,), fed=(0,), lead_bytes=packets * MTU),
    ]
    took = simulate(NETWORK, flows([(0, 1), (1, 0)], MIB, relays)).completion_ps
    rounds = MIB // (packets * MTU)
    assert took == rounds * round_trip + (packets - 1) * FRAME


@pytest.mark.parametrize("flow_control", list(FlowControl))
@pytest.mark.parametrize("congestion", ["none", "dcqcn", "swift"])
@pytest.mark.parametrize("size_bytes", [1, 5000, 300_000])
def test_every_byte_is_relayed(flow_control, congestion, size_bytes):
    pairs = [(0, 4), (1, 4), (2, 4), (4, 5), (5, 6), (5, 7)]
    relays = [Relay(feeders=(0, 1, 2), fed=(3,)), Relay(feeders=(3,), fed=(4, 5))]
    options = Options(flow_control=flow_control, congestion=congestion)
    outcome = simulate(NETWORK, flows(pairs, size_bytes, relays), options)
    assert (outcome.received_bytes == size_bytes).all()
    assert outcome.counts["packets_alive"] == 0


def test_a_relayed_flow_may_begin_late():
    """What came before its begin is there when it begins."""
    chain = Flows(
        source=np.array([0, 1]), target=np.array([1, 2]), size_bytes=np.array([MIB, MIB]),
        begin_ps=np.array([0, 100_000_000]), relays=(Relay(feeders=(0,), fed=(1,)),),
    )  # fmt: skip
    took = simulate(NETWORK, chain).completion_ps
    assert took == 100_000_000 + MIB * PS_PER_BYTE + FRAME + 2 * PROPAGATION


def test_numbered_packets_are_refused():
    chain = flows([(0, 1), (1, 2)], MIB, [Relay(feeders=(0,), fed=(1,))])
    with pytest.raises(SpecError, match="go_back_n numbers packets"):
        simulate(NETWORK, chain, Options(recovery="go_back_n"))
