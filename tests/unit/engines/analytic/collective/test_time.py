"""The time of one collective: closed forms, published checks, and every knob."""

import pytest

from weft.engines.analytic.collective import collective_time, sweep
from weft.engines.analytic.collective import constants as fitted_constants
from weft.engines.analytic.collective.constants import Fitted, current, using
from weft.engines.analytic.collective.graph import peer_channels
from weft.engines.analytic.collective.path import Same, path_of
from weft.engines.analytic.collective.spread import fixed
from weft.errors import Infeasible, SpecError
from weft.network import fabric
from weft.spec.cluster import TopologyChoice
from weft.traffic.collective import Group, Operation

from .clusters import A100, cluster

GIB = 2**30
AR, AG, A2A = Operation.ALL_REDUCE, Operation.ALL_GATHER, Operation.ALL_TO_ALL
SEND = Operation.SEND_RECV


def group(hosts: int, per_host: int = 8, neighbours: int = 1) -> Group:
    return Group(ranks=hosts * per_host, ranks_per_domain=per_host, neighbours=neighbours)


def seconds(found, size, who, operation=AR):
    return collective_time(found, operation, size, who).time_s.value


def busbw(found, size, who, operation=AR):
    return collective_time(found, operation, size, who).busbw_bytes_per_s


@pytest.fixture
def ideal():
    """Constants of a machine without losses: what remains is the textbook."""
    shipped = fitted_constants.shipped()
    values = dict.fromkeys(shipped.values, 1.0)
    values |= {k: 0.0 for k in values if k.startswith(("fill.", "step_overhead.", "peer."))}
    values |= {k: 1e15 for k in values if k.startswith("channel.")}
    values["peer_channel"] = 15e9
    with using(Fitted(values, fixed())):
        yield


@pytest.mark.usefixtures("ideal")
def test_a_ring_is_alpha_plus_two_n_minus_one_over_n_of_the_size():
    """T = base + 2(n-1-x) a + 2x b + 2 (n-1)/n S / B over NICs, x crossings [Thakur 2005]."""
    found = cluster(4, env={"NCCL_ALGO": "Ring", "NCCL_PROTO": "Simple"}, mtu_bytes=4096)
    ranks, size = 32, 8 * GIB
    nics = 8 * 50e9 * 4096 / (4096 + 26)
    steps = (2 * 31 - 2 * 3) * 3.4e-6 + 2 * 3 * 14.0e-6
    expected = 8.4e-6 + steps + 2 * (ranks - 1) / ranks * size / nics
    assert seconds(found, size, group(4)) == pytest.approx(expected, rel=0.03)


@pytest.mark.usefixtures("ideal")
def test_on_two_hosts_a_tree_sends_the_size_once_each_way():
    """T -> S / NICs, so busbw = 2 (n-1)/n x NICs, above the line rate."""
    found = cluster(2, gpus=2, nics=2, rate=12.5e9, up=9e12, env={"NCCL_ALGO": "Tree"})
    nics = 2 * 12.5e9 * 4096 / (4096 + 26)
    reached = busbw(found, 64 * GIB, group(2, 2))
    assert reached == pytest.approx(2 * 3 / 4 * nics, rel=0.04)
    assert reached > 2 * 12.5e9


@pytest.mark.usefixtures("ideal")
@pytest.mark.parametrize(("hosts", "published"), [(2, 335), (4, 191), (8, 193), (46, 193)])
def test_trees_of_b200_reach_what_their_channels_carry(hosts, published):
    """Together AI, 8 x B200 and 8 x 400G a host, NCCL_ALGO=Tree at 16 GiB: busbw in GB/s."""
    found = cluster(hosts, gpu="b200_sxm", up=900e9, env={"NCCL_ALGO": "Tree"},
                    version="2.29.7")  # fmt: skip
    reached = busbw(found, 16 * GIB, group(hosts))
    assert reached / 1e9 == pytest.approx(published, rel=0.05)


@pytest.mark.usefixtures("ideal")
@pytest.mark.parametrize(
    ("hosts", "per_host", "version", "channels"),
    [
        (2, 8, "2.29.7", 4), (4, 8, "2.29.7", 4), (8, 8, "2.29.7", 2), (16, 8, "2.29.7", 1),
        (10, 1, "2.29.7", 2), (10, 8, "2.29.7", 1), (2, 8, "2.27.3", 2), (8, 8, "2.27.3", 1),
    ],
)  # fmt: skip
def test_a_send_has_the_channels_that_the_release_gives_a_peer(
    hosts, per_host, version, channels
):
    here = cluster(hosts, gpus=per_host, nics=per_host, version=version)
    who = group(hosts, per_host)
    assert peer_channels(path_of(Same(here), who, current())) == channels
    line = 50e9 * 4096 / (4096 + 26)
    expected = min(line, channels * 15e9)
    assert GIB / seconds(here, GIB, who, SEND) == pytest.approx(expected, rel=0.12)


