"""`weft whatif`: which faults stop a job, which slow it, and what that costs."""

import pytest

from weft.advise.compare import compare
from weft.advise.whatif import predict_failed, whatif
from weft.cli import app
from weft.errors import Infeasible, SpecError
from weft.network import faults
from weft.network.faults import known_faults
from weft.network.network import graph
from weft.predict.training import predict
from weft.spec.load import load_cluster, load_job

JOB = {"model": "llama3_8b", "global_batch": 128, "parallelism": {"sharding": "zero1"}}
ONE = {"gpus": 1, "nics": 1, "server": "", "scale_up": {"gpus": 1}}


def leaves(planes=1, **topology):
    """Four leaves of 8 hosts with one NIC each; rings cross them."""
    wanted = {"kind": "leaf_spine", "switch_ports": 16, "planes": planes, **topology}
    return load_cluster(
        {
            "preset": "hgx_h100_roce", "hosts": 32, "host": ONE, "topology": wanted,
            "fabric": {"load_balancing": "adaptive"},
        }
    )  # fmt: skip


def by_name(found):
    return {" + ".join(harm.faults): harm for harm in found.harms}


@pytest.fixture(scope="module")
def harms():
    return by_name(whatif(leaves(), load_job(JOB), faults=2))


def test_a_nic_without_a_link_stops_the_job(harms):
    for name in ("nic_link_down", "leaf_down"):
        assert harms[name].step_s is None
        assert "no link that is up" in harms[name].reason
        assert harms[name].usd.value > 0


def test_a_nic_at_half_rate_slows_more_than_any_link_of_a_leaf(harms):
    """Half of one NIC is half of its ring; a leaf has other links to the spines."""
    others = ("leaf_link_down", "leaf_link_half")
    assert harms["nic_link_half"].slower_ratio > 1
    for name in others:
        assert 1 <= harms[name].slower_ratio < harms["nic_link_half"].slower_ratio


def test_less_rate_left_never_harms_less(harms):
    assert harms["leaf_link_down"].slower_ratio >= harms["leaf_link_half"].slower_ratio
    assert harms["spine_down"].slower_ratio >= harms["leaf_link_down"].slower_ratio


def test_two_faults_harm_no_less_than_one_of_them(harms):
    for name, harm in harms.items():
        first = name.split(" + ")[0]
        if " + " in name and harm.slower_ratio is not None:
            assert harm.slower_ratio >= harms[first].slower_ratio - 1e-9


def test_harms_are_ranked_by_what_they_cost():
    found = whatif(leaves(), load_job(JOB))
    costs = [harm.usd.value for harm in found.harms]
    assert costs == sorted(costs, reverse=True)
    assert found.prediction.provenance.engine == "flow"


def test_a_nic_with_a_link_in_another_plane_goes_on():
    """Of two planes one is left: half of the rate, and no stop."""
    harm = by_name(whatif(leaves(planes=2, kind="multi_plane"), load_job(JOB)))["nic_link_down"]
    assert harm.step_s is not None
    assert harm.slower_ratio > 1


def test_as_many_a_month_as_there_are_parts_times_the_published_rate(harms):
    """0.057 % of the links between NICs and leaves fail in a month [Qian 2024]."""
    cluster = leaves()
    ports = graph(cluster).endpoints
    assert harms["nic_link_down"].monthly == pytest.approx(0.00057 * ports)
    assert harms["leaf_link_down"].monthly is None


def test_every_fault_has_a_part_that_networks_have():
    parts = faults.LAYERS.keys() | faults.TIERS.keys()
    for fault in known_faults():
        assert fault.part in parts
        assert 0 <= fault.left_ratio < 1
        assert (fault.monthly_ratio is None) == (not fault.source)


def test_more_faults_at_once_are_refused():
    with pytest.raises(SpecError, match="1 or 2"):
        whatif(leaves(), load_job(JOB), faults=3)


def test_the_command_says_which_faults_stop_the_job(capsys):
    words = ["whatif", "--preset", "hgx_h100_roce", "--gpus", "128", "--model", "llama3_8b"]
    assert app.run(words) == 0
    shown = capsys.readouterr().out
    assert "faults stop it" in shown
    assert "leaf switch down" in shown


