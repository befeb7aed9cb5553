"""`--fidelity packet`: the network's share simulated in the place of the sourced one."""

import json

import pytest

from weft.cli import app
from weft.errors import SpecError, UnknownName
from weft.network import fabric
from weft.network.fabric import find
from weft.network.network import layout
from weft.predict.collective import beside, expect
from weft.predict.packets import LEAST_SHARE, extrapolated
from weft.predict.probing import Prober
from weft.predict.simulate import simulate
from weft.results import Effect, Estimate
from weft.spec import load
from weft.spec.load import load_cluster, load_scenario, load_tuning, settings_of, tunings
from weft.traffic.collective import Group, Operation

LARGE = {"smallest_bytes": 1 << 30, "largest_bytes": 1 << 30}


CLUSTER = {
    "preset": "hgx_h100_roce",
    "host": {"server": "", "gpus": 1, "nic": "", "nics": 1, "scale_up": {"gpus": 1}},
    "topology": {"kind": "leaf_spine", "switch_ports": 32},
}


def cluster(hosts=64, **more):
    """One NIC a host under switches of 32 ports."""
    topology = {**CLUSTER["topology"], **more.pop("topology", {})}
    return load_cluster({**CLUSTER, "hosts": hosts, "topology": topology, **more})


def of_kind(kind):
    """Return fabric and host; Slingshot has no ports above 200 Gb/s."""
    rate = "200Gb/s" if kind == "slingshot" else "400Gb/s"
    return {"fabric": {"kind": kind}, "host": {**CLUSTER["host"], "nic_bytes_per_s": rate}}


def probe(asked, operation, hosts):
    return Prober().probe(asked, operation, Group(ranks=hosts, ranks_per_domain=1))


def test_oversubscribed_uplinks_keep_what_they_have_room_for():
    """A share f of an all-to-all leaves its leaf: o : 1 uplinks keep at most 1 / (o f)."""
    asked = cluster(64, topology={"oversubscription": 4.0})
    found = probe(asked, Operation.ALL_TO_ALL, 64)
    plan = layout(asked)
    far = (64 - plan.hosts_per_unit) / 63
    most = 1 / (plan.oversubscription("far") * far)
    assert 0.7 * most < found.share.value < 1.05 * most


def test_a_network_without_contention_keeps_everything():
    found = probe(cluster(16), Operation.ALL_TO_ALL, 16)
    assert found.share.value == pytest.approx(1.0, abs=0.02)
    assert "carried on" not in found.said


def with_settings(asked, **changes):
    tuning = load_tuning("roce_tuned")
    changed = tuning.with_(settings=tuning.settings.with_(**changes))
    return asked.with_(fabric=asked.fabric.with_(settings=changed))


@pytest.mark.parametrize("operation", [Operation.ALL_TO_ALL, Operation.ALL_REDUCE])
def test_queue_pairs_share_what_a_send_carries(operation):
    """On one switch nothing is in the way of one connection, nor of four."""
    found = probe(with_settings(cluster(16), queue_pairs=4), operation, 16)
    assert found.share.value == pytest.approx(1.0, abs=0.02)


def test_what_never_ends_has_kept_next_to_nothing():
    """Packets dropped where nothing asks for them again: few of the transfers end."""
    lossy = {
        "flow_control": "none", "congestion": "none", "recovery": "trim", "trimming": False,
        "queue_limit_bytes": 20_000, "knobs": {},
    }  # fmt: skip
    asked = cluster(64, topology={"oversubscription": 4.0})
    found = probe(with_settings(asked, **lossy), Operation.ALL_TO_ALL, 64)
    assert found.share.value == LEAST_SHARE


def test_what_is_too_large_is_extrapolated_with_a_band_that_grows():
    """Slowdowns of 2 and 3 go on as 4 and 5: shares of 1/2, 1/3, 1/4, 1/5."""
    third = Estimate(1 / 3, 1 / 3, 1 / 3)
    wide = extrapolated(third, 1.0, 2)
    assert wide.value == pytest.approx(1 / 5)
    assert (wide.low, wide.high) == (pytest.approx(1 / 7), 1 / 3)
    assert extrapolated(third, -0.2, 3).value == pytest.approx(1 / 3)


def test_the_share_takes_the_place_of_the_sourced_factor():
    """A balanced network is as fast as the closed form says of the NICs, and no faster."""
    asked = cluster(fabric={"kind": "roce", "load_balancing": "adaptive"})
    closed = expect(asked, "alltoall", **LARGE)
    packets = expect(asked, "alltoall", fidelity="packet", **LARGE)
    ratio = packets.points[0].time_s.value / closed.points[0].time_s.value
    assert 0.9 < ratio <= 1.0
    assert packets.provenance.engine == "packet"
    assert Effect.COLLISIONS in packets.provenance.models
    assert any("packets of one exchange of 64 hosts" in r for r in packets.points[0].reasons)
    assert not any("load balancing keeps" in a for a in packets.points[0].assumptions)


def test_one_host_has_no_network_to_simulate():
    one = load_cluster({"preset": "dgx_h100", "hosts": 1})
    closed, packets = (expect(one, fidelity=f, **LARGE) for f in ("analytic", "packet"))
    assert packets.points == closed.points


