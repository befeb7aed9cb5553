"""Traffic compiled to flows: sizes, dependencies, delays and what they come to in time."""

import numpy as np
import pytest

from sent_ratios import sent_ratio
from weft.engines.packet.names import tiers_of
from weft.engines.packet.paths import hops_of, ideal_ps, paths_of
from weft.engines.packet.pattern import compile_traffic
from weft.engines.packet.schedules import fabric_of
from weft.engines.packet.settings import options_of
from weft.engines.packet.simulation import simulate
from weft.engines.packet.tables import Watchdog
from weft.engines.packet.wiring import shortest_routes
from weft.errors import Infeasible, SpecError
from weft.spec.load import load_scenario
from weft.spec.scenario import StuckReceiver
from weft.traffic import collectives
from weft.traffic.collective import Operation

MIB = 1 << 20
PS = 1e12


def scenario(traffic, hosts=8, network=None, **cluster):
    return load_scenario(
        {
            "cluster": {"preset": "hgx_h100_roce", "hosts": hosts, **cluster},
            "traffic": traffic if isinstance(traffic, list) else [traffic],
            "network": network or {},
        }
    )


def compiled(spec, seed=1):
    return compile_traffic(fabric_of(spec.cluster), spec, seed)


def outcome_of(spec, seed=1):
    schedule = compiled(spec, seed)
    return schedule, simulate(schedule.wiring, schedule.flows, options_of(spec, seed))


def ideal_of(spec, schedule):
    routes = shortest_routes(schedule.wiring)
    paths = paths_of(schedule.wiring, routes, schedule.flows)
    return paths, ideal_ps(paths, schedule.flows, options_of(spec, 1))


def a_collective(operation="all_reduce", size="64MiB", **more):
    return {"collective": {"operation": operation, "size_bytes": size, **more}}


@pytest.mark.parametrize(
    ("name", "operation"),
    [
        ("ring", "all_reduce"), ("ring", "all_gather"), ("ring", "broadcast"),
        ("tree", "all_reduce"), ("double_binary_tree", "all_reduce"),
        ("halving_doubling", "all_reduce"), ("pairwise", "alltoall"),
    ],
)  # fmt: skip
def test_the_busiest_rank_sends_what_the_algorithm_says(name, operation):
    """Bytes = sent_ratio x size, one rank a host."""
    schedule = compiled(scenario(a_collective(operation, algorithm=name, ranks_per_host=1)))
    by_rank = np.bincount(schedule.flows.source, weights=schedule.flows.size_bytes)
    algorithm = getattr(__import__(f"{collectives.__name__}.{name}", fromlist=[name]), name)
    expected = sent_ratio(algorithm.title, Operation(operation), 8, 1) * 64 * MIB
    assert by_rank.max() == pytest.approx(expected, rel=1e-6)


def test_a_ring_under_one_leaf_takes_its_steps_one_after_the_other():
    """T = 2 (n - 1) (S/n alone on its path), exact to the picosecond."""
    spec = scenario(a_collective(ranks_per_host=1))
    schedule, outcome = outcome_of(spec)
    _, ideal = ideal_of(spec, schedule)
    assert len(schedule.flows.source) == 14 * 8
    assert outcome.completion_ps == 14 * round(ideal[0])


def test_a_send_inside_a_host_takes_its_time_on_nvlink_and_none_of_the_fabric():
    """Seven hops of one host: T = 2 (n - 1) S / (n B), a few nanoseconds a step apart."""
    spec = scenario(a_collective(ranks=8, channels=1))
    schedule, outcome = outcome_of(spec)
    step_ps = 8 * MIB / spec.cluster.host.scale_up.bytes_per_s * PS
    assert not schedule.real.any()
    assert outcome.completion_ps == pytest.approx(14 * step_ps, rel=2e-3)
    assert outcome.links.sent_bytes[: schedule.fabric_links].sum() == 0


