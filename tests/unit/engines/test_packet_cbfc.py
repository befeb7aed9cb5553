"""Ultra Ethernet's credit-based flow control against closed forms."""

import numpy as np
import pytest

from weft.engines.packet.simulation import Flows, Options, simulate
from weft.engines.packet.tables import FlowControl
from weft.engines.packet.wiring import leaf_spine
from weft.errors import SpecError
from weft.predict.simulate import simulate as run
from weft.spec.load import load_scenario

PS_PER_BYTE = 20
PROPAGATION = 500_000
MIB = 1 << 20
LINE = 1 / PS_PER_BYTE


def network():
    return leaf_spine(
        leaves=2, hosts_per_leaf=2, spines=2, bytes_per_s=50e9, propagation_s=500e-9
    )


def rate(size_bytes=64 * MIB, **options):
    """Send one flow over four links; return payload bytes a picosecond."""
    work = Flows(source=np.array([0]), target=np.array([3]), size_bytes=np.array([size_bytes]))
    given = Options(flow_control=FlowControl.CBFC, **options)
    outcome = simulate(network(), work, given)
    assert outcome.counts["packets_alive"] == 0
    return size_bytes / outcome.completion_ps


def per_round(packets, frame_bytes, payload_bytes):
    """So many packets a round trip: two frames, two cables, an update of 8 bytes."""
    round_trip = 2 * (frame_bytes * PS_PER_BYTE + PROPAGATION) + 8 * PS_PER_BYTE
    return packets * payload_bytes / round_trip


@pytest.mark.parametrize(("unit", "overhead"), [(128, 0), (256, 64), (2048, 127), (32, -16)])
def test_a_packet_takes_whole_units_of_credit(unit, overhead):
    """N = floor(C / u) / ceil((F + o) / u) packets a round trip."""
    frame, credit = 4096 + 82, 40_000
    packets = credit // unit // -(-(frame + overhead) // unit)
    found = rate(
        header_bytes=82, credit_bytes=credit, credit_unit_bytes=unit,
        credit_overhead_bytes=overhead, credit_spacing_bytes=0,
    )  # fmt: skip
    assert found == pytest.approx(per_round(packets, frame, 4096), rel=2e-3)


def test_small_packets_waste_large_units():
    """64 bytes take a unit of 2,048: the same buffer carries a sixteenth of 128-byte units."""
    small = {"mtu_bytes": 64, "credit_bytes": 16_384, "credit_spacing_bytes": 0}
    coarse = rate(MIB, credit_unit_bytes=2048, **small)
    fine = rate(MIB, credit_unit_bytes=128, **small)
    assert coarse == pytest.approx(per_round(8, 64, 64), rel=1e-2)
    assert fine == pytest.approx(per_round(128, 64, 64), rel=1e-2)


def test_units_of_a_byte_that_are_reported_at_once_are_those_of_infiniband():
    """Only the update's own 8 bytes on the wire are between them."""
    alike = {"credit_bytes": 8 * 4096}
    work = Flows(source=np.array([0]), target=np.array([3]), size_bytes=np.array([8 * MIB]))
    plain = simulate(network(), work, Options(flow_control=FlowControl.CREDITS, **alike))
    units = rate(8 * MIB, credit_unit_bytes=1, credit_spacing_bytes=0, **alike)
    assert units == pytest.approx(8 * MIB / plain.completion_ps, rel=2e-4)


def test_updates_that_keep_a_distance_give_back_all_that_was_freed_meanwhile():
    """A spacing of many frames costs nothing while the credit covers it, and all beyond.

    With a round trip R and a spacing s the credit returns after R to R + s; with so little
    credit that it is all sent within a spacing, a burst goes out once in max(R, s).
    """
    spacing = 400_000
    plenty = rate(credit_bytes=2_000_000, credit_spacing_bytes=spacing)
    assert plenty == pytest.approx(LINE, rel=1e-2)
    little = 8 * 4096
    starved = rate(credit_bytes=little, credit_spacing_bytes=spacing)
    assert starved <= little / (spacing * PS_PER_BYTE) * 1.01
    assert starved >= 0.4 * little / (spacing * PS_PER_BYTE)


def test_credit_that_no_packet_fits_in_is_refused():
    with pytest.raises(SpecError, match="never fits"):
        rate(credit_bytes=4096, header_bytes=82)
    with pytest.raises(SpecError, match="larger units"):
        rate(credit_bytes=1 << 26, credit_unit_bytes=32)


def test_a_scenario_names_it():
    traffic = [{"incast": {"senders": 3, "size_bytes": "1MiB"}}]
    settings = {
        "flow_control": "cbfc", "congestion": "none", "credit_unit_bytes": "256B",
        "credit_bytes": "200kB", "credit_spacing_bytes": "3200B",
    }  # fmt: skip
    cluster = {
        "preset": "hgx_h100_roce", "hosts": 4, "fabric": {"kind": "ultra_ethernet"},
        "host": {"nic": "pollara"},
    }  # fmt: skip
    result = run(load_scenario({"cluster": cluster, "network": settings, "traffic": traffic}))
    assert result.complete
    assert result.settings["flow_control"] == "cbfc"
    assert result.settings["credit_unit_bytes"] == 256
    counts = result.seeds[0].counts
    assert counts["trims"] == counts["drops"] == counts["pauses"] == 0


@pytest.mark.parametrize("flow_control", [FlowControl.CREDITS, FlowControl.CBFC])
@pytest.mark.parametrize(
    ("propagation_s", "mtu"), [(5e-6, 4096), (50e-6, 4096), (5e-6, 256), (5e-7, 64)]
)
def test_credit_of_a_round_trip_is_enough_on_a_cable_of_any_length(
    flow_control, propagation_s, mtu
):
    """Up to thousands of credit messages are under way; credit of 1.1 round trips hides all."""
    wiring = leaf_spine(
        leaves=2, hosts_per_leaf=2, spines=1, bytes_per_s=50e9, propagation_s=propagation_s
    )
    work = Flows(source=np.array([0]), target=np.array([3]), size_bytes=np.array([5000 * mtu]))
    round_trip = 2 * propagation_s * 50e9 + 3 * mtu
    options = Options(
        flow_control=flow_control, mtu_bytes=mtu, credit_bytes=int(1.1 * round_trip),
        credit_unit_bytes=64, credit_spacing_bytes=0,
    )  # fmt: skip
    free = simulate(wiring, work, Options(mtu_bytes=mtu))
    assert simulate(wiring, work, options).completion_ps == free.completion_ps
