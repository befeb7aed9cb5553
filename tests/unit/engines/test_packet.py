"""The packet engine against closed forms, its conservation laws and itself."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from weft.engines.packet.hooks import BALANCINGS, CONTROLS
from weft.engines.packet.simulation import Flows, Options, simulate
from weft.engines.packet.tables import FlowControl, Stop
from weft.engines.packet.wiring import Wiring, leaf_spine
from weft.errors import SpecError, UnknownName

PS_PER_BYTE = 20
"""At 400 Gb/s."""
PROPAGATION = 500_000
MTU = 4096
FRAME = MTU * PS_PER_BYTE
MIB = 1 << 20


def network(hosts: int):
    leaves, per_leaf, spines = {4: (2, 2, 2), 16: (4, 4, 4), 64: (8, 8, 8)}[hosts]
    return leaf_spine(
        leaves=leaves, hosts_per_leaf=per_leaf, spines=spines,
        bytes_per_s=50e9, propagation_s=500e-9,
    )  # fmt: skip


def flows(source, target, size_bytes, **more):
    source = np.asarray(source)
    return Flows(
        source=source,
        target=np.asarray(target),
        size_bytes=np.broadcast_to(np.asarray(size_bytes), source.shape).astype(np.int64),
        **more,
    )


def permutation(hosts: int, size_bytes: int):
    order = np.random.default_rng(7).permutation(hosts)
    return flows(order, np.roll(order, 1), size_bytes)


def incast(senders: int, size_bytes: int):
    return flows(np.arange(8, 8 + senders), np.zeros(senders, int), size_bytes)


def ring(ranks: int, size_bytes: int):
    """All-reduce: operation (step, rank) waits for (step - 1, rank - 1)."""
    steps = 2 * (ranks - 1)
    step, rank = np.divmod(np.arange(steps * ranks), ranks)
    later = np.flatnonzero(step > 0)
    before = (step[later] - 1) * ranks + (rank[later] - 1) % ranks
    return flows(
        rank, (rank + 1) % ranks, size_bytes // ranks, predecessor=np.stack([before, later], 1)
    )


@pytest.mark.parametrize("size_bytes", [MTU, 10_000, 8 * MIB])
def test_one_flow_takes_its_serialisation_and_one_frame_and_cable_per_further_link(size_bytes):
    """T = S/C + 3 (F/C + d) + d over four links; a short tail changes nothing."""
    outcome = simulate(network(4), flows([0], [3], size_bytes))
    last_frame = min(size_bytes, MTU) * PS_PER_BYTE
    expected = size_bytes * PS_PER_BYTE + 3 * (last_frame + PROPAGATION) + PROPAGATION
    assert outcome.completion_ps == expected


def test_cut_through_pays_only_the_first_bytes_at_every_switch():
    """T = S/C + 3 (c/C + d) + d with c = 64 bytes."""
    outcome = simulate(network(4), flows([0], [3], 8 * MIB), Options(cut_through_bytes=64))
    expected = 8 * MIB * PS_PER_BYTE + 3 * (64 * PS_PER_BYTE + PROPAGATION) + PROPAGATION
    assert outcome.completion_ps == expected


def test_headers_ride_on_every_packet():
    """T = N (F + h)/C + 3 ((F + h)/C + d) + d."""
    outcome = simulate(network(4), flows([0], [3], 8 * MIB), Options(header_bytes=82))
    frame = (MTU + 82) * PS_PER_BYTE
    packets = 8 * MIB // MTU
    assert outcome.completion_ps == packets * frame + 3 * (frame + PROPAGATION) + PROPAGATION


@pytest.mark.parametrize("flow_control", list(FlowControl))
def test_incast_ends_when_the_last_link_has_carried_everything(flow_control):
    """T = N S/C + 3 (F/C + d) + d: the receiver's link never idles, and nothing is lost."""
    outcome = simulate(network(64), incast(32, MIB), Options(flow_control=flow_control))
    expected = 32 * MIB * PS_PER_BYTE + 3 * (FRAME + PROPAGATION) + PROPAGATION
    assert outcome.completion_ps == expected
    assert outcome.counts["trims"] == 0