def test_channels_share_the_size_and_use_every_nic_of_a_host():
    schedule = compiled(scenario(a_collective(), hosts=2))
    real = schedule.real
    by_nic = np.bincount(
        schedule.flows.source[real], weights=schedule.flows.size_bytes[real], minlength=16
    )
    whole = 2 * 15 / 16 * 64 * MIB
    assert by_nic == pytest.approx(np.full(16, whole / 8), rel=1e-3)


def test_a_run_begins_a_gap_after_the_last_flow_of_the_one_before():
    incast = {"incast": {"senders": 3, "size_bytes": "1MiB", "repeat": 3, "gap_s": "20us"}}
    schedule, outcome = outcome_of(scenario(incast))
    for run in (1, 2):
        before = outcome.end_ps[schedule.real & (schedule.run == run - 1)].max()
        begin = outcome.begin_ps[schedule.real & (schedule.run == run)]
        assert (begin == begin[0]).all()
        assert begin[0] - before == pytest.approx(20e6, abs=10_000)


def test_several_jobs_begin_when_they_are_told_to_and_run_side_by_side():
    jobs = [
        a_collective(ranks_per_host=1, ranks=4),
        a_collective(ranks_per_host=1, ranks=4, first_host=4, begin_s="1ms"),
    ]
    schedule, outcome = outcome_of(scenario(jobs))
    first, second = (outcome.begin_ps[schedule.traffic == job].min() for job in (0, 1))
    assert (first, second) == (0, 1_000_000_000)
    ends = [outcome.end_ps[schedule.traffic == job].max() for job in (0, 1)]
    assert ends[1] - second == ends[0]


