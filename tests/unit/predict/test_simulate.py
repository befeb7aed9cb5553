"""Scenarios run to results: closed forms, what is conserved, what is bounded, interruption."""

import threading

import pytest

from weft.engines.packet import stepping
from weft.engines.packet.tables import Stop
from weft.errors import SpecError
from weft.predict import simulate as verb
from weft.predict.simulate import simulate, sweep
from weft.spec.load import load_scenario

MIB = 1 << 20
HEADER = 82 / 4096


def scenario(*traffic, hosts=8, **more):
    cluster = {"preset": "hgx_h100_roce", "hosts": hosts}
    return load_scenario({"cluster": cluster, "traffic": list(traffic), **more})


INCAST = {"incast": {"senders": 7, "size_bytes": "1MiB"}}


def test_an_incast_ends_when_the_receivers_link_has_carried_everything():
    """T = N S (1 + h/F) / C and a path; slowdown is about N."""
    found = simulate(scenario(INCAST)).traffic[0]
    serial = 7 * MIB * (1 + HEADER) / 50e9
    assert serial < found.completion_s.value < serial + 3e-6
    assert found.slowdown_ratio.p50 == pytest.approx(7, rel=0.1)
    assert (found.flows, found.unfinished, found.size_bytes) == (7, 0, 7 * MIB)


def test_bytes_received_over_time_add_up_to_what_was_sent():
    result = simulate(scenario(INCAST, network={"congestion": "none"}))
    then, received = 0.0, 0.0
    for moment in result.moments:
        received += moment.delivered_bytes_per_s * (moment.time_s - then)
        then = moment.time_s
    assert received == pytest.approx(7 * MIB * (1 + HEADER), rel=1e-6)


def test_samples_stay_bounded_however_long_the_simulation_is():
    result = simulate(scenario({"permutation": {"size_bytes": "16MiB"}}, samples=16))
    assert 16 <= len(result.moments) <= 32
    assert all(len(curve.queue_bytes) == len(result.moments) for curve in result.queues)


def test_each_seed_is_a_run_of_its_own_and_the_same_in_any_company():
    together = simulate(scenario({"permutation": {"size_bytes": "1MiB"}}, seeds=[1, 2]))
    alone = simulate(scenario({"permutation": {"size_bytes": "1MiB"}}, seeds=[2]))
    assert together.seeds[1] == alone.seeds[0]
    assert together.traffic[0].completions_s[1:] == alone.traffic[0].completions_s


def test_a_collective_has_bandwidths_as_nccl_tests_counts_them():
    one = {
        "collective": {"operation": "all_reduce", "size_bytes": "64MiB", "ranks_per_host": 1}
    }
    found = simulate(scenario(one)).traffic[0]
    assert found.algbw_bytes_per_s.value == pytest.approx(64 * MIB / found.completion_s.value)
    ratio = found.busbw_bytes_per_s.value / found.algbw_bytes_per_s.value
    assert ratio == pytest.approx(2 * 7 / 8)
    assert 0.9 < found.busbw_bytes_per_s.value / 50e9 < 1


def test_runs_are_timed_without_the_gaps_between_them():
    gaps = {"incast": {**INCAST["incast"], "repeat": 3, "gap_s": "500us"}}
    times = simulate(scenario(gaps, network={"congestion": "none"})).traffic[0].completions_s
    assert len(times) == 3
    assert times == pytest.approx([times[0]] * 3, rel=1e-3)


def test_what_is_under_way_at_the_limit_is_told_and_not_counted():
    result = simulate(scenario(INCAST, until_s="50us"))
    found = result.traffic[0]
    assert not result.complete
    assert (found.unfinished, found.completion_s, found.flow_s) == (7, None, None)
    assert not any(bar.ended for bar in result.bars)


def test_what_is_lost_for_ever_is_no_end():
    """Packets dropped where nothing asks for them again: no event is left, no flow ended."""
    lossy = {
        "flow_control": "none", "congestion": "none", "recovery": "trim", "trimming": False,
        "queue_limit_bytes": "50kB",
    }  # fmt: skip
    result = simulate(scenario(INCAST, network=lossy, until_s="10ms"))
    assert result.seeds[0].counts["drops"] > 0
    assert result.traffic[0].unfinished > 0
    assert not result.complete
    assert not result.seeds[0].complete
    assert result.moments[-1].time_s <= 0.01


def test_the_layers_carry_what_the_flows_sent():
    result = simulate(scenario({"permutation": {"size_bytes": "1MiB"}}))
    into = next(layer for layer in result.layers if layer.name == "leaf to host")
    assert into.links == 64
    assert into.imbalance_ratio == pytest.approx(1.0)