@pytest.mark.parametrize("ranks", [16, 64])
def test_a_ring_all_reduce_takes_its_slowest_chain_of_steps(ranks):
    """T = max over starts of the sum of 2(n-1) steps, each S/(nC) plus its path's latency."""
    size = ranks * MIB
    outcome = simulate(network(ranks), ring(ranks, size))
    per_leaf = {16: 4, 64: 8}[ranks]
    step = [
        MIB * PS_PER_BYTE
        + (FRAME + 2 * PROPAGATION if r // per_leaf == (r + 1) % ranks // per_leaf
           else 3 * FRAME + 4 * PROPAGATION)
        for r in range(ranks)
    ]  # fmt: skip
    steps = 2 * (ranks - 1)
    expected = max(sum(step[(r + i) % ranks] for i in range(steps)) for r in range(ranks))
    assert outcome.completion_ps == expected


@pytest.mark.parametrize("packets", [4, 8])
def test_a_link_short_of_credit_carries_its_credit_once_a_round_trip(packets):
    """Rate = credit / (2 (F/C + d)); the start-up is worth 0.2 %."""
    options = Options(flow_control=FlowControl.CREDITS, credit_bytes=packets * MTU)
    outcome = simulate(network(4), flows([0], [3], 64 * MIB), options)
    rate = 64 * MIB / outcome.completion_ps
    assert rate == pytest.approx(packets * MTU / (2 * (FRAME + PROPAGATION)), rel=2e-3)


def test_pauses_bound_the_queue_and_cost_no_throughput():
    """The largest queue is at most two ingress accounts of XOFF plus what was on its way."""
    options = Options(xoff_bytes=100_000, xon_bytes=90_000)
    outcome = simulate(network(4), flows([0, 2], [3, 3], 8 * MIB), options)
    on_its_way = 2 * PROPAGATION // PS_PER_BYTE + 3 * MTU
    assert outcome.counts["pauses"] > 0
    assert outcome.links.largest_queue_bytes.max() <= 2 * (100_000 + on_its_way)
    assert (
        outcome.completion_ps
        <= 16 * MIB * PS_PER_BYTE + 3 * (FRAME + PROPAGATION) + PROPAGATION
    )


LOSSY = Options(
    flow_control=FlowControl.NONE, congestion="dctcp", queue_limit_bytes=409_600,
    kmin_bytes=80_000, kmax_bytes=320_000, pmax_ratio=1.0,
)  # fmt: skip


def test_every_byte_arrives_and_no_packet_leaks_when_queues_overflow():
    outcome = simulate(network(64), incast(32, MIB), LOSSY)
    assert outcome.counts["trims"] > 0
    assert (outcome.received_bytes == MIB).all()
    assert outcome.counts["packets_alive"] == 0
    assert outcome.stopped is Stop.DONE


@pytest.mark.parametrize("balancing", BALANCINGS)
@pytest.mark.parametrize("congestion", CONTROLS)
@pytest.mark.parametrize("flow_control", list(FlowControl))
def test_nothing_is_lost_under_any_combination(balancing, congestion, flow_control):
    options = Options(balancing=balancing, congestion=congestion, flow_control=flow_control)
    outcome = simulate(network(16), permutation(16, 2 * MIB), options)
    assert (outcome.received_bytes == 2 * MIB).all()
    assert outcome.counts["packets_alive"] == 0
    assert outcome.completion_ps >= 2 * MIB * PS_PER_BYTE


def test_dcqcn_shares_a_link_and_stays_close_to_the_ideal():
    """Two flows of 64 MiB through one link end within 15 % of 2 S / C."""
    options = Options(congestion="dcqcn", xoff_bytes=4_000_000, xon_bytes=3_900_000)
    outcome = simulate(network(4), flows([0, 1], [3, 3], 64 * MIB), options)
    ideal = 128 * MIB * PS_PER_BYTE
    assert outcome.counts["cnps"] > 0
    assert ideal <= outcome.completion_ps <= 1.15 * ideal


def test_the_same_seed_gives_the_same_times_and_another_seed_others():
    options = Options(balancing="spray", congestion="dcqcn")
    work = permutation(64, MIB)
    first, again = (simulate(network(64), work, options) for _ in range(2))
    other = simulate(network(64), work, Options(balancing="spray", congestion="dcqcn", seed=2))
    assert (first.end_ps == again.end_ps).all()
    assert (first.end_ps != other.end_ps).any()