def test_a_job_computes_between_its_collectives():
    """Every collective begins its computing after the one before; each is a run of its own."""
    step = {"operation": "all_gather", "size_bytes": "1MiB"}
    job = {
        "hosts": 3, "first_host": 2, "ranks_per_host": 1, "repeat": 2, "gap_s": "7us",
        "begin_s": "5us", "steps": [{**step, "compute_s": "30us"}, step],
    }  # fmt: skip
    schedule, outcome = outcome_of(scenario({"job": job}))
    mine = [schedule.real & (schedule.run == run) for run in range(4)]
    begins = [outcome.begin_ps[m].min() for m in mine]
    ends = [outcome.end_ps[m].max() for m in mine]
    waits = np.array(begins) - np.array([0, *ends[:3]])
    assert waits == pytest.approx([35e6, 0, 37e6, 0], abs=20_000)
    assert len({m.sum() for m in mine}) == 1
    assert set((schedule.flows.source[schedule.real] // 8).tolist()) == {2, 3, 4}


@pytest.mark.parametrize("algorithm", ["hierarchical", "pairwise"])
def test_rails_that_are_not_joined_take_all_to_all_over_nvlink_and_refuse_it_without(algorithm):
    apart = {"topology": {"kind": "rail_only"}}
    spec = scenario(a_collective("alltoall", algorithm=algorithm), **apart)
    schedule, outcome = outcome_of(spec)
    assert (outcome.end_ps > 0).all()
    spec = scenario(a_collective("alltoall"), **apart, nccl={"env": {"NCCL_PXN_DISABLE": "1"}})
    schedule = compiled(spec)
    with pytest.raises(Infeasible, match="does not join rails"):
        ideal_of(spec, schedule)


def test_every_host_of_a_permutation_sends_once_and_receives_once_a_rail():
    schedule = compiled(scenario({"permutation": {"size_bytes": "1MiB"}}))
    assert sorted(schedule.flows.source) == sorted(schedule.flows.target) == list(range(64))
    assert (schedule.flows.source != schedule.flows.target).all()


def test_background_takes_its_share_of_the_line_rate():
    """Bytes = load x NICs x rate x duration, within three standard deviations."""
    one = {"load_ratio": 0.3, "size_bytes": "1MB", "duration_s": "4ms", "storage_hosts": 2}
    schedule = compiled(scenario({"background": one}))
    expected = 0.3 * 6 * 8 * 50e9 * 4e-3
    assert schedule.flows.size_bytes.sum() == pytest.approx(expected, rel=0.1)
    assert schedule.flows.target.min() >= 6 * 8
    assert schedule.flows.source.max() < 6 * 8


def test_queue_pairs_split_a_transfer_into_flows_of_their_own():
    traffic = {"flows": {"flows": [{"source": 0, "target": 8, "size_bytes": "1MiB"}]}}
    schedule = compiled(scenario(traffic, network={"queue_pairs": 4}))
    assert schedule.flows.size_bytes.tolist() == [MIB // 4] * 4


def test_a_flow_alone_takes_its_ideal_time_and_hops():
    traffic = {"flows": {"flows": [{"source": 3, "target": 11, "size_bytes": "5MiB"}]}}
    spec = scenario(traffic, network={"congestion": "none"})
    schedule, outcome = outcome_of(spec)
    paths, ideal = ideal_of(spec, schedule)
    assert outcome.end_ps[0] == round(ideal[0])
    assert outcome.counts["data_hops"] == hops_of(paths, schedule.flows, options_of(spec, 1))


def test_traffic_follows_the_seed():
    spec = scenario({"permutation": {"size_bytes": "1MiB"}})
    one, again, other = (compiled(spec, seed).flows.target for seed in (1, 1, 2))
    assert (one == again).all()
    assert (one != other).any()


def test_thresholds_scale_with_the_links_and_knobs_have_units():
    slow = scenario(
        {"permutation": {"size_bytes": "1MiB"}},
        fabric={"link_bytes_per_s": "200Gb/s"},
        network={"knobs": {"rate_timer_s": "100us", "byte_counter_bytes": "1MB"}},
    )
    options = options_of(slow, 7)
    assert (options.kmin_bytes, options.seed) == (200_000, 7)
    assert options.knobs["rate_timer_ps"] == pytest.approx(1e8)
    assert options.knobs["byte_counter_bytes"] == 1e6
    wrong = scenario({"permutation": {"size_bytes": "1MiB"}}, network={"knobs": {"gain": 1}})
    with pytest.raises(SpecError, match="gain_ratio"):
        options_of(wrong, 1)


def test_every_channel_is_the_first_one_turned_onto_its_own_nic():
    """Compiled alone, a channel has the same sizes, dependencies and waits as repeated."""
    schedule = compiled(scenario(a_collective(), hosts=3))
    flows, each = schedule.flows, len(schedule.real) // 8
    for channel in range(8):
        mine = slice(channel * each, (channel + 1) * each)
        nics = flows.source[mine][schedule.real[mine]] % 8
        assert (nics == channel).all()
        assert (flows.size_bytes[mine] == flows.size_bytes[:each]).all()
        before, after = flows.predecessor.T
        inside = (after >= mine.start) & (after < mine.stop)
        assert (before[inside] >= mine.start).all()
        assert (before[inside] < mine.stop).all()
    lines = flows.source[~schedule.real].reshape(8, -1)
    # The last rank of a host sends to the next host, the other seven inside.
    assert all(len(np.unique(lines[channel])) == 3 * 7 for channel in range(8))


@pytest.mark.parametrize(
    ("key", "value", "option", "number"),
    [
        ("flowlet_gap_s", "7us", "flowlet_gap_ps", 7_000_000),
        ("timeout_s", "3ms", "timeout_ps", 3_000_000_000),
        ("cnp_gap_s", "4us", "cnp_gap_ps", 4_000_000),
        ("trimming", False, "trimming", False),
        ("reordering_packets", 3, "reordering_packets", 3),
        ("link_retry", True, "link_retry", True),
        ("recovery", "go_back_n", "recovery", "go_back_n"),
        ("mtu_bytes", "1024B", "mtu_bytes", 1024),
        ("acknowledge", True, "acknowledge", True),
        ("cut_through", True, "cut_through_bytes", 64),
        ("queue_limit_bytes", "1MB", "queue_limit_bytes", 1_000_000),
        ("credit_bytes", "1MB", "credit_bytes", 1_000_000),
        ("pfc", {"xoff_bytes": "1MB", "xon_bytes": "900kB"}, "xoff_bytes", 1_000_000),
        ("ecn", {"pmax_ratio": 0.5}, "pmax_ratio", 0.5),
        ("buffer", {"shared_bytes": "64MB"}, "shared_buffer_bytes", 64_000_000),
        ("buffer", {"alpha_ratio": 0.125}, "alpha_ratio", 0.125),
        ("buffer", {"headroom_bytes": "100kB"}, "headroom_bytes", 100_000),
        ("watchdog", {"detection_s": "1ms"}, "watchdog_detection_ps", 1_000_000_000),
        ("watchdog", {"restoration_s": "2ms"}, "watchdog_restoration_ps", 2_000_000_000),
        ("watchdog", {"action": "forward"}, "watchdog", Watchdog.FORWARD),
    ],
)
def test_every_setting_of_a_scenario_reaches_the_kernel(key, value, option, number):
    spec = scenario({"permutation": {"size_bytes": "1MiB"}}, network={key: value})
    assert getattr(options_of(spec, 1), option) == number


def test_hashes_at_two_tiers_are_independent_of_one_another():
    """An all-to-all loads every link from spines to leaves alike, the parallel ones too."""
    small = {"server": "", "gpus": 1, "nics": 1, "scale_up": {"gpus": 1}}
    spec = scenario(
        a_collective("alltoall", "1MiB"),
        hosts=128,
        host=small,
        topology={"kind": "leaf_spine", "switch_ports": 32},
        network={"balancing": "ecmp", "congestion": "none"},
    )
    _, outcome = outcome_of(spec)
    fabric = fabric_of(spec.cluster)
    tiers = np.array(tiers_of(fabric.graph))
    down = (tiers[fabric.wiring.source] == "spine") & (tiers[fabric.wiring.target] == "leaf")
    sent = outcome.links.sent_bytes[: len(down)][down]
    assert sent.min() > 0.5 * sent.mean()
    assert sent.max() < 1.5 * sent.mean()


SMALL = {"server": "", "gpus": 1, "nics": 1, "scale_up": {"gpus": 1}}


@pytest.mark.parametrize("recovery", ["go_back_n", "selective_repeat"])
def test_computing_longer_than_the_retransmission_timer_is_no_loss(recovery):
    """Nothing is dropped, so nothing is sent again, however late a delay's answer comes."""
    one = {"operation": "all_reduce", "size_bytes": "1MiB", "compute_s": "3ms"}
    network = {"recovery": recovery, "timeout_s": "1ms"}
    spec = scenario({"job": {"steps": [one, one]}}, 4, network, host=SMALL)
    _, outcome = outcome_of(spec)
    assert (outcome.end_ps >= 0).all()
    assert outcome.counts["timeouts"] == outcome.counts["resent_bytes"] == 0


@pytest.mark.parametrize("time", ["3s", "10s", "30s", "1000s"])
def test_what_begins_after_the_longest_simulation_never_begins(time):
    """Times beyond what an event can hold are as good as for ever; they do not wrap."""
    late = {"operation": "all_reduce", "size_bytes": "1MiB", "compute_s": time}
    incast = {"senders": 2, "size_bytes": "1MiB"}
    for traffic in ({"job": {"steps": [late]}}, {"incast": {**incast, "begin_s": time}}):
        _, outcome = outcome_of(scenario(traffic, 4, host=SMALL))
        assert (outcome.end_ps < 0).all()
    stuck = StuckReceiver(gpu=0, end_s=time)
    spec = scenario({"incast": incast}, 4, host=SMALL).with_(stuck=(stuck,))
    _, outcome = outcome_of(spec)
    assert (outcome.end_ps < 0).all()


def test_a_retransmission_timer_may_be_longer_than_any_simulation():
    network = {"recovery": "go_back_n", "timeout_s": "30s"}
    spec = scenario({"incast": {"senders": 2, "size_bytes": "1MiB"}}, 4, network, host=SMALL)
    _, outcome = outcome_of(spec)
    assert (outcome.end_ps >= 0).all()
    assert outcome.counts["timeouts"] == 0
