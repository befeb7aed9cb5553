"""`weft simulate --fidelity flow`: scenarios whose answer a line of arithmetic gives."""

import numpy as np
import pytest

from weft.errors import Infeasible, SpecError
from weft.predict.simulate import simulate, sweep
from weft.report import show
from weft.spec.load import load_scenario

SIZE, TEXT = 4 << 20, "4MiB"
LINE = 50e9  # 400 Gb/s
HOST = {"gpus": 1, "nics": 1, "server": "", "scale_up": {"gpus": 1}}


def scenario(traffic, hosts=32, topology=None, **more):
    """Leaves of 8 hosts with one NIC each."""
    return load_scenario(
        {
            "cluster": {
                "preset": "hgx_h100_roce", "hosts": hosts, "host": HOST,
                "topology": topology or {"kind": "leaf_spine", "switch_ports": 16},
            },
            "traffic": traffic, **more,
        }
    )  # fmt: skip


def flows(*asked, **more):
    listed = [{"source": s, "target": t, "size_bytes": TEXT} for s, t in asked]
    return scenario([{"flows": {"flows": listed}}], **more)


def took_s(asked):
    return simulate(asked, fidelity="flow").traffic[0].completion_s.value


def test_n_flows_into_one_nic_take_n_times_as_long_as_one():
    one, three = took_s(flows((1, 0))), took_s(flows((1, 0), (2, 0), (3, 0)))
    assert three / one == pytest.approx(3, rel=0.03)
    assert one == pytest.approx(SIZE / LINE, rel=0.05)


def test_a_link_at_half_rate_takes_twice_as_long():
    """The first link of hosts is that of host 0."""
    asked = flows((1, 0))
    slow = asked.with_(faults=("nic_link_half",))
    assert took_s(slow) / took_s(asked) == pytest.approx(2, rel=0.03)


def test_a_leaf_that_lost_a_link_keeps_what_its_others_carry():
    """Eight hosts send off their leaf over 7 of 8 links, evenly spread: 8 / 7 of the time."""
    pairs = [(host, host + 8) for host in range(8)]
    asked = flows(*pairs, network={"balancing": "adaptive"})
    ratio = took_s(asked.with_(faults=("leaf_link_down",))) / took_s(asked)
    assert ratio == pytest.approx(8 / 7, rel=0.01)


def test_a_nic_without_a_link_cannot_send():
    with pytest.raises(Infeasible, match="GPU 1 cannot send to GPU 0"):
        simulate(flows((1, 0)).with_(faults=("nic_link_down",)), fidelity="flow")


def test_two_planes_outlive_one_of_them():
    """A leaf of one plane is down: its hosts send all over the other, in twice the time."""
    topology = {"kind": "multi_plane", "planes": 2, "switch_ports": 16}
    asked = flows((0, 8), topology=topology, network={"balancing": "adaptive"})
    ratio = took_s(asked.with_(faults=("leaf_down",))) / took_s(asked)
    assert ratio == pytest.approx(2, rel=0.03)


def test_an_unknown_fault_names_those_that_there_are():
    with pytest.raises(SpecError, match="known are: nic_link_down"):
        simulate(flows((1, 0)).with_(faults=("cut",)), fidelity="flow")


def test_a_scattered_job_crosses_leaves_where_one_in_order_does_not():
    """A ring over four leaves: in order four of its 32 sends leave them, scattered all do."""

    def crossing(placement):
        step = {"operation": "all_reduce", "size_bytes": TEXT}
        found = simulate(
            scenario([{"job": {"steps": [step], "placement": placement}}]), fidelity="flow"
        )
        up = next(one for one in found.layers if one.name == "leaf to spine")
        nic = next(one for one in found.layers if one.name == "host to leaf")
        return up.utilisation_ratio * up.links / (nic.utilisation_ratio * nic.links)

    assert crossing("in_order") == pytest.approx(4 / 32)
    assert crossing("scattered") == pytest.approx(1)


def test_every_other_host_is_another_job():
    step = {"operation": "all_reduce", "size_bytes": TEXT}
    jobs = [{"job": {"steps": [step], "every": 2, "first_host": at}} for at in (0, 1)]
    found = simulate(scenario(jobs, network={"balancing": "adaptive"}), fidelity="flow")
    assert [one.flows for one in found.traffic] == [2 * 15 * 16] * 2
    with pytest.raises(SpecError, match="must be 1 to 16 from host 0"):
        scenario([{"job": {"steps": [step], "every": 2, "hosts": 17}}])


