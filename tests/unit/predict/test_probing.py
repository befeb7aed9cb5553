"""`weft predict --fidelity packet`: the collectives of a step simulated, each pattern once."""

from types import SimpleNamespace

import pytest

from weft.advise.best import Weighted
from weft.advise.case import Case
from weft.advise.claim import Outcome, claims_of_articles
from weft.advise.claims import finding, put_to_test
from weft.advise.compare import compare
from weft.advise.oracle import Oracle
from weft.advise.quantities import storms
from weft.advise.quantity import PACKETS, SIMULATED, Trial
from weft.cli import app
from weft.cli.watch import probe_line
from weft.errors import SpecError
from weft.predict import probing
from weft.predict.part import model_of
from weft.predict.probing import Prober, Probing, share_of
from weft.predict.training import predict
from weft.spec.load import load_cluster, load_job, load_tuning
from weft.traffic.collective import Group, Operation

JOB = {"model": "llama3_8b", "global_batch": 128, "parallelism": {"sharding": "zero1"}}
ONE = {"gpus": 1, "nics": 1, "server": "", "scale_up": {"gpus": 1}}
RING = Operation.ALL_GATHER, Group(ranks=64, ranks_per_domain=1)


def cluster(hosts=16, **more):
    fabric = {"load_balancing": "ecmp", **more.pop("fabric", {})}
    return load_cluster({"preset": "hgx_h100_roce", "hosts": hosts, "fabric": fabric, **more})


def leaves(hosts=64, **fabric):
    """Leaves of 16 hosts with one NIC each."""
    topology = {"kind": "leaf_spine", "switch_ports": 32}
    return cluster(hosts, host=ONE, topology=topology, fabric=fabric)


@pytest.fixture(scope="module")
def packets():
    return predict(cluster(), load_job(JOB), fidelity="packet")


def test_a_prediction_says_what_was_simulated(packets):
    assert packets.complete
    assert packets.provenance.engine == "packet"
    assert packets.packets.said
    assert all(line in packets.step.reasons for line in packets.packets.said)
    assert packets.packets.slow_ratio <= 1.0 <= packets.packets.fast_ratio
    assert packets.step_s.low < packets.step_s.value < packets.step_s.high


def test_the_same_is_predicted_again(packets):
    probing._shares.cache_clear()  # noqa: SLF001 - else it would only be remembered
    assert predict(cluster(), load_job(JOB), fidelity="packet") == packets


def test_what_a_fabric_keeps_falls_from_adaptive_to_hashed_to_dropped():
    """Adaptive routing keeps nearly all of a shuffled ring, a hash loses half and more."""
    found = [
        Prober().probe(leaves(load_balancing=mode), *RING).share.value
        for mode in ("adaptive", "ecmp")
    ]
    assert found[0] > 0.9
    assert found[1] < 0.6


def test_every_seed_gives_one_share_and_more_paths_spread_better():
    env = {"nccl": {"env": {"NCCL_IB_QPS_PER_CONNECTION": "8"}}}
    few = Prober().key(leaves(), *RING)[0]
    many = Prober().key(load_cluster({**_spec(), **env}), *RING)[0]
    assert (few.paths, many.paths) == (4, 32)
    assert share_of(few, 1) == share_of(few, 1) < share_of(many, 1)
    tuning = load_tuning("roce_tuned")
    spread = tuning.with_(settings=tuning.settings.with_(queue_pairs=8))
    asked = leaves()
    asked = asked.with_(fabric=asked.fabric.with_(settings=spread))
    assert Prober().key(asked, *RING)[0].paths == many.paths


def _spec():
    topology = {"kind": "leaf_spine", "switch_ports": 32}
    fabric = {"load_balancing": "ecmp"}
    return {"preset": "hgx_h100_roce", "hosts": 64, "host": ONE, "topology": topology,
            "fabric": fabric}  # fmt: skip


def test_what_is_too_large_is_carried_on_and_said(monkeypatch):
    monkeypatch.setattr(probing, "MOST_NICS", 96)
    found = Prober().probe(leaves(256), *RING)
    assert "carried on from 64 to 256 hosts" in found.said
    assert found.share.low < found.share.value <= found.share.high


def test_leaves_that_are_too_large_are_modelled_by_smaller_ones():
    model, said = model_of(cluster(256), 128)
    assert model.hosts == 64
    assert "64 NICs on leaves of 16 hosts" in said
    assert "stand for the 2048 NICs" in said


def test_fabrics_that_packets_do_not_decide_keep_their_factors():
    fabric = {"kind": "tcpx"}
    host = {"nic": "gvnic_tcpx"}
    asked = load_cluster(
        {"preset": "h100_tcp_100g", "hosts": 4, "fabric": fabric, "host": host}
    )
    found = predict(asked, load_job(JOB), fidelity="packet")
    assert found.provenance.engine == "analytic"
    assert found.step == predict(asked, load_job(JOB)).step
    assert any("bounded by what hosts copy" in a for a in found.provenance.assumptions)