def test_pauses_are_timed_at_the_links_that_were_held():
    small = {"pfc": {"xoff_bytes": "40kB", "xon_bytes": "20kB"}, "congestion": "none"}
    result = simulate(scenario(INCAST, network=small))
    worst = result.links[0]
    assert worst.layer == "host to leaf"
    assert worst.pauses > 0
    # A sender may send a seventh of the time, so it stands paused for the rest.
    assert worst.paused_s == pytest.approx(6 / 7 * result.seeds[0].completion_s, rel=0.1)


def test_an_interruption_gives_what_happened_until_then(monkeypatch):
    """It comes once 50 us have been simulated, and no more is until it has."""
    board, reached = verb._Board(), threading.Event()  # noqa: SLF001 - what the threads share
    advance = stepping.Running.advance

    def interrupt(_, **__):
        reached.wait()
        raise KeyboardInterrupt

    def held(self, until_ps, watch):
        if until_ps > 50_000_000:
            reached.set()
            board.halt.wait()
        return advance(self, until_ps, watch)

    monkeypatch.setattr(verb, "_Board", lambda: board)
    monkeypatch.setattr(verb, "wait", interrupt)
    monkeypatch.setattr(stepping.Running, "advance", held)
    result = simulate(scenario(INCAST, until_s="1s"))
    assert result.interrupted
    assert not result.complete
    assert result.moments
    assert result.traffic[0].unfinished > 0


def test_progress_reaches_the_end():
    seen = []
    simulate(scenario(INCAST, seeds=[1, 2]), report=seen.append)
    assert seen[-1].done_ratio == pytest.approx(1.0)
    assert seen[-1].seeds_done == 2
    assert Stop.DONE == 0


def test_damaged_packets_are_sent_again_or_their_links_repeat_them():
    bad = {"recovery": "go_back_n", "bit_error_ratio": 1e-8, "flow_control": "pfc"}
    lost = simulate(scenario(INCAST, network=bad))
    repeated = simulate(scenario(INCAST, network={**bad, "link_retry": True}))
    clean = simulate(scenario(INCAST, network={**bad, "bit_error_ratio": 0.0}))
    hops = [one.seeds[0].counts["data_hops"] for one in (lost, repeated, clean)]
    assert all(one.complete for one in (lost, repeated, clean))
    assert hops[0] > hops[1] >= hops[2]


def test_knobs_of_a_preset_go_with_its_congestion_control():
    assert scenario(INCAST).network.knobs
    assert not scenario(INCAST, network={"congestion": "swift"}).network.knobs


def test_equal_flows_are_fair_and_one_that_waits_is_not():
    """Rates 1 and 1/7: (8/7)^2 / (2 (1 + 1/49)) = 0.64."""
    even = simulate(scenario(INCAST, network={"congestion": "none"}))
    assert even.traffic[0].fairness_ratio == pytest.approx(1.0, abs=1e-3)
    two = [{"source": 8, "target": 0, "size_bytes": "7MiB"},
           {"source": 16, "target": 0, "size_bytes": "1MiB", "begin_s": "1us"}]  # fmt: skip
    uneven = simulate(scenario({"flows": {"flows": two}}, network={"congestion": "none"}))
    # The short flow has half of the link; the long one that for a while, then all of it.
    times = uneven.traffic[0].flow_s
    short, long = 2 * MIB * (1 + HEADER) / 50e9, 8 * MIB * (1 + HEADER) / 50e9
    assert times.largest == pytest.approx(long, rel=0.03)
    rates = (1 / short, 7 / long)
    jain = sum(rates) ** 2 / (2 * sum(r**2 for r in rates))
    assert uneven.traffic[0].fairness_ratio == pytest.approx(jain, rel=0.03)


SMALL = {
    "preset": "hgx_h100_roce",
    "hosts": 64,
    "host": {"server": "", "gpus": 1, "nics": 1, "scale_up": {"gpus": 1}},
    "topology": {"kind": "leaf_spine", "switch_ports": 32},
}
STUCK = [{"gpu": 0, "begin_s": "10us", "end_s": "1010us"}]


def with_a_stuck_receiver(**more):
    """Host 16 sends to the stuck host 0, hosts 17 to 24 to others under its leaf."""
    flows = [{"source": 16, "target": 0, "size_bytes": "8MiB"}] + [
        {"source": 16 + i, "target": i, "size_bytes": "8MiB"} for i in range(1, 9)
    ]
    network = {
        "pfc": {"xoff_bytes": "40kB", "xon_bytes": "20kB"},
        "congestion": "none",
        "balancing": "adaptive",  # flows that meet would pause others on their own account
        **more,
    }
    return load_scenario(
        {
            "cluster": SMALL,
            "traffic": [{"flows": {"flows": flows}}],
            "stuck": STUCK,
            "network": network,
        }
    )


