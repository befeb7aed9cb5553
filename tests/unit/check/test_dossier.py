"""The acceptance dossier: every section, fails closed, signed as OpenSSH verifies."""

import json
import shutil
import subprocess

import pytest

from weft.check.checked import Outcome
from weft.check.dossier import dossier
from weft.cli import app
from weft.emulate.bundle import emulate, files, write
from weft.errors import SpecError
from weft.generate.plan import plan
from weft.spec.load import preset

CLUSTER = preset("dgx_h100", hosts=2)
NAMES = ["host-0000", "host-0001"]
SOUND = {"layout": {"hosts": NAMES}, "outcomes": [1, 2], "named": [], "none_probability": 0.97}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    folder = tmp_path_factory.mktemp("accepted") / "bundle"
    state = emulate(plan(CLUSTER), (), hosts=2, seed=1)
    write(state, folder, asked=["subnet"])
    for seed in (2, 3):
        text = dict(files(state, seed=seed))["all_reduce.txt"]
        (folder / f"all_reduce_{seed}.txt").write_text(text)
    return folder


def _localised(folder, **changed):
    (folder / "pairs.json").write_text(json.dumps(SOUND | changed))
    return folder / "pairs.json"


def _outcomes(result):
    return {one.section: one.outcome.value for one in result.sections}


def _copy(bundle, tmp_path):
    return shutil.copytree(bundle, tmp_path / "copy")


def test_a_cluster_with_all_evidence_is_accepted(bundle, tmp_path):
    result = dossier([bundle], CLUSTER, written="now", localised=_localised(tmp_path))
    assert set(_outcomes(result).values()) == {"PASS"}, result.sections
    assert (result.outcome, result.exit_code) == (Outcome.PASS, 0)
    assert {one.runs for one in result.speeds} == {3}
    assert {one.hosts for one in result.speeds} == {2}
    assert all(one.spread_ratio < 0.1 for one in result.speeds)


@pytest.mark.parametrize(
    ("changed", "outcome", "said"),
    [
        ({"named": ["host-0001"]}, "FAIL", "host-0001 is slow"),
        ({"none_probability": 0.8}, "NOT MEASURED", "not settled"),
        ({"layout": {"hosts": NAMES[:1]}}, "NOT MEASURED", "1 of 2 hosts"),
    ],
)
def test_what_localisation_leaves_open_does_not_pass(changed, outcome, said, bundle, tmp_path):
    result = dossier([bundle], CLUSTER, written="", localised=_localised(tmp_path, **changed))
    (section,) = (one for one in result.sections if one.section == "localisation")
    assert section.outcome.value == outcome
    assert said in section.reason
    assert result.exit_code != 0


def test_without_runs_or_localisation_nothing_passes_by_silence(bundle, tmp_path):
    copy = _copy(bundle, tmp_path)
    for path in copy.glob("all_reduce*.txt"):
        path.unlink()
    result = dossier([copy], CLUSTER, written="")
    assert _outcomes(result) | {"checklist": ""} == {
        "checklist": "", "speed": "NOT MEASURED", "repeats": "NOT MEASURED",
        "localisation": "NOT MEASURED",
    }  # fmt: skip
    assert result.exit_code == 5


def test_a_slow_run_fails_against_the_model_and_does_not_repeat(bundle, tmp_path):
    copy = _copy(bundle, tmp_path)
    slow = emulate(plan(CLUSTER), ["port-half"], hosts=2, seed=1)
    (copy / "all_reduce_2.txt").write_text(dict(files(slow, seed=2))["all_reduce.txt"])
    found = _outcomes(dossier([copy], CLUSTER, written="", localised=_localised(tmp_path)))
    assert (found["speed"], found["repeats"]) == ("FAIL", "FAIL")


def test_copies_of_a_run_are_one_run(bundle, tmp_path):
    copy = _copy(bundle, tmp_path)
    for number in (2, 3):
        shutil.copy(copy / "all_reduce.txt", copy / f"all_reduce_{number}.txt")
    found = dossier([copy], CLUSTER, written="", localised=_localised(tmp_path))
    assert {one.runs for one in found.speeds} == {1}
    assert _outcomes(found)["repeats"] == "NOT MEASURED"


def test_runs_over_fewer_hosts_are_judged_by_what_so_many_hosts_should_do(bundle, tmp_path):
    """Each number of hosts has its own band, and only the largest runs are to repeat."""
    copy = _copy(bundle, tmp_path)
    larger = preset("dgx_h100", hosts=8)
    healthy = emulate(plan(larger), (), hosts=8, seed=1)
    for seed in (4, 5, 6):
        text = dict(files(healthy, seed=seed))["all_reduce.txt"]
        (copy / f"all_reduce_{seed}.txt").write_text(text)
    found = dossier([copy], larger, written="", localised=_localised(tmp_path))
    assert {one.hosts for one in found.speeds} == {2, 8}
    assert {_outcomes(found)[name] for name in ("speed", "repeats")} == {"PASS"}


def test_a_run_over_a_part_of_the_hosts_accepts_no_cluster(bundle, tmp_path):
    larger = preset("dgx_h100", hosts=3)
    found = _outcomes(dossier([bundle], larger, written="", localised=_localised(tmp_path)))
    assert found["speed"] == "NOT MEASURED"


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        json.dumps(SOUND | {"layout": {"hosts": "ab"}}),
        json.dumps(SOUND | {"named": ""}),
    ],
)
def test_what_is_no_localisation_is_refused(text, bundle, tmp_path):
    (tmp_path / "pairs.json").write_text(text)
    with pytest.raises(SpecError, match="is not a result of weft bench localise"):
        dossier([bundle], CLUSTER, written="", localised=tmp_path / "pairs.json")


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
def test_openssh_verifies_the_signature_and_refuses_a_changed_file(bundle, tmp_path):
    key, file = tmp_path / "key", tmp_path / "accepted.html"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    words = ["check", str(bundle), "--preset", "dgx_h100", "--hosts", "2", "--quiet"]
    more = [
        "--dossier",
        str(file),
        "--localised",
        str(_localised(tmp_path)),
        "--sign",
        str(key),
    ]
    assert app.run([*words, *more]) == 0
    text = file.read_text()
    assert "Acceptance of" in text
    assert '"kind": "dossier"' in text
    signers = tmp_path / "signers"
    signers.write_text(f"me@example.com {key.with_suffix('.pub').read_text()}")
    assert _verified(file, signers, text)
    assert not _verified(file, signers, text.replace("PASS", "FAIL", 1))


def _verified(file, signers, text):
    who = ["-f", str(signers), "-I", "me@example.com", "-n", "weft"]
    words = ["ssh-keygen", "-Y", "verify", *who, "-s", f"{file}.sig"]
    done = subprocess.run(words, input=text.encode(), capture_output=True, check=False)
    return done.returncode == 0


def test_a_key_that_cannot_sign_is_named(bundle, tmp_path, capsys):
    words = ["check", str(bundle), "--preset", "dgx_h100", "--hosts", "2", "--quiet"]
    file = str(tmp_path / "d.html")
    assert app.run([*words, "--dossier", file, "--sign", str(tmp_path / "none")]) == 2
    assert "is written and not signed" in capsys.readouterr().err
    assert app.run([*words, "--sign", "key"]) == 2
    assert app.run([*words, "--gate", "--dossier", file]) == 2
