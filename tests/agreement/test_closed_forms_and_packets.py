"""The closed forms and the packet engine where their effects coincide.

Closed forms carry what the library costs on top of the wire (protocol, channels, launches), so
their busbw is the packets' times a ratio below one; what the *network* does to it, both must
say alike.
"""

from statistics import median

import pytest

from weft.engines.analytic.collective import collective_time
from weft.engines.analytic.collective.path import uplink_share
from weft.network.network import layout
from weft.predict.probing import Pattern, share_of
from weft.predict.simulate import simulate
from weft.spec.load import load_cluster, load_scenario, preset
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
    ("name", "least"), [("dgx_a100", 0.9), ("dgx_h100", 0.8), ("hgx_h100_roce", 0.8)]
)
@pytest.mark.parametrize("operation", ["all_reduce", "all_gather"])
def test_a_large_ring_on_one_leaf_is_bound_by_the_nics_in_both(name, operation, least):
    """Packets fill the NICs but for headers; the library keeps most of that, and no more."""
    spec = {"preset": name, "hosts": 4, "nccl": {"env": {"NCCL_ALGO": "Ring"}}}
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


@pytest.mark.parametrize("ratio", [2.0, 3.0])
@pytest.mark.parametrize("kind", ["ring", "exchange"])
def test_what_stays_under_a_leaf_goes_on_beside_its_oversubscribed_uplinks(kind, ratio):
    """Of shuffled hosts a share f sends beyond its leaf, so 1 / (f o) is left, within 9 %."""
    host = {"gpus": 1, "nics": 1, "server": "", "scale_up": {"gpus": 1}}
    switch = {"kind": "leaf_spine", "switch_ports": 32, "oversubscription": ratio}
    cluster = preset("hgx_h100_roce", hosts=128, host=host, topology=switch,
                     fabric={"kind": "infiniband"})  # fmt: skip
    plan = layout(cluster)
    far = 1 - plan.hosts_per_unit / cluster.hosts
    pattern = Pattern(cluster=cluster, kind=kind, groups=8, hosts=16, paths=2)
    packets = median(share_of(pattern, seed) for seed in range(1, 10))
    closed = uplink_share(far, plan.oversubscription("far"))
    assert closed == pytest.approx(packets, rel=0.09)
    assert closed > 1 / (1 - far + far * ratio), "not one after the other"


def tcp_spec(mtu="9000B", threads=1, link="400Gb/s"):
    return {
        "preset": "h100_tcp_100g", "hosts": 2,
        "host": {"nic_bytes_per_s": link, "nic": "connectx7"},
        "fabric": {"kind": "tcp", "mtu_bytes": mtu, "socket_threads": threads},
        "nccl": {"env": {"NCCL_ALGO": "Ring"}},
    }  # fmt: skip


def tcp_packets(spec, **sockets):
    """Return what a host of TCP sockets moves by packets, in bytes/s."""
    one = {"operation": "all_reduce", "size_bytes": "64MiB", "ranks_per_host": 1}
    network = {"preset": "tcp", "sockets": sockets}
    scenario = {"cluster": spec, "traffic": [{"collective": one}], "network": network}
    return simulate(load_scenario(scenario)).traffic[0].busbw_bytes_per_s.value


def tcp_closed(spec):
    """Return the same by the closed form."""
    group = Group(ranks=2, ranks_per_domain=1)
    found = collective_time(load_cluster(spec), Operation.ALL_REDUCE, LARGE_BYTES, group)
    return found.busbw_bytes_per_s


def test_copies_cost_the_same_share_of_packets_in_both():
    """1,500 against 9,000 bytes: (1 + p / 9000) / (1 + p / 1500), p = 2000 bytes' worth."""
    small, large = tcp_spec("1500B"), tcp_spec("9000B")
    expected = (1 + 2000 / 9000) / (1 + 2000 / 1500)
    assert tcp_packets(small) / tcp_packets(large) == pytest.approx(expected, rel=0.05)
    assert tcp_closed(small) / tcp_closed(large) == pytest.approx(expected, rel=0.15)


