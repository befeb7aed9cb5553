"""Jobs placed on links: closed forms of what they share, and what placements keep apart."""

import json

import numpy as np
import pytest

from weft.cli import app
from weft.errors import Infeasible, SpecError
from weft.network.network import graph
from weft.predict import placement
from weft.predict.probing import SEEDS
from weft.predict.replay import replay
from weft.readers.trace import read_job
from weft.spec.load import load_cluster
from weft.traffic.collective import Group, Operation
from written_traces import COLLECTIVE, chakra, node

SIZE = 1 << 28
COMPUTE_S = 700e-6


def leaves(oversubscription):
    """Four leaves of 8 hosts with one GPU and one NIC each, uplinks evenly loaded."""
    return load_cluster({
        "preset": "hgx_h100_roce", "hosts": 32,
        "host": {"gpus": 1, "nics": 1, "server": "", "scale_up": {"gpus": 1}},
        "topology": {"kind": "leaf_spine", "oversubscription": oversubscription,
                     "switch_ports": 16 if oversubscription == 1 else 9},
        "fabric": {"load_balancing": "adaptive"},
    })  # fmt: skip


def job(folder, kind=0):
    """Write a job that computes and then reduces over all of its ranks."""
    folder.mkdir(exist_ok=True)
    nodes = [node(0, micros=700), node(1, COLLECTIVE, [0], comm_type=kind, comm_size=SIZE)]
    (folder / "a.0.et").write_bytes(chakra(nodes))
    return read_job([folder])


def parts(cluster, ranks):
    """Return what of the collective no link changes, and its time at line rate."""
    group = Group(ranks=ranks, ranks_per_domain=1)
    return placement.parts_of(cluster, Operation.ALL_REDUCE, float(SIZE), group)


def placed(monkeypatch, *hosts):
    """Put jobs on hosts of a test's choice, as a placement called chosen."""
    chosen = [np.array(one) for one in hosts]
    monkeypatch.setitem(placement.PLACEMENTS, "chosen", lambda *_: chosen)


def steps(cluster, jobs, names, ranks):
    found = replay(jobs, cluster, fidelity="flow", placements=names, ranks=ranks)
    return found.placements


def test_without_shared_links_flows_give_the_closed_form(tmp_path):
    cluster = load_cluster({"preset": "hgx_h100_roce", "hosts": 4})
    jobs = {"job": job(tmp_path / "a")}
    flow = replay(jobs, cluster, fidelity="flow", ranks=32).jobs[0]
    closed = replay(jobs, cluster, ranks=32).jobs[0]
    assert flow.step_s.value == pytest.approx(closed.step_s.value, rel=1e-9)
    assert flow.exposed_s == pytest.approx(closed.exposed_s, rel=1e-9)


def test_hops_that_cross_a_leaf_share_its_uplinks(tmp_path):
    """T = compute + fixed + wire * (hops that leave the fullest leaf) / (uplinks of it)."""
    cluster = leaves(8)
    assert graph(cluster).first[1] - graph(cluster).first[0] == 4
    fixed, wire = parts(cluster, 16)
    expected = []
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        (hosts,) = placement.PLACEMENTS["scattered"](graph(cluster), [16], rng)
        leaf = hosts // 8
        crossing = np.bincount(leaf[leaf != np.roll(leaf, -1)])
        expected.append(COMPUTE_S + fixed + wire * max(1, crossing.max()))
    (found,) = steps(cluster, {"job": job(tmp_path / "a")}, ["scattered"], 16)
    step = found.step_s[0]
    assert [step.low, step.value, step.high] == pytest.approx(sorted(expected), rel=1e-9)
    assert step.value > COMPUTE_S + fixed + 2 * wire