def test_a_job_alone_is_faster_than_beside_another():
    pair = [{"source": 1, "target": 0, "size_bytes": TEXT}]
    other = [{"source": 2, "target": 0, "size_bytes": TEXT}]
    asked = scenario([{"flows": {"flows": pair}}, {"flows": {"flows": other}}], alone=True)
    found = simulate(asked, fidelity="flow").jobs[0]
    assert found.slowdown_ratio.p50 == pytest.approx(2, rel=0.03)


def test_what_is_not_over_at_the_limit_is_not_counted():
    found = simulate(flows((1, 0), until_s="10us"), fidelity="flow")
    assert not found.complete
    assert found.traffic[0].unfinished == 1
    assert found.traffic[0].completion_s is None


def test_seeds_give_a_distribution():
    asked = scenario([{"permutation": {"size_bytes": TEXT}}], network={"balancing": "ecmp"})
    found = simulate(asked.with_(seeds=tuple(range(16))), fidelity="flow").traffic[0]
    assert len(set(np.round(found.completions_s, 9))) > 1
    assert found.completion_s.low < found.completion_s.high


def test_pauses_are_refused():
    asked = flows((1, 0), stuck=[{"gpu": 0, "end_s": "10us"}])
    with pytest.raises(SpecError, match="--fidelity packet"):
        simulate(asked, fidelity="flow")


def in_classes(weights, priorities=(0, 0), **more):
    """A send of a job and two writes of a checkpoint to one port, in classes of their own."""
    classes = [
        {"name": name, "weight": weight, "priority": priority}
        for name, weight, priority in zip(("job", "storage"), weights, priorities, strict=True)
    ]
    send = {"source": 1, "target": 0, "size_bytes": TEXT}
    writes = [{"source": source, "target": 0, "size_bytes": TEXT} for source in (2, 3)]
    return scenario(
        [
            {"flows": {"flows": [send], "traffic_class": "job"}},
            {"flows": {"flows": writes, "traffic_class": "storage"}},
        ],
        network={"classes": classes, **more},
    )  # fmt: skip


@pytest.mark.parametrize(("weights", "times"), [((2, 2), 2), ((6, 2), 4 / 3), ((1, 3), 3)])
def test_a_class_has_its_share_whatever_another_sends(weights, times):
    """W / (W + V) of the port while both send; at 1 : 3 the writes end first, after 8 / 3.

    They then leave the port: 2 S of writes at 3/4 take 8 S / 3 C, in which the job has sent
    2/3 S, and the rest at C takes S / 3 C: 3 in all.
    """
    alone = took_s(flows((1, 0)))
    assert took_s(in_classes(weights)) / alone == pytest.approx(times, rel=0.03)


def test_a_higher_priority_does_not_notice_another_class():
    alone = took_s(flows((1, 0)))
    found = simulate(in_classes((1, 1), (1, 0)), fidelity="flow")
    job, storage = (one.completion_s.value for one in found.traffic)
    assert job / alone == pytest.approx(1, rel=0.03)
    assert storage / alone == pytest.approx(3, rel=0.03)
    assert any("priority and weight alone" in one for one in found.provenance.assumptions)


def test_one_class_shares_as_if_there_was_none():
    """All traffic is of one class: three flows into a port, a third each."""
    asked = in_classes((5, 1))
    same = [
        one.model_copy(update={"flows": one.flows.with_(traffic_class="storage")})
        for one in asked.traffic
    ]
    assert took_s(asked.with_(traffic=tuple(same))) == pytest.approx(
        took_s(flows((1, 0), (2, 0), (3, 0)))
    )


def test_flowlets_beside_classes_are_refused():
    with pytest.raises(SpecError, match="no flowlets beside classes"):
        simulate(in_classes((1, 1), balancing="flowlet"), fidelity="flow")


def test_a_report_of_flows_shows_no_queue():
    found = simulate(flows((1, 0)), fidelity="flow")
    assert found.provenance.engine == "flow"
    assert found.links[0].largest_queue_bytes is found.links[0].pauses is None
    text = show(found, "text", full=True)
    assert "Busiest links" in text
    assert "longest queue" not in text
    assert "not seen" in " ".join(text.split())


def test_an_unknown_fidelity_of_a_scenario_is_refused():
    with pytest.raises(SpecError, match="flow or packet"):
        sweep([flows((1, 0))], fidelity="analytic")