def test_spraying_beats_hashing_on_a_permutation():
    """A permutation fits without collisions; hashing puts several flows on one uplink."""
    work = permutation(64, 4 * MIB)
    hashed = simulate(network(64), work, Options(balancing="ecmp")).completion_ps
    sprayed = simulate(network(64), work, Options(balancing="spray")).completion_ps
    assert sprayed < 0.75 * hashed


@pytest.mark.parametrize(
    ("change", "stronger"),
    [
        ({"gain_ratio": 1 / 16}, "gain"),
        ({"rate_timer_ps": 300e6}, "timer"),
        ({"minimum_rate_ratio": 0.5}, "minimum"),
        ({"byte_counter_bytes": 1e5}, "byte counter"),
        ({"additive_increase_ratio": 0.05}, "additive"),
    ],
)
def test_every_knob_changes_what_happens(change, stronger):
    work = incast(16, 4 * MIB)
    base = simulate(network(64), work, Options(congestion="dcqcn"))
    turned = simulate(network(64), work, Options(congestion="dcqcn", knobs=change))
    assert (base.end_ps != turned.end_ps).any(), stronger


def test_a_target_that_is_kept_over_cuts_in_a_row_brings_rates_back_sooner():
    """Cuts every 4 us, timers of 300 us: halfway to the line at once, or from the floor."""
    stock = {"cnp_gap_ps": 4_000_000, "kmin_bytes": 1_048_576, "kmax_bytes": 2_097_152}
    took = [
        simulate(
            network(64),
            incast(16, 4 * MIB),
            Options(
                congestion="dcqcn", xoff_bytes=400_000, xon_bytes=380_000,
                knobs={"rate_timer_ps": 300e6, "keeps_target": keeps}, **stock,
            ),
        ).completion_ps
        for keeps in (0.0, 1.0)
    ]  # fmt: skip
    assert 16 * 4 * MIB * PS_PER_BYTE < took[1] < 0.6 * took[0]


def test_an_unknown_knob_or_control_is_refused_by_name():
    with pytest.raises(SpecError, match="gain_ratio"):
        simulate(network(4), flows([0], [3], MTU), Options(congestion="dcqcn", knobs={"g": 1}))
    with pytest.raises(UnknownName, match="dcqcn"):
        simulate(network(4), flows([0], [3], MTU), Options(congestion="dcqn"))


SMALL_CASE = """
import numpy as np
from weft.engines.packet.hooks import CONTROLS
from weft.engines.packet.simulation import Flows, Options, simulate
from weft.engines.packet.wiring import Wiring, leaf_spine
net = leaf_spine(leaves=2, hosts_per_leaf=2, spines=2, bytes_per_s=50e9, propagation_s=5e-7)
size = np.full(3, 1 << 20)
work = Flows(source=np.array([0, 1, 2]), target=np.array([3, 3, 1]), size_bytes=size)
marks = {"kmin_bytes": 20_000, "kmax_bytes": 80_000}
options = Options(congestion="dcqcn", balancing="adaptive", **marks)
out = simulate(net, work, options)
print(out.end_ps.tolist(), out.counts)
"""