@pytest.mark.usefixtures("ideal")
def test_all_to_all_is_bound_by_the_share_that_leaves_the_host():
    """Each GPU sends (n - 8) / n of its buffer through its own NIC."""
    found = cluster(4)
    nic = 50e9 * 4096 / (4096 + 26)
    expected = 8 * GIB * 24 / 32 / nic
    assert seconds(found, 8 * GIB, group(4), A2A) == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize(
    ("hosts", "operation", "expected_gb_per_s", "tolerance"),
    [
        (1, AR, 480.2, 0.05),  # NVIDIA/dgxc-benchmarking: NVLS on DGX H100
        (2, AR, 468.5, 0.05),  # NVIDIA/nccl-tests issue 309: NVLSTree, above the NICs' 400
        (4, AR, 364.9, 0.10),  # the same cluster
        (8, AR, 320.7, 0.15),  # the same issue, another cluster
    ],
)
def test_published_h100_busbw_at_8_gib(hosts, operation, expected_gb_per_s, tolerance):
    reached = busbw(cluster(hosts), 8 * GIB, group(hosts), operation) / 1e9
    assert reached == pytest.approx(expected_gb_per_s, rel=tolerance)


def test_two_a100_hosts_run_rings_near_the_line_rate():
    """188.5 GB/s of 200 (NVIDIA deepops, HDR)."""
    found = cluster(2, **A100, version="2.21.5")
    answer = collective_time(found, AR, 4 * GIB, group(2))
    assert answer.algorithm == "ring"
    assert answer.busbw_bytes_per_s / 1e9 == pytest.approx(188.5, rel=0.06)


def test_two_h100_hosts_choose_nvls_tree_and_say_why_it_beats_the_nics():
    answer = collective_time(cluster(2), AR, 8 * GIB, group(2))
    assert answer.algorithm == "nvls_tree"
    assert answer.busbw_bytes_per_s > 8 * 50e9
    assert any("once each way" in reason for reason in answer.reasons)


def test_small_messages_take_ll_and_large_ones_simple():
    protocols = [c.protocol for c in sweep(cluster(2), AR, [8, 8 * GIB], 16, 8)]
    assert protocols == ["ll", "simple"]


def test_a_rack_of_72_stays_on_nvlink():
    rack = cluster(1, gpu="gb200", gpus=72, nics=72, up=900e9)
    answer = collective_time(rack, AR, 8 * GIB, group(1, 72))
    assert answer.limit == "NVLink"
    assert answer.busbw_bytes_per_s / 1e9 == pytest.approx(835, rel=0.08)


def test_eight_groups_beside_tensor_parallelism_share_the_nics():
    """Each data-parallel group has one NIC of the eight."""
    found = cluster(64)
    one = busbw(found, 8 * GIB, Group(ranks=64, ranks_per_domain=1, neighbours=8), AG)
    assert one < 50e9
    whole = busbw(found, 8 * GIB, group(64), AG)
    assert 5 < whole / one < 12


def test_groups_that_outnumber_the_nics_share_one():
    few = cluster(16, nics=4)
    many = Group(ranks=16, ranks_per_domain=1, neighbours=8)
    assert busbw(few, 8 * GIB, many, AG) < 0.8 * busbw(cluster(16), 8 * GIB, many, AG)


@pytest.mark.parametrize(("version", "low"), [("2.29.7", 0.8), ("2.27.3", 0.5)])
def test_send_to_the_next_pipeline_stage(version, low):
    """Four channels since 2.29 fill a NIC of 400 Gb/s; the two before carry 34 GB/s (B200)."""
    found = cluster(2, version=version)
    answer = collective_time(
        found, Operation.SEND_RECV, GIB, Group(ranks=2, ranks_per_domain=1, neighbours=8)
    )
    assert low * 50e9 < GIB / answer.time_s.value < min(1.0, low + 0.25) * 50e9


BASE = cluster(256, fabric="roce")
KNOBS = {
    "tuning default": {"tuning": "default"},
    "tuning misconfigured": {"tuning": "misconfigured"},
    "load": {"load_ratio": 0.3},
    "small mtu": {"mtu_bytes": 1024},
    "slow links": {"link_bytes_per_s": 25e9},
    "oversubscribed": {
        "topology": TopologyChoice(kind="leaf_spine", oversubscription=4.0),
    },
    "no gpudirect": {"gpudirect": False},
    "slow pcie": {"pcie": 24e9},
    "sockets": {"env": {"NCCL_IB_DISABLE": "1"}},
    "gdr off": {"env": {"NCCL_NET_GDR_LEVEL": "LOC"}},
    "low latency protocol": {"env": {"NCCL_PROTO": "LL"}},
}


@pytest.mark.parametrize("changes", KNOBS.values(), ids=KNOBS.keys())
def test_a_worse_network_is_slower(changes):
    worse = cluster(256, **({"fabric": "roce"} | changes))
    assert seconds(worse, GIB, group(256)) > 1.02 * seconds(BASE, GIB, group(256))


