"""Emulated outputs: the readers read back what the state says, and the doctor finds faults."""

import json
from pathlib import Path

import pytest

from weft.check.checked import Outcome, check
from weft.cli import app
from weft.doctor.cause import causes
from weft.doctor.diagnose import diagnose
from weft.doctor.verdict import Verdict
from weft.emulate.bundle import answer, emulate, files, write
from weft.emulate.metrics import Timeline
from weft.emulate.state import faults, suitable
from weft.errors import SpecError, UnknownName, Unreadable
from weft.expectations.expectation import expectations
from weft.generate.plan import plan
from weft.inventory.entity import Entity
from weft.readers.read import read
from weft.spec.load import preset

CLUSTERS = {
    "infiniband": preset("dgx_h100", hosts=64), "roce": preset("hgx_h100_roce", hosts=64),
}  # fmt: skip
UNSURE = {"receive-overrun", "adapters-hidden", "retry-exceeded", "nccl-differs", "mtu-small"}
"""Faults whose outputs point to several causes, none of them with half of the probability."""


def _bundle(kind, folder, *words, seed=1, hosts=4):
    state = emulate(plan(CLUSTERS[kind]), words, seed=seed, hosts=hosts)
    write(state, folder / "bundle", seed=seed)
    return state, folder / "bundle"


@pytest.mark.parametrize("kind", CLUSTERS)
def test_the_readers_read_what_the_state_says(kind, tmp_path):
    state, folder = _bundle(kind, tmp_path, "port-half", "gpu-hot", "firmware-old")
    inventory = read(folder)
    for host in state.hosts:
        assert inventory.value(Entity("host", (host.name,)), "driver") == host.values[
            "host.driver"
        ]  # fmt: skip
        for rail in host.rails:
            name = rail.device
            port = Entity("port", (host.name, name, "1"))
            assert inventory.value(port, "state") == rail.values["port.state"]
            assert inventory.value(port, "rate") == 50e9 * rail.values["port.rate_ratio"]
            assert inventory.value(port, "mtu") == rail.values["port.mtu"]
            assert inventory.increase(port, "link_downed") == 0
            adapter = Entity("adapter", (host.name, name))
            assert inventory.value(adapter, "firmware") == rail.values["adapter.firmware"]
            if kind == "roce":
                interface = Entity("interface", (host.name, f"rail{rail.number}"))
                assert inventory.value(interface, "mtu") == rail.values["interface.mtu"]
                flags = tuple(rail.values["interface.pfc"].split())
                assert inventory.value(interface, "pfc") == flags
    assert not any(one.skipped for one in inventory.files)