def test_plain_python_gives_the_same_results_as_compiled_kernels():
    def run(**environment):
        return subprocess.run(
            [sys.executable, "-c", SMALL_CASE], env={**os.environ, **environment},
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip

    assert run() == run(NUMBA_DISABLE_JIT="1")


@pytest.mark.parametrize("flow_control", [FlowControl.NONE, FlowControl.PFC])
@pytest.mark.parametrize("congestion", [c for c in CONTROLS if c != "none"])
def test_every_control_shares_one_link_fairly_and_keeps_it_busy(congestion, flow_control):
    """Jain's index of the two rates is at least 0.95, and the link idles for at most 15 %."""
    options = Options(
        congestion=congestion, flow_control=flow_control, queue_limit_bytes=1_600_000,
        kmin_bytes=100_000, kmax_bytes=400_000, xoff_bytes=1_000_000, xon_bytes=900_000,
    )  # fmt: skip
    outcome = simulate(network(16), flows([4, 8], [0, 0], 32 * MIB), options)
    rate = 1 / outcome.end_ps
    assert rate.sum() ** 2 / (2 * (rate**2).sum()) >= 0.95
    assert 64 * MIB * PS_PER_BYTE / outcome.completion_ps >= 0.85


@pytest.mark.parametrize("congestion", [c for c in CONTROLS if c not in {"none", "cubic"}])
def test_a_control_that_listens_makes_pauses_rarer(congestion):
    """Without control an incast is held by pauses; marks or delay make them rarer."""
    options = {"kmin_bytes": 20_000, "kmax_bytes": 80_000, "xoff_bytes": 1_000_000}
    work = flows([4, 8], [0, 0], 32 * MIB)

    def pauses(name):
        return simulate(network(16), work, Options(congestion=name, **options)).counts["pauses"]

    assert pauses(congestion) < pauses("none")


def test_flowlets_change_their_path_only_after_a_gap():
    """With a gap that no flow makes a flow keeps its path; with none, packets spray."""
    work = permutation(64, MIB)

    def largest_queue(balancing, gap_ps=0):
        options = Options(balancing=balancing, flowlet_gap_ps=gap_ps)
        return simulate(network(64), work, options).links.largest_queue_bytes.max()

    assert largest_queue("flowlet", 1 << 40) > 3 * largest_queue("spray")
    assert largest_queue("flowlet", 0) < 2 * largest_queue("spray")


def test_flowlets_end_collisions_that_hashing_keeps():
    """Paced flows that collide slow down, so gaps open and they move apart."""
    work = permutation(64, 8 * MIB)

    def completion(balancing):
        options = Options(balancing=balancing, congestion="dcqcn", flowlet_gap_ps=100_000)
        return simulate(network(64), work, options).completion_ps

    assert completion("flowlet") < completion("ecmp")


def test_hpcc_keeps_queues_near_empty_and_the_link_near_its_target():
    """Two flows: load 0.95, so T = 2 S / (0.95 C); the queue stays under a tenth of DCQCN's."""
    work = flows([4, 8], [0, 0], 32 * MIB)

    def run(congestion):
        return simulate(network(16), work, Options(congestion=congestion, xoff_bytes=1 << 30))

    hpcc, dcqcn = run("hpcc"), run("dcqcn")
    ideal = 64 * MIB * PS_PER_BYTE / 0.95
    assert ideal * 0.95 <= hpcc.completion_ps <= ideal * 1.05
    largest = [one.links.largest_queue_bytes.max() for one in (hpcc, dcqcn)]
    assert largest[0] < 0.5 * largest[1]


def test_simulations_in_threads_give_the_same_bits_as_one_after_the_other():
    """Kernels release the interpreter's lock and share no state."""
    cases = [
        Options(balancing="spray", congestion=name, seed=seed)
        for name in ("dcqcn", "swift")
        for seed in (1, 2)
    ]
    work = permutation(64, MIB)

    def end(options):
        return simulate(network(64), work, options).end_ps.tolist()

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(end, cases))
    assert together == [end(options) for options in cases]


def three_tiers(hosts: int) -> Wiring:
    """Two leaves; four aggregation switches each; every pair of those has four cores."""
    host, aggregation, core = np.arange(2 * hosts), np.arange(8), np.arange(16)
    leaf, first_aggregation = 2 * hosts, 2 * hosts + 2
    first_core = first_aggregation + 8
    pairs = [(h, leaf + h // hosts) for h in host]
    pairs += [(leaf + a // 4, first_aggregation + a) for a in aggregation]
    pairs += [
        (first_aggregation + 4 * pod + c // 4, first_core + c) for pod in (0, 1) for c in core
    ]
    source, target = np.array(pairs + [(b, a) for a, b in pairs]).T
    return Wiring(
        hosts=2 * hosts, switches=26, source=source, target=target,
        bytes_per_s=np.full(len(source), 50e9), propagation_s=np.full(len(source), 5e-7),
    )  # fmt: skip


def test_flows_that_share_a_link_in_one_tier_spread_over_the_next():
    """64 flows over 4 x 4 paths: with polarisation each aggregation switch uses one link."""
    wiring = three_tiers(64)
    outcome = simulate(wiring, flows(np.arange(64), np.arange(64, 128), MTU))
    cores = wiring.target >= wiring.hosts + 10
    assert (outcome.links.sent_bytes[cores] > 0).sum() >= 14