def test_hosts_that_copy_are_simulated_at_the_ends_of_what_a_thread_copies():
    """One thread of 4.6 GB/s less 2,000 bytes' worth a packet of 9,000, of a 12.5 GB/s port."""
    asked = load_cluster({"preset": "h100_tcp_100g", "hosts": 4})
    group = Group(ranks=32, ranks_per_domain=8)
    found = Prober().probe(asked, Operation.ALL_REDUCE, group)
    thread = 4.6e9 / (1 + 2000 / 9000)
    assert found.share.value == pytest.approx(thread * (9090 / 9000) / 12.5e9, rel=0.03)
    assert found.share.low < found.share.value / 2 < found.share.value < found.share.high
    env = {"NCCL_SOCKET_NTHREADS": "4", "NCCL_NSOCKS_PERTHREAD": "2"}
    more = load_cluster({"preset": "h100_tcp_100g", "hosts": 4, "nccl": {"env": env}})
    assert Prober().probe(more, Operation.ALL_REDUCE, group).share.value > 0.9


def test_an_interruption_keeps_what_is_there_and_sources_the_rest(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(probing, "_probed", interrupt)
    found = predict(cluster(), load_job(JOB), fidelity="packet")
    assert not found.complete
    assert found.step.step_s == predict(cluster(), load_job(JOB)).step.step_s
    assert any("interrupted" in a for a in found.provenance.assumptions)


def test_progress_names_the_pattern_and_the_time_left():
    one = Probing(done=1, planned=4, doing="one ring of 64 hosts", elapsed_s=2.0, left_s=6.0)
    assert probe_line(one) == "pattern 2 of 4: one ring of 64 hosts, 6 s left"
    ended = Probing(done=4, planned=4, doing="", elapsed_s=8.0, left_s=0.0)
    assert probe_line(ended) == "4 of 4 patterns simulated"


def test_an_unknown_fidelity_is_refused():
    with pytest.raises(SpecError, match="analytic, flow, packet"):
        predict(cluster(), load_job(JOB), fidelity="fluid")


def test_the_command_takes_the_fidelity(tmp_path, capsys):
    file = tmp_path / "both.yaml"
    file.write_text(
        "apiVersion: weft/v1\nkind: Cluster\nspec: {preset: hgx_h100_roce, hosts: 4}\n---\n"
        "apiVersion: weft/v1\nkind: Job\n"
        "spec: {model: llama3_8b, global_batch: 32, parallelism: {sharding: zero1}}\n"
    )
    assert app.run(["predict", "-f", str(file), "--fidelity", "packet", "--full"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "packets of one ring of 4 hosts" in shown


@pytest.fixture(scope="module")
def compared():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(probing, "MOST_NICS", 16)
        patch.setattr(probing, "SEEDS", (1,))
        return _compared()


def _compared():
    return compare(cluster(), load_job(JOB), ["infiniband", "roce_tuned", "tcp"],
                   fidelity="packet")  # fmt: skip


def test_rows_say_what_was_simulated(compared):
    assert any("roce_tuned: packets of" in note for note in compared.notes)


CLAIMS = {claim.point: claim for claim in claims_of_articles()}


def test_claims_are_answered_by_packets_where_they_were_asked_for(monkeypatch):
    monkeypatch.setattr(probing, "MOST_NICS", 16)
    monkeypatch.setattr(probing, "SEEDS", (1,))
    oracle = Oracle.with_packets(Prober())
    names = ("infiniband", "roce_tuned", "tcp")
    case = Case(
        cluster=cluster(), jobs=(Weighted(job=load_job(JOB)),), years=4.0, names=names,
        oracle=oracle,
    )  # fmt: skip
    trial = Trial(case=case, break_evens={}, packets=True)
    found = {one.label: one for one in put_to_test(trial, CLAIMS["D10"]).findings}
    assert found["there are no pauses"].evidence == SIMULATED
    assert 0 < found["there are no pauses"].found.value <= 1
    assert finding(trial, CLAIMS["D11"].statements[0]).evidence == PACKETS
    few = put_to_test(trial, CLAIMS["P2"])
    assert few.outcome is Outcome.UNTESTED
    assert "too few for an incast" in few.findings[0].evidence


def test_mis_set_pauses_spread_and_hold_up_what_goes_elsewhere(monkeypatch):
    """Claims P2 and X7 on leaves of 16, the incast shorter than in earnest."""
    monkeypatch.setattr(storms, "INCAST_BYTES", 16 << 20)
    monkeypatch.setattr(storms, "SEEDS", (1,))
    row = SimpleNamespace(prediction=SimpleNamespace(cluster=leaves()))
    trial = Trial(case=SimpleNamespace(row=lambda _: row), break_evens={}, packets=True)
    spread, spikes = (put_to_test(trial, CLAIMS[point]) for point in ("P2", "X7"))
    good, bad = (storms.storm_of(trial, n) for n in ("roce_tuned", "roce_misconfigured"))
    added, layers, tail = spread.findings
    assert added.found.value == pytest.approx(bad.pauses[0] - good.pauses[0], rel=1e-2)
    assert layers.found.value == len(bad.layers) > len(good.layers)
    assert tail.found.value == pytest.approx(bad.tails[0] / good.tails[0], rel=1e-2)
    assert spread.outcome is Outcome.HOLDS
    assert spikes.outcome is Outcome.WHEN
    assert "mis-set" in spikes.condition
    assert added.evidence == tail.evidence == SIMULATED