def test_better_load_balancing_is_faster_beyond_the_leaf_only():
    sprayed = cluster(512, fabric="roce", load_balancing="adaptive")
    hashed = cluster(512, fabric="roce", load_balancing="ecmp")
    assert seconds(sprayed, GIB, group(512)) < seconds(hashed, GIB, group(512))
    near = [cluster(2, fabric="roce", load_balancing=m) for m in ("adaptive", "ecmp")]
    assert seconds(near[0], GIB, group(2)) == seconds(near[1], GIB, group(2))


def test_more_sockets_and_threads_speed_tcp_up():
    plain = cluster(2, fabric="tcp")
    tuned = cluster(2, fabric="tcp", sockets=16, socket_threads=4)
    assert seconds(tuned, GIB, group(2)) < 0.8 * seconds(plain, GIB, group(2))


def test_jumbo_frames_help_tcp_most():
    small = cluster(2, fabric="tcp", mtu_bytes=1500)
    assert seconds(small, GIB, group(2)) > 1.3 * seconds(
        cluster(2, fabric="tcp"), GIB, group(2)
    )


def test_reduction_in_the_network_lowers_latency_on_many_hosts():
    """One trip up and down the switches, not two per level of a tree."""
    plain = cluster(256)
    sharp = cluster(256, in_network_reduction=True)
    size = 16 * 2**20
    assert seconds(sharp, size, group(256)) < seconds(plain, size, group(256))


@pytest.mark.parametrize(
    ("env", "algorithm"),
    [
        ({"NCCL_ALGO": "Ring"}, "ring"),
        ({"NCCL_ALGO": "Tree"}, "tree"),
        ({"NCCL_ALGO": "^NVLSTree,Tree"}, "ring"),
        ({"NCCL_NVLS_ENABLE": "0", "NCCL_ALGO": "NVLSTree,Ring"}, "ring"),
    ],
)
def test_variables_choose_the_algorithm(env, algorithm):
    answer = collective_time(cluster(4, env=env), AR, GIB, group(4))
    assert answer.algorithm == algorithm


def test_more_channels_let_a_ring_reach_the_nics():
    """NCCL_MIN_CTAS=24 brought 392 of 400 GB/s (NVIDIA/nccl-tests issue 309)."""
    ring = {"NCCL_ALGO": "Ring"}
    few = busbw(cluster(2, env=ring), 8 * GIB, group(2))
    many = busbw(cluster(2, env=ring | {"NCCL_MIN_CTAS": "24"}), 8 * GIB, group(2))
    assert few < many < 8 * 50e9


def test_a_protocol_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(SpecError, match="LL, LL128 and Simple"):
        collective_time(cluster(2, env={"NCCL_PROTO": "fast"}), AR, GIB, group(2))


def test_hosts_without_nics_cannot_reach_one_another():
    with pytest.raises(Infeasible, match="no NIC"):
        collective_time(cluster(2, nics=0), AR, GIB, group(2))


def test_one_rank_alone_only_starts():
    answer = collective_time(cluster(1), AR, GIB, Group(ranks=1, ranks_per_domain=1))
    assert answer.time_s.value < 1e-4


def test_a_result_says_what_it_assumes():
    answer = collective_time(cluster(512, fabric="roce"), AR, GIB, group(512))
    assert any("ecmp load balancing keeps" in said for said in answer.assumptions)


@pytest.mark.parametrize("kind", ["ultra_ethernet", "scheduled_ethernet"])
def test_a_fabric_without_published_runs_differs_from_roce_by_its_headers_alone(kind):
    """On two hosts under one leaf nothing else that is sourced differs."""
    one, other = (
        busbw(cluster(2, fabric=name), 64 * GIB, group(2), AG) for name in (kind, "roce")
    )
    headers = fabric.find(kind).payload_ratio() / fabric.find("roce").payload_ratio()
    assert one / other == pytest.approx(headers, rel=0.003)


def test_longer_cables_cost_every_dependent_step_their_propagation():
    """A tree over two hosts crosses twice: 2 x 2 cables x 300 m x 5 ns/m = 6 us."""
    env = {"NCCL_ALGO": "Tree", "NCCL_PROTO": "LL"}
    short = cluster(2, env=env, topology=TopologyChoice(cable_m=30.0))
    long = cluster(2, env=env, topology=TopologyChoice(cable_m=330.0))
    longer_s = seconds(long, 8, group(2)) - seconds(short, 8, group(2))
    assert longer_s == pytest.approx(2 * 2 * 300 * 5e-9, rel=1e-3)


def test_more_nics_never_slow_tcp_between_a_pair_of_ranks():
    times = [
        seconds(
            cluster(2, fabric="tcp", nics=nics, rate=12.5e9), GIB, group(2), Operation.SEND_RECV
        )
        for nics in (1, 2, 4, 8)
    ]
    assert times == sorted(times, reverse=True)


def test_a_layout_that_cannot_be_built_is_said_among_the_assumptions():
    topology = TopologyChoice(kind="leaf_spine", switch="qm9700")
    found = collective_time(cluster(4096, topology=topology), AR, GIB, group(4096))
    assert any("leaves of 32 hosts are taken" in said for said in found.assumptions)
    built = collective_time(cluster(64), AR, GIB, group(64))
    assert not any("are taken" in said for said in built.assumptions)
