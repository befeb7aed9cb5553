"""The closed forms and the packet engine where their effects coincide.

Closed forms carry what the library costs on top of the wire (protocol, channels, launches), so
their busbw is the packets' times a ratio below one; what the *network* does to it, both must
say alike.
"""

import pytest

from weft.engines.analytic.collective import collective_time
from weft.predict.simulate import simulate
from weft.spec.load import load_cluster, load_scenario
from weft.traffic.collective import Group, Operation

LARGE_BYTES = 16 << 30
"""Where closed forms have left latency and launches behind."""


def busbw(spec, operation, size, library_bytes=LARGE_BYTES):
    """Return busbw of the closed form and of packets, all GPUs of the cluster."""
    cluster = load_cluster(spec)
    group = Group(ranks=cluster.gpus, ranks_per_domain=cluster.host.gpus)
    closed = collective_time(cluster, Operation(operation), library_bytes, group)
    traffic = [{"collective": {"operation": operation, "size_bytes": size}}]
    packets = simulate(load_scenario({"cluster": spec, "traffic": traffic})).traffic[0]
    return closed.busbw_bytes_per_s, packets.busbw_bytes_per_s.value


@pytest.mark.parametrize(
    ("preset", "least"), [("dgx_a100", 0.9), ("dgx_h100", 0.8), ("hgx_h100_roce", 0.8)]
)
@pytest.mark.parametrize("operation", ["all_reduce", "all_gather"])
def test_a_large_ring_on_one_leaf_is_bound_by_the_nics_in_both(preset, operation, least):
    """Packets fill the NICs but for headers; the library keeps most of that, and no more."""
    spec = {"preset": preset, "hosts": 4, "nccl": {"env": {"NCCL_ALGO": "Ring"}}}
    closed, packets = busbw(spec, operation, "64MiB")
    host = load_cluster(spec).host
    assert packets == pytest.approx(host.nics * host.nic_bytes_per_s, rel=0.04)
    assert least < closed / packets < 1.0


@pytest.mark.parametrize("size_bytes", [1 << 20, 1 << 26, 1 << 30])
def test_the_library_is_never_faster_than_its_packets_alone(size_bytes):
    spec = {"preset": "dgx_h100", "hosts": 4, "nccl": {"env": {"NCCL_ALGO": "Ring"}}}
    closed, packets = busbw(spec, "all_reduce", f"{size_bytes}B", size_bytes)
    assert closed < packets


def test_oversubscribed_uplinks_slow_an_all_to_all_alike():
    """busbw(2) / busbw(1:1) of the closed form and of packets agree within 8 %."""
    found = {}
    for ratio in (1.0, 2.0):
        topology = {"kind": "leaf_spine", "switch": "qm9700", "oversubscription": ratio}
        spec = {
            "preset": "dgx_h100", "hosts": 32, "fabric": {"kind": "infiniband"},
            "topology": topology,
        }  # fmt: skip
        found[ratio] = busbw(spec, "alltoall", "8MiB")
    closed, packets = (found[2.0][engine] / found[1.0][engine] for engine in (0, 1))
    assert closed == pytest.approx(packets, rel=0.08)