def test_a_predicted_fault_is_the_one_that_whatif_ranks(harms):
    """Where the fault slows the job, both give the same step."""
    found = predict_failed(leaves(), load_job(JOB), ["nic_link_half"])
    assert found.step_s == harms["nic_link_half"].step_s
    assert found.failed == ("link or PCIe of a NIC at half rate",)


@pytest.mark.parametrize(
    ("names", "said"),
    [(["spine_gone"], "known are: nic_link_down"), (["core_down"], "has 0 such parts")],
)
def test_a_fault_that_the_network_cannot_have_is_refused(names, said):
    with pytest.raises(SpecError, match=said):
        predict_failed(leaves(), load_job(JOB), names)


def test_faults_need_simulated_links(capsys):
    words = ["predict", "--preset", "hgx_h100_roce", "--model", "llama3_8b"]
    assert app.run([*words, "--failed", "spine_down"]) == 2
    assert "--fidelity flow" in capsys.readouterr().err


def test_a_second_switch_keeps_a_job_going_and_costs_what_is_published():
    """LLaMA-7B on 256 GPUs, a NIC's link fails: one ToR halts, two lose 6.25 % [Qian 2024].

    Their batch is not stated; ours from 64 to 512 sequences a step give 0.5 % to 19 %.
    """
    single, dual = (
        load_cluster({"preset": "hgx_h800", "hosts": 32, "topology": topology})
        for topology in ({"kind": "rail_optimized"}, {"kind": "multi_plane", "planes": 2})
    )
    jobs = [load_job({"model": "llama2_7b", "global_batch": batch}) for batch in (64, 512)]
    with pytest.raises(Infeasible, match="no link that is up"):
        predict_failed(single, jobs[0], ["nic_link_down"])
    small, large = (
        1 - predict(dual, job, fidelity="flow").step_s.value
        / predict_failed(dual, job, ["nic_link_down"]).step_s.value
        for job in jobs
    )  # fmt: skip
    assert small == pytest.approx(0.0625, abs=0.02)
    assert 0 < large < small


def test_networks_are_compared_while_a_fault_lasts():
    job = load_job({"model": "llama3_8b", "global_batch": 1024})
    cluster = load_cluster({"preset": "hgx_h100_roce", "hosts": 128})
    found = compare(
        cluster, job, ["roce_tuned"], fidelity="flow", failed=["leaf_link_down", "core_down"],
        pins=["topology"],
    )  # fmt: skip
    link, core = found.failed
    assert link.endswith("a spine down, in roce_tuned")
    assert "in no network" in core
    assert "while leaf_link_down, core_down lasts" in found.provenance.assumptions[0]
    with pytest.raises(Infeasible, match="no link that is up"):
        compare(cluster, job, ["roce_tuned"], fidelity="flow", failed=["nic_link_down"])
    with pytest.raises(SpecError, match="--fidelity flow"):
        compare(cluster, job, failed=["nic_link_down"])


def test_a_link_that_fails_costs_its_fail_over_even_where_the_step_stays():
    """All ranks wait until other links carry the traffic; at half rate nobody waits."""
    found = whatif(leaves(), load_job(JOB))
    base = found.prediction
    usd_per_s = base.cost.usd_per_gpu_hour.value * base.gpus / 3600
    down = by_name(found)["leaf_link_down"]
    slow_s = 86400 * (1 - 1 / down.slower_ratio)
    assert down.usd.value == pytest.approx(
        usd_per_s * (slow_s + found.fail_over.until_s.value), rel=1e-6
    )
    half = by_name(found)["leaf_link_half"]
    assert half.usd.value == pytest.approx(
        usd_per_s * 86400 * (1 - 1 / half.slower_ratio), abs=1e-6
    )


def test_the_command_says_when_traffic_flows_again(capsys):
    words = ["whatif", "--preset", "hgx_h100_roce", "--gpus", "128", "--model", "llama3_8b"]
    assert app.run([*words, "--full"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Fail-over: traffic flows again" in shown
    assert "Ultra Ethernet" in shown


def test_a_fabric_without_timers_of_senders_names_none(capsys):
    words = ["whatif", "--preset", "aws_p5", "--gpus", "16", "--model", "llama3_8b"]
    assert app.run(words) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Fail-over: traffic flows again" in shown
    assert "timers" not in shown