@pytest.mark.parametrize("kind", fabric.names())
def test_every_fabric_has_packet_settings_and_rdma_or_copies_simulate_a_ring(kind):
    """What hosts of other transports copy is known from runs of the library alone."""
    found = probe(cluster(4, **of_kind(kind)), Operation.ALL_REDUCE, 4)
    copies = find(kind).socket_bytes_per_s is not None
    assert (found is not None) == (find(kind).rdma or copies)
    if found is not None:
        assert (0.02 if copies else 0.5) < found.share.low <= found.share.high <= 1


def test_a_curve_and_a_step_get_the_same_share():
    """What `weft expect` and `weft predict` say of one pattern has one source."""
    asked = cluster(fabric={"kind": "roce", "load_balancing": "ecmp"})
    share = probe(asked, Operation.ALL_REDUCE, 64)
    point = expect(asked, fidelity="packet", **LARGE).points[0]
    assert share.said in point.reasons
    assert point.time_s.value > expect(asked, **LARGE).points[0].time_s.value


def test_what_was_measured_is_judged_by_the_band_that_is_shown():
    asked = cluster(fabric={"kind": "roce", "load_balancing": "ecmp"})
    shown = expect(asked, fidelity="packet", **LARGE)
    packet, plain = shown.points[0].time_s, expect(asked, **LARGE).points[0].time_s
    ends = (packet.low * 1.001, packet.high * 0.999)
    apart = next(end for end in ends if not plain.low <= end <= plain.high)
    measured = {1 << 30: apart}
    assert beside(shown, measured, fidelity="packet").measured[0].inside
    assert not beside(shown, measured).measured[0].inside


@pytest.mark.parametrize(
    ("kind", "mode"),
    [("infiniband", "static"), ("ultra_ethernet", "ecmp"), ("roce", "adaptive")],
)
def test_the_load_balancing_of_the_cluster_comes_before_that_of_its_tuning(kind, mode):
    """InfiniBand's settings have adaptive routing, Ultra Ethernet's spray."""
    asked = cluster(fabric={"kind": kind, "load_balancing": mode})
    assert settings_of(asked).balancing is None
    said = probe(asked, Operation.ALL_REDUCE, 64).said
    assert f"{kind} tuned, {mode}, " in said


@pytest.mark.parametrize("name", ["hgx_h100_roce", "dgx_h100"])
def test_a_network_far_larger_than_its_part_is_carried_on(name):
    """Half of the part fits one switch; smaller ones then stand for it, so there is a trend."""
    asked = load_cluster(
        {"preset": name, "hosts": 4096, "fabric": {"load_balancing": "adaptive"}}
    )
    found = probe(asked, Operation.ALL_REDUCE, 4096)
    assert "carried on from 128 to 4096 hosts" in found.said
    assert found.share.low <= found.share.value <= found.share.high


def beside_an_incast(kind, **network):
    """Return how much longer flows to others of the leaf take while 40 send to one port."""
    senders = [{"source": 16 + n, "target": 0, "size_bytes": "1MiB"} for n in range(40)]
    others = [{"source": 57 + n, "target": 1 + n, "size_bytes": "1MiB"} for n in range(7)]
    spec = {
        "cluster": {**CLUSTER, "hosts": 64, **of_kind(kind)},
        "traffic": [
            {"flows": {"flows": others, "begin_s": "50us"}},
            {"flows": {"flows": senders}},
        ],
        "network": network,
        "alone": True,
    }
    return simulate(load_scenario(spec)).jobs[0].slowdown_ratio.p50


@pytest.mark.parametrize("kind", ["slingshot", "scheduled_ethernet"])
def test_an_incast_leaves_others_of_its_switches_alone(kind):
    """Both fabrics hold back the senders of the busy port, and nobody else."""
    assert beside_an_incast(kind) < 1.1


@pytest.mark.parametrize("kind", ["slingshot", "scheduled_ethernet"])
def test_without_its_congestion_control_it_would_hold_them_too(kind):
    assert beside_an_incast(kind, congestion="none") > 5


def test_an_unknown_fidelity_is_refused():
    with pytest.raises(SpecError, match="analytic, flow, packet"):
        expect(cluster(), fidelity="fluid")


def test_a_fabric_without_settings_is_refused(monkeypatch):
    """No fabric of weft is; one that is added without them must not pass for another."""
    left = tuple(name for name in tunings() if name != "slingshot")
    monkeypatch.setattr(load, "tunings", lambda: left)
    with pytest.raises(UnknownName, match=r"'slingshot'; there are: .*roce_tuned"):
        settings_of(cluster(4, **of_kind("slingshot")))


def test_the_command_takes_the_fidelity(tmp_path, capsys):
    file = tmp_path / "c.yaml"
    file.write_text("apiVersion: weft/v1\nkind: Cluster\nspec: {preset: dgx_h100, hosts: 2}\n")
    words = ["expect", "-f", str(file), "-b", "1GiB", "-e", "1GiB", "--fidelity", "packet"]
    assert app.run([*words, "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["provenance"]["engine"] == "packet"
