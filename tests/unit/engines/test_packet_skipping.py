"""What repeats is skipped: the same times as packet by packet, or within the tolerance."""

import numpy as np
import pytest

from weft.engines.packet import simulation, skipping, stepping
from weft.engines.packet.parts import one_part
from weft.engines.packet.paths import paths_of
from weft.engines.packet.pattern import compile_traffic
from weft.engines.packet.settings import options_of
from weft.engines.packet.static_routes import routes_of, scenario_fabric
from weft.predict.simulate import simulate
from weft.predict.skipped import let_skip
from weft.spec.load import load_scenario

LOOK_HOPS = skipping.LOOK_HOPS
RING = (
    "traffic=[{job: {steps: [{operation: all_gather, size_bytes: 24MiB, compute_s: 40us, "
    "calls: 6}, {operation: reduce_scatter, size_bytes: 12MiB, compute_s: 20us, calls: 4}]}}]"
)
BESIDE = (
    "traffic=[{job: {hosts: 3, repeat: 2, steps: [{operation: all_gather, size_bytes: 24MiB, "
    "compute_s: 110us}]}}, {job: {first_host: 3, hosts: 3, repeat: 3, begin_s: 30us, steps: "
    "[{operation: all_gather, size_bytes: 18MiB, compute_s: 200us}]}}, {flows: {flows: "
    "[{source: 6, target: 7, size_bytes: 8MiB, begin_s: 333us}]}}]"
)
SPRAYED = "traffic=[{permutation: {size_bytes: 16MiB}}]"


@pytest.fixture(autouse=True)
def _looks_cost_little(monkeypatch):
    """Networks are so small here that looks would cost more than the run: none would come."""
    monkeypatch.setattr(skipping, "LOOK_HOPS", 0)


def scenario(*sets, hosts=8):
    tree = {
        "apiVersion": "weft/v1",
        "kind": "Scenario",
        "metadata": {"name": "skips"},
        "spec": {
            "cluster": {
                "preset": "hgx_h100_roce",
                "hosts": hosts,
                "host": {"server": "", "gpus": 1, "nics": 1, "scale_up": {"gpus": 1}},
                "topology": {"kind": "leaf_spine", "switch_ports": 8},
            },
            "traffic": [{"permutation": {"size_bytes": "1MiB"}}],
        },
    }
    return load_scenario(tree, sets)


def begun(one):
    """Prepare the first seed as a simulation does."""
    fabric = scenario_fabric(one)
    schedule = compile_traffic(fabric, one, 1)
    routes = routes_of(schedule, fabric)
    running = stepping.begin(schedule.wiring, routes, schedule.flows, options_of(one, 1))
    let_skip(running, one, schedule, paths_of(schedule.wiring, routes, schedule.flows))
    return running


def runs(one):
    """Return what happens packet by packet and with skips, and the simulation with them."""
    both = [begun(one.with_(skip_ratio=ratio)) for ratio in (None, 0.01)]
    for running in both:
        running.advance(10**12, lambda _state: None)
        assert running.complete
    return both[0].outcome(), both[1].outcome(), both[1]


def test_a_job_that_repeats_takes_the_times_of_the_full_run():
    full, short, running = runs(scenario(RING))
    assert len(running.repeats.times) >= 5
    assert short.counts["events"] < full.counts["events"] / 4
    assert np.abs(short.end_ps - full.end_ps).max() <= len(running.repeats.runs)
    assert np.abs(short.begin_ps - full.begin_ps).max() <= len(running.repeats.runs)
    assert (short.received_bytes == full.received_bytes).all()
    assert short.counts["data_hops"] == pytest.approx(full.counts["data_hops"], rel=1e-3)
    assert short.links.sent_bytes.sum() == pytest.approx(full.links.sent_bytes.sum(), rel=1e-3)


def test_what_waits_for_a_time_comes_at_that_time():
    full, short, running = runs(scenario(BESIDE))
    assert running.skipping.periodic > 2
    assert short.counts["events"] < full.counts["events"]
    assert (short.begin_ps == full.begin_ps).all()
    assert (short.end_ps == full.end_ps).all()


def test_settled_rates_end_within_the_tolerance():
    full, short, running = runs(scenario(SPRAYED, "network.balancing=spray"))
    assert running.skipping.skipped_ps > 0
    assert short.completion_ps == pytest.approx(full.completion_ps, rel=0.01)
    assert (short.received_bytes == full.received_bytes).all()


def test_how_far_a_call_goes_changes_nothing():
    ends = []
    for look_ps in (700_000, 1 << 40):
        run = begun(scenario(RING).with_(skip_ratio=0.01))

        def slow(_state, running=run, look_ps=look_ps):
            running.look_ps = look_ps

        run.look_ps = look_ps
        run.advance(10**12, slow)
        ends.append(run.outcome().end_ps)
    assert (ends[0] == ends[1]).all()


def test_the_result_states_the_skips_and_their_error():
    found = simulate(scenario(RING, "skip_ratio=0.01", "skip_check=true"))
    assert found.skipped.runs >= 5
    assert found.skipped.bytes_ratio > 0.5
    assert abs(found.skipped.error_ratio) < 1e-6
    assert found.skipped.flow_error_ratio < 1e-6
    assert simulate(scenario(RING)).skipped is None


@pytest.mark.parametrize(
    "sets",
    [
        ("traffic=[{incast: {senders: 7, size_bytes: 4MiB}}]", "network.congestion=dcqcn"),
        ("traffic=[{incast: {senders: 7, size_bytes: 64KiB}}]",),
        (SPRAYED, "network.congestion=dcqcn"),
    ],
)
def test_looks_cost_at_most_a_share_of_the_full_run(sets, monkeypatch):
    """A look in packet-hops, as measured; where nothing settles the rest runs as it would."""
    looks, look = [], skipping.Skipping.look

    def counted(self, state, now):
        looks.append(now)
        look(self, state, now)

    monkeypatch.setattr(skipping.Skipping, "look", counted)
    monkeypatch.setattr(skipping, "LOOK_HOPS", LOOK_HOPS)
    full, short, running = runs(scenario(*sets))
    saved = full.counts["events"] - short.counts["events"]
    most_hops = skipping.MOST_LOOKING_RATIO * full.counts["data_hops"] + max(0, saved)
    assert 1 <= len(looks) <= 1 + most_hops / running.skipping.look_hops


def test_a_barrier_over_parts_is_one_over_the_whole_network(monkeypatch):
    phases = (
        "traffic=[{collective: {operation: sendrecv, size_bytes: 256KiB, repeat: 3, "
        "gap_s: 9us, placement: shuffled}}]"
    )
    cluster = "cluster.topology={kind: leaf_spine, switch_ports: 8}"
    one = scenario(phases, cluster, "network.balancing=spray", hosts=16)
    cut = begun(one)
    monkeypatch.setattr(simulation, "_parts", lambda wiring, *_: one_part(wiring.nodes))
    whole = begun(one)
    assert len(cut.state.parts) >= 5 > len(whole.state.parts) == 1
    for running in (cut, whole):
        running.advance(10**12, lambda _state: None)
        assert running.complete
    assert (cut.outcome().end_ps == whole.outcome().end_ps).all()
    assert (cut.outcome().begin_ps == whole.outcome().begin_ps).all()


def test_a_stuck_receiver_is_simulated_whole():
    stuck = "stuck=[{gpu: 2, begin_s: 10us, end_s: 60us}]"
    found = simulate(scenario(SPRAYED, stuck, "skip_ratio=0.01"))
    assert found.skipped.refused == "a receiver stalls"
    assert found.skipped.bytes_ratio == 0