def test_a_stuck_receiver_is_the_root_of_the_pauses_and_its_flow_ends_after_it_goes_on():
    result = simulate(with_a_stuck_receiver())
    assert result.complete
    assert result.pause_roots[0].link == "leaf0 to host0.nic0"
    assert result.seeds[0].completion_s > 1.01e-3
    assert result.deadlock == ()


def test_victims_are_flows_that_go_elsewhere():
    result = simulate(with_a_stuck_receiver())
    names = [one.name for one in result.pause_victims]
    assert not any(name.endswith("to host0.nic0") for name in names)
    assert result.victims == len(names)


def test_a_watchdog_frees_the_queue_at_the_price_of_packets():
    dog = {"action": "drop", "detection_s": "100us", "restoration_s": "100us"}
    result = simulate(with_a_stuck_receiver(watchdog=dog, recovery="go_back_n"))
    counts = result.seeds[0].counts
    assert counts["watchdog_trips"] > 0
    assert counts["drops"] > 0


def test_a_shared_buffer_bounds_what_queues_hold():
    small = {"shared_bytes": "2MB", "alpha_ratio": 1.0}
    network = {"buffer": small, "congestion": "none"}
    held = simulate(scenario(INCAST, network=network)).links
    free = simulate(scenario(INCAST, network={"congestion": "none"})).links
    most = [max(link.largest_queue_bytes for link in links) for links in (held, free)]
    assert most[0] < 2_000_000 < most[1]


def test_a_receiver_cannot_be_stuck_outside_the_cluster_or_backwards():
    for one, told in (
        ({"gpu": 99, "end_s": "1ms"}, "stuck.0.gpu"),
        ({"gpu": 1, "begin_s": "2ms", "end_s": "1ms"}, "stuck.0.end_s"),
    ):
        with pytest.raises(SpecError, match=told):
            scenario(INCAST, stuck=[one])


def job(first_host, **more):
    step = {"operation": "all_gather", "size_bytes": "1MiB", "compute_s": "10us"}
    return {
        "job": {
            "hosts": 3, "first_host": first_host, "ranks_per_host": 1, "repeat": 2,
            "steps": [step, step], **more,
        }
    }  # fmt: skip


def test_jobs_that_share_nothing_take_what_they_take_alone():
    result = simulate(scenario(job(0), job(4), alone=True))
    for one in result.jobs:
        assert one.runs == 4
        assert one.slowdown_ratio.largest == 1.0
        assert one.run_s == one.alone_s


def test_jobs_on_the_same_hosts_slow_one_another():
    """Two rings over the same links: twice the time while both send."""
    result = simulate(scenario(job(0), job(0), alone=True, network={"congestion": "none"}))
    assert [one.name for one in result.jobs] == ["job 1", "job 2"]
    for one in result.jobs:
        assert one.slowdown_ratio.p50 == pytest.approx(2.0, rel=0.1)


def test_a_traffic_is_not_simulated_alone_unless_that_is_asked():
    assert all(one.alone_s is None for one in simulate(scenario(job(0), job(4))).jobs)


def test_a_sweep_is_the_same_on_any_number_of_threads():
    asked = [scenario(INCAST, seeds=[1, 2, 3]), scenario(INCAST, name="other", seeds=[4])]
    one, four = (sweep(asked, workers=workers) for workers in (1, 4))
    assert one == four
    assert one.simulations[0] == simulate(asked[0])
    assert [s.scenario.name for s in one.simulations] == ["scenario", "other"]


def test_an_interrupted_sweep_leaves_out_what_had_not_begun(monkeypatch):
    """The first run has ended and the second lays out its flows when the interrupt comes."""
    board, begin = verb._Board(), verb._begin  # noqa: SLF001 - the door that a thread goes through
    second = threading.Event()

    def one_at_a_time(fabric, asked, seed, look):
        if seed > 1:
            second.set()
            board.halt.wait()
        return begin(fabric, asked, seed, look)

    def interrupt(_, **__):
        second.wait()
        raise KeyboardInterrupt

    for name, stand_in in (
        ("_Board", lambda: board), ("_begin", one_at_a_time), ("wait", interrupt),
    ):  # fmt: skip
        monkeypatch.setattr(verb, name, stand_in)
    asked = [scenario(INCAST), scenario(INCAST, name="other", seeds=[2, 3, 4, 5])]
    found = sweep(asked, workers=1)
    assert not found.complete
    assert sorted(seed for _, seed in board.runs) == [1]
    assert found.left_out == ("other",)
    assert found.simulations[0].scenario.name == "scenario"


def test_only_what_happens_in_the_network_is_counted():
    """Sizes of the engine's own tables, and its place in them, are no counts."""
    counts = simulate(scenario(INCAST)).seeds[0].counts
    assert not {name for name in counts if "pool" in name or "rows" in name or "free" in name}
    assert counts["data_hops"] > 0