@pytest.mark.parametrize("kind", CLUSTERS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_healthy_fabric_has_no_problem_and_passes_what_it_measures(kind, seed, tmp_path):
    _, folder = _bundle(kind, tmp_path, seed=seed)
    assert diagnose([folder], CLUSTERS[kind]).verdict is Verdict.NONE
    assert not [one for one in check([folder], CLUSTERS[kind]).items
                if one.outcome is Outcome.FAIL]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", CLUSTERS)
@pytest.mark.parametrize("name", sorted(faults()))
def test_every_fault_is_found_where_it_was_injected(kind, name, tmp_path):
    if kind not in faults()[name].fabrics:
        pytest.skip(f"{name} is no fault of {kind}")
    state, folder = _bundle(kind, tmp_path, name)
    (injected,) = state.injected
    found = diagnose([folder], CLUSTERS[kind])
    assert found.verdict is not Verdict.NONE
    right = [one for one in found.findings if one.cause in injected.fault.cause]
    assert right, [one.cause for one in found.findings]
    if name not in UNSURE:
        assert right[0].probability_ratio >= 0.5
    text = repr(right[0])
    assert injected.host in text


def test_there_are_at_least_forty_kinds_and_every_cause_exists():
    known = {one.name for one in causes()} | {one.attribute for one in expectations()}
    assert len(faults()) >= 40
    for fault in faults().values():
        assert {*fault.cause} <= known, fault.name
    for kind in CLUSTERS:
        assert len(list(suitable(kind))) >= 30


def test_the_same_words_and_seed_give_the_same_bytes():
    made = plan(CLUSTERS["roce"])
    one, two = (dict(files(emulate(made, ["link-flap"], seed=5), seed=5)) for _ in range(2))
    assert one == two
    assert one != dict(files(emulate(made, ["link-flap"], seed=6), seed=6))


def test_a_slow_rail_slows_the_benchmark_as_the_model_says():
    def peak(*words):
        state = emulate(plan(CLUSTERS["infiniband"]), words, seed=1)
        rows = [row.split() for row in dict(files(state, seed=1))["all_reduce.txt"].splitlines()
                if row.strip()[:1].isdigit()]  # fmt: skip
        return float(rows[-1][7])

    assert peak("port-half") < 0.7 * peak()


def test_metrics_have_the_names_of_exporters():
    state = emulate(plan(CLUSTERS["roce"]), ["port-down"], seed=1)
    down = state.injected[0]
    host = next(one for one in state.hosts if one.name == down.host)
    timeline = Timeline(healthy=state, faulty=state)
    text = timeline.metrics_text(state.hosts.index(host), 60)
    label = f'{{device="{down.device}",port="1"}}'
    assert f"node_infiniband_state_id{label} 1\n" in text
    assert text.count("node_infiniband_state_id{") == 8


def _shown(text, name, labels):
    (line,) = (one for one in text.splitlines() if one.startswith(f"{name}{{{labels}}} "))
    return float(line.rpartition(" ")[2])


def test_a_fault_shows_from_its_begin_to_its_end_and_counters_never_fall():
    made = plan(CLUSTERS["roce"])
    host = emulate(made, (), seed=1).hosts[1].name
    words = [f"port-down@{host}/2", f"crc-errors@{host}/2", f"gpu-off-the-bus@{host}/5"]
    timeline = Timeline(healthy=emulate(made, (), seed=1),
                        faulty=emulate(made, words, seed=1), at_s=100, until_s=160)  # fmt: skip
    texts = [timeline.metrics_text(1, now_s) for now_s in (0, 99, 100, 159, 160, 1000)]
    port, rail = 'device="mlx5_2",port="1"', 'device="rail2"'
    assert [_shown(one, "node_infiniband_state_id", port) for one in texts] == [
        4,
        4,
        1,
        1,
        4,
        4,
    ]
    assert [_shown(one, "DCGM_FI_DEV_XID_ERRORS", 'gpu="5"') for one in texts] == [
        0, 0, 79, 79, 0, 0]  # fmt: skip
    errors = [_shown(one, "node_ethtool_received_crc_errors_phy", rail) for one in texts]
    assert errors == [0, 0, 0, 40 * 59, 40 * 60, 40 * 60]


@pytest.mark.parametrize("times", [(-1, 5), (5, 5), (9, 3)])
def test_a_time_that_ends_before_it_begins_is_refused(times):
    state = emulate(plan(CLUSTERS["roce"]), (), seed=1)
    with pytest.raises(SpecError, match="end after they begin"):
        Timeline(healthy=state, faulty=state, at_s=times[0], until_s=times[1])


def test_states_of_other_hosts_make_no_timeline():
    made = plan(CLUSTERS["roce"])
    with pytest.raises(SpecError, match="use the same seed"):
        Timeline(healthy=emulate(made, (), seed=1), faulty=emulate(made, (), seed=2))


@pytest.mark.parametrize(
    ("word", "error", "said"),
    [
        ("port-dwn", UnknownName, "did you mean 'port-down'"),
        ("symbol-errors", SpecError, "is a fault of infiniband"),
        ("port-down@host-9999/1", SpecError, "hosts collected: host-"),
        ("port-down@{host}/8", SpecError, "has no port 8; it has 0 to 7"),
    ],
)
def test_a_fault_that_cannot_be_is_refused(word, error, said):
    made = plan(CLUSTERS["roce"])
    host = emulate(made, (), seed=1).hosts[0].name
    with pytest.raises(error, match=said):
        emulate(made, [word.format(host=host)], seed=1)


def test_other_fabrics_and_full_folders_are_refused(tmp_path):
    with pytest.raises(SpecError, match="InfiniBand and RoCE can be emulated"):
        emulate(plan(preset("h100_tcp_100g", hosts=4)), ())
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "mine").write_text("kept")
    with pytest.raises(Unreadable, match="is not empty"):
        _bundle("roce", tmp_path)
    assert [one.name for one in (tmp_path / "bundle").iterdir()] == ["mine"]


def test_the_answer_of_a_rehearsal_is_in_its_file_alone(tmp_path, capsys):
    out, kept = tmp_path / "incident", tmp_path / "answer.json"
    words = ["emulate", "--preset", "dgx_h100", "--hosts", "64", "--fault", "port-down"]
    assert app.run([*words, "--out", str(out), "--answer", str(kept)]) == 0
    assert "port-down" not in capsys.readouterr().out
    (told,) = json.loads(kept.read_text())
    assert told["fault"] == "port-down"
    assert app.run(["diagnose", str(out), "--preset", "dgx_h100", "--hosts", "64"]) == 4
    assert told["device"] in capsys.readouterr().out
    assert json.loads(answer(emulate(plan(CLUSTERS["roce"]), ()))) == []
    assert Path(out / "nccl.log").is_file()