def test_packets_count_threads_and_the_closed_form_two_workers_for_the_first():
    """One thread: the closed form, fitted to NCCL's runs, has twice the workers and more of
    each; its gain from further threads is less, and at eight both are the host's memory."""
    ratios = [tcp_closed(spec) / tcp_packets(spec) for spec in
              (tcp_spec(threads=n) for n in (1, 4, 8))]  # fmt: skip
    assert ratios == pytest.approx([2.23, 1.12, 0.97], abs=0.1)


@pytest.mark.parametrize(
    ("measured_bytes_per_s", "link", "threads"),
    [
        (8.11e9, "400Gb/s", (1, 2)),  # L40S, one GPU a host [schmaustech]
        (9.63e9, "400Gb/s", (1, 2)),  # the same, two GPUs a host
        (5.1e9, "100Gb/s", (1, 1)),  # p3dn, NCCL 2.3.7: 41 Gb/s [NVIDIA/nccl 209]
        (11.5e9, "100Gb/s", (8, 8)),  # p3dn, iperf3: 92 Gb/s [NVIDIA/nccl 209]
        (5.0e9, "100Gb/s", (1, 1)),  # V100: 4 to 6 GB/s [NVIDIA/nccl 450]
        (4.0e9, "200Gb/s", (1, 1)),  # A3 Mega, plain TCP [NVIDIA/aicr]
        (1.7e9, "25Gb/s", (4, 4)),  # Azure: busbw of a ring, 21 Gb/s both ways [nccl-tests 83]
    ],
)
def test_published_rates_of_tcp_lie_in_the_band_of_a_thread(
    measured_bytes_per_s, link, threads
):
    """From the slowest published thread to the fastest, with the threads that may have run."""
    few, many = threads
    low = tcp_packets(tcp_spec(threads=few, link=link), thread_bytes_per_s="1.5GB/s")
    high = tcp_packets(tcp_spec(threads=many, link=link), thread_bytes_per_s="7GB/s")
    assert low / 2 < measured_bytes_per_s < high


@pytest.mark.parametrize("hosts", [4, 16])
def test_switches_that_reduce_are_half_as_fast_for_the_library_as_for_packets(hosts):
    """SHARP: packets take S / B on one link a way; NCCL's runs keep some half of that."""
    spec = {
        "preset": "dgx_h100", "hosts": hosts,
        "host": {"server": "", "gpus": 1, "nics": 1, "scale_up": {"gpus": 1}},
        "fabric": {"kind": "infiniband", "in_network_reduction": True},
        "nccl": {"env": {"NCCL_ALGO": "CollnetChain"}},
    }  # fmt: skip
    cluster = load_cluster(spec)
    one = {"operation": "all_reduce", "size_bytes": "16MiB", "algorithm": "collnet"}
    packets = simulate(load_scenario({"cluster": spec, "traffic": [{"collective": one}]}))
    algbw = packets.traffic[0].algbw_bytes_per_s.value
    assert algbw == pytest.approx(cluster.host.nic_bytes_per_s, rel=0.02)
    group = Group(ranks=hosts, ranks_per_domain=1)
    closed = collective_time(cluster, Operation.ALL_REDUCE, LARGE_BYTES, group)
    assert 0.4 < closed.algbw_bytes_per_s / algbw < 1.0


def test_nvlink_switches_that_reduce_are_bound_by_nvlink_in_both():
    """NVLS: (1 + 1/n) S at the rate of NVLink; the library keeps 0.7 to 1 of it."""
    spec = {"preset": "dgx_h100", "hosts": 1, "nccl": {"env": {"NCCL_ALGO": "NVLS"}}}
    one = {"operation": "all_reduce", "size_bytes": "64MiB", "algorithm": "nvls"}
    packets = simulate(load_scenario({"cluster": spec, "traffic": [{"collective": one}]}))
    algbw = packets.traffic[0].algbw_bytes_per_s.value
    assert algbw == pytest.approx(450e9 / (1 + 1 / 8), rel=0.01)
    group = Group(ranks=8, ranks_per_domain=8)
    closed = collective_time(load_cluster(spec), Operation.ALL_REDUCE, LARGE_BYTES, group)
    assert 0.6 < closed.algbw_bytes_per_s / algbw < 1.0