def test_two_jobs_on_one_uplink_take_half_of_it_each(tmp_path, monkeypatch):
    cluster = leaves(8)
    fixed, wire = parts(cluster, 2)
    jobs = {name: job(tmp_path / name) for name in "ab"}
    placed(monkeypatch, [0, 8], [1, 9])
    (shared,) = steps(cluster, jobs, ["chosen"], 2)
    for step, alone in zip(shared.step_s, shared.alone_s, strict=True):
        assert alone.value == pytest.approx(COMPUTE_S + fixed + wire, rel=1e-9)
        assert step.value == pytest.approx(COMPUTE_S + fixed + 2 * wire, rel=1e-9)
    placed(monkeypatch, [0, 8], [17, 25])
    (apart,) = steps(cluster, jobs, ["chosen"], 2)
    assert [one.value for one in apart.step_s] == [one.value for one in apart.alone_s]


def test_a_short_job_repeats_beside_a_long_one(tmp_path, monkeypatch):
    cluster = leaves(8)
    long = tmp_path / "long"
    long.mkdir()
    nodes = [node(0, COLLECTIVE, comm_type=0, comm_size=SIZE, comm_tag=0)]
    nodes += [node(at, COLLECTIVE, [at - 1], comm_type=0, comm_size=SIZE) for at in range(1, 6)]
    (long / "a.0.et").write_bytes(chakra(nodes))
    jobs = {"short": job(tmp_path / "short"), "long": read_job([long])}
    placed(monkeypatch, [0, 8], [1, 9])
    (found,) = steps(cluster, jobs, ["chosen"], 2)
    fixed, wire = parts(cluster, 2)
    # The long one shares its uplink all the time but while the short one computes.
    assert found.step_s[1].value > 6 * fixed + 8 * wire
    assert found.step_s[0].value > COMPUTE_S + fixed + 1.5 * wire


def test_by_topology_keeps_jobs_within_leaves_and_never_loses(tmp_path):
    cluster = leaves(8)
    need = [6, 8, 5, 3]
    hosts = placement.PLACEMENTS["by-topology"](graph(cluster), need, np.random.default_rng(0))
    assert [len(one) for one in hosts] == need
    assert len({int(host) for one in hosts for host in one}) == sum(need)
    assert all(len(set((one // 8).tolist())) == 1 for one in hosts)
    jobs = {name: job(tmp_path / name) for name in "abc"}
    found = steps(cluster, jobs, ["scattered", "by-topology"], 8)
    for at in range(3):
        scattered, near = found[0].step_s[at], found[1].step_s[at]
        assert near.value == pytest.approx(found[1].alone_s[at].value)
        assert near.value < scattered.low
        assert found[1].gain_ratio[at] == pytest.approx(1 - near.value / scattered.value)


def test_crossed_rails_pay_where_rails_have_leaves_of_their_own(tmp_path):
    """Without a crossing a ring of one NIC a host stays in the leaf of its rail."""
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "b.json").write_text(json.dumps({"dp": list(range(0, 512, 8))}))
    nodes = [node(1, COLLECTIVE, comm_type=0, comm_size=SIZE, pg_name="dp")]
    (folder / "a.0.et").write_bytes(chakra(nodes))
    jobs = {"job": read_job([folder])}
    cluster = load_cluster(
        {"preset": "hgx_h100_roce", "hosts": 64, "topology": {"oversubscription": 3}}
    )
    found = steps(cluster, jobs, ["packed", "crossed-rails"], 512)
    assert found[1].step_s[0].value > 2 * found[0].step_s[0].value


def test_unknown_placements_and_too_few_hosts_are_refused(tmp_path, capsys):
    jobs = {name: job(tmp_path / name) for name in "ab"}
    with pytest.raises(SpecError, match="did you mean"):
        steps(leaves(1), jobs, ["pakced"], 8)
    with pytest.raises(Infeasible, match=r"need 40 hosts .* has 32"):
        steps(leaves(1), jobs, ["packed"], 20)
    words = [
        "replay",
        str(tmp_path / "a"),
        "--preset",
        "dgx_h100",
        "--hosts",
        "2",
        "--ranks",
        "8",
    ]
    assert app.run([*words, "--placement", "packed"]) == 2
    assert "--fidelity flow" in capsys.readouterr().err
    assert app.run([*words, "--fidelity", "packet"]) == 2
