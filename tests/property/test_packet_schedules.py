"""Any collective on any small cluster, packet by packet."""

from hypothesis import given, settings
from hypothesis import strategies as st

from weft.engines.packet.pattern import compile_traffic
from weft.engines.packet.schedules import fabric_of
from weft.engines.packet.settings import options_of
from weft.engines.packet.simulation import simulate
from weft.spec.load import load_scenario

ALGORITHMS = {
    "all_reduce": ("ring", "tree", "double_binary_tree", "halving_doubling", "hierarchical"),
    "all_gather": ("ring", "pat", "hierarchical"),
    "reduce_scatter": ("ring", "pat", "hierarchical"),
    "broadcast": ("ring", "tree"),
    "alltoall": ("pairwise", "hierarchical"),
}
CASES = [(operation, name) for operation, names in ALGORITHMS.items() for name in names]


@st.composite
def scenarios(draw):
    operation, name = draw(st.sampled_from(CASES))
    one = {
        "operation": operation,
        "algorithm": name,
        "size_bytes": f"{draw(st.integers(1, 300_000))}B",
        "ranks_per_host": draw(st.sampled_from([1, 2, 4, 8])),
        "channels": draw(st.sampled_from([1, 3])),
        "placement": draw(st.sampled_from(["in_order", "shuffled"])),
        "repeat": draw(st.sampled_from([1, 2])),
        "gap_s": draw(st.sampled_from(["0s", "3us"])),
    }
    hosts = draw(st.sampled_from([2, 4, 8] if name == "halving_doubling" else [2, 3, 5]))
    cluster = {"preset": "hgx_h100_roce", "hosts": hosts}
    network = {"queue_pairs": draw(st.sampled_from([1, 2]))}
    return load_scenario(
        {"cluster": cluster, "traffic": [{"collective": one}], "network": network}
    )


@settings(max_examples=40, deadline=None)
@given(scenarios(), st.integers(1, 1000))
def test_every_flow_ends_after_those_that_it_waits_for(scenario, seed):
    schedule = compile_traffic(fabric_of(scenario.cluster), scenario, seed)
    outcome = simulate(schedule.wiring, schedule.flows, options_of(scenario, seed))
    assert (outcome.end_ps >= 0).all()
    before, after = schedule.flows.predecessor.T
    assert (outcome.begin_ps[after] >= outcome.end_ps[before]).all()
    assert (outcome.received_bytes == schedule.flows.size_bytes).all()
    assert outcome.counts["packets_alive"] == 0


@settings(max_examples=40, deadline=None)
@given(scenarios())
def test_sends_inside_a_host_stay_off_the_fabric_and_others_cross_hosts(scenario):
    schedule = compile_traffic(fabric_of(scenario.cluster), scenario, 1)
    nics = scenario.cluster.host.nics
    real = schedule.real
    hosts = [ends[real] // nics for ends in (schedule.flows.source, schedule.flows.target)]
    assert (hosts[0] != hosts[1]).all()
    assert (schedule.flows.size_bytes[~real] == 1).all()
