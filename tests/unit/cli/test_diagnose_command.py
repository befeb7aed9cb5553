import json
from pathlib import Path

from weft.cli import app

SAMPLES = Path(__file__).parents[2] / "samples" / "rules"


def test_a_fault_leaves_with_4_and_is_told_with_its_line_and_price(capsys):
    log = SAMPLES / "link_degraded" / "fires" / "ibportstate.txt"
    assert app.run(["diagnose", str(log)]) == 4
    shown = capsys.readouterr().out
    assert "ib-link-degraded-width" in shown
    assert "ibportstate.txt:" in shown
    assert "a default job" in shown


def test_a_sound_case_leaves_with_0(capsys):
    assert app.run(["diagnose", str(SAMPLES / "duplicate_gpu" / "silent")]) == 0
    assert "No problem found in 1 file" in capsys.readouterr().out


def test_a_weak_suspicion_is_no_all_clear(capsys, tmp_path):
    log = tmp_path / "lspci.txt"
    log.write_text("0000:15:01.0: ACSCtl: SrcValid+ ReqRedir+ CmpltRedir+ UpstreamFwd+\n")
    assert app.run(["diagnose", str(log)]) == 0
    shown = capsys.readouterr().out
    assert "pcie-acs-enabled" in shown
    assert "Possible problem" in shown
    assert app.run(["diagnose", str(log), "--strict"]) == 4


def test_what_the_evidence_cannot_tell_leaves_with_5_and_questions(capsys):
    log = SAMPLES / "transport_retry" / "fires" / "nccl.log"
    assert app.run(["diagnose", str(log)]) == 5
    shown = capsys.readouterr().out
    assert "Cannot tell; suspected" in shown
    assert "peer-process-died" in shown


def test_the_price_is_for_the_job_given(capsys, tmp_path):
    case = tmp_path / "case.yaml"
    case.write_text(
        "apiVersion: weft/v1\nkind: Cluster\nspec: {preset: dgx_h100, hosts: 4}\n---\n"
        "apiVersion: weft/v1\nkind: Job\nspec: {model: llama3_8b, global_batch: 128}\n"
    )
    log = SAMPLES / "sockets_in_place_of_rdma" / "fires_without_node"
    assert app.run(["diagnose", str(log), "-f", str(case), "-o", "json"]) == 4
    document = json.loads(capsys.readouterr().out)
    price = document["findings"][0]["price"]
    assert price["stated"] is True
    assert price["gpus"] == 32
    assert price["step_ratio"]["value"] > 0


def test_the_doctor_is_scored_from_the_command_line(capsys, tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "x.txt").write_text("NVRM: Xid (PCI:0000:3b:00): 79, off the bus\n")
    (tmp_path / "one" / "case.json").write_text(
        '{"id": "one", "cause_class": "gpu-xid-off-the-bus", "files": ["x.txt"]}'
    )
    assert app.run(["accuracy", "--doctor", str(tmp_path), "-o", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["first_ratio"] == 1.0
    assert document["cases"][0]["ranked"] == ["gpu-xid-off-the-bus"]
    assert app.run(["accuracy", "--doctor", str(tmp_path)]) == 0
    assert "How often the doctor is right" in capsys.readouterr().out


def test_a_path_that_is_not_there_is_said(capsys):
    assert app.run(["diagnose", "/nowhere/at/all"]) == 3
    assert "/nowhere/at/all" in capsys.readouterr().err


def test_lines_that_complain_and_are_not_understood_are_shown_where_no_cause_is_named(
    tmp_path, capsys
):
    log = tmp_path / "run.log"
    log.write_text("step 1 of 3\nfrobnicate: fatal: the widget could not be opened\nstep 2\n")
    app.run(["diagnose", str(log), "--full"])
    shown = capsys.readouterr().out
    assert "run.log:2: frobnicate: fatal: the widget could not be opened" in shown
    assert "step 2" not in shown


def test_no_problem_found_lists_what_was_not_checked(tmp_path, capsys):
    log = tmp_path / "nccl.log"
    log.write_text("n1:10:11 [0] NCCL INFO Using network IB\n")
    assert app.run(["diagnose", str(log)]) == 0
    assert "Not checked (no data): links of adapters" in capsys.readouterr().out
