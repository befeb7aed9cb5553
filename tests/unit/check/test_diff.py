"""What runs against what is planned."""

import pytest

from weft import api, report
from weft.check.diff import Verdict
from weft.cli import app
from weft.generate.target import render, suitable, write

CLUSTER = """\
apiVersion: weft/v1
kind: Cluster
metadata:
  name: small
spec:
  preset: hgx_h100_roce
  hosts: 4
"""
LEAF = "sonic/leaf-0000/config_db.json"


@pytest.fixture(scope="module")
def case(tmp_path_factory):
    """A cluster, its document and its render."""
    folder = tmp_path_factory.mktemp("running")
    file = folder / "cluster.yaml"
    file.write_text(CLUSTER)
    cluster = api.load_cluster(file)
    planned = api.plan(cluster)
    configuration = render(planned, suitable(planned))
    write(configuration, folder / "out")
    return cluster, file, {one.path: one.text for one in configuration.files}, folder / "out"


def _run(case, tmp_path, *names, **changes):
    cluster, _, files, _ = case
    for name in names:
        text = files[name]
        for old, new in changes.items():
            text = text.replace(*new) if old in name else text
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return api.diff(cluster, [tmp_path])


def test_what_weft_rendered_is_equal(case):
    cluster, _, _, folder = case
    result = api.diff(cluster, [folder])
    assert result.verdict is Verdict.EQUAL
    assert result.rows == ()
    assert result.equal > 1000


def test_one_number_is_one_row_with_both_values_and_the_line(case, tmp_path):
    names = (LEAF, "linux_host/weft-rdma", "nccl/nccl.conf")
    result = _run(case, tmp_path, *names, sonic=('"pfc_enable": "3"', '"pfc_enable": "4"'))
    assert result.verdict is Verdict.DIFFERENT
    row = result.rows[0]
    assert (row.device, row.setting) == ("leaf-0000", "PFC priorities")
    assert (row.planned, row.running, row.critical) == ("3", "4", True)
    assert len(row.where) > 1, "the ports that share the difference share the row"
    assert row.evidence[0].text == '"pfc_enable": "4",'
    assert row.rule == "qos_host_and_switch"
    assert row.why


def test_a_variable_that_nobody_planned_differs_from_unset(case, tmp_path):
    names = (LEAF, "linux_host/weft-rdma", "nccl/nccl.conf")
    result = _run(case, tmp_path, *names, nccl=("NCCL_IB_TC", "NCCL_ALGO=Ring\nNCCL_IB_TC"))
    extra = [row for row in result.rows if row.setting == "variable NCCL_ALGO"]
    assert extra[0].planned == "unset"
    assert result.verdict is Verdict.DIFFERENT


def test_evidence_that_is_missing_is_not_a_pass(case, tmp_path):
    result = _run(case, tmp_path, LEAF)
    assert result.verdict is Verdict.UNSEEN
    assert {row.device for row in result.rows} == {"the hosts", "the job"}
    assert all(row.critical and row.running == "not seen" for row in result.rows)


def test_the_exit_code_and_the_page_say_the_verdict(case, tmp_path, capsys):
    _, file, files, folder = case
    assert app.run(["diff", "-f", str(file), str(folder)]) == 0
    leaf = tmp_path / "config_db.json"
    leaf.write_text(files[LEAF])
    assert app.run(["diff", "-f", str(file), str(leaf)]) == 5
    leaf.write_text(files[LEAF].replace('"mtu": "9216"', '"mtu": "1500"', 1))
    capsys.readouterr()
    assert app.run(["diff", "-f", str(file), str(leaf), "--full"]) == 4
    assert "planned 9216, running 1500" in " ".join(capsys.readouterr().out.split())


def test_the_printed_state_of_a_nic_is_compared_with_the_script(case, tmp_path):
    (tmp_path / "mlnx_qos.txt").write_text(
        "DCBX mode: OS controlled\nPriority trust state: pcp\nPFC configuration:\n"
        "\tpriority    0   1   2   3   4   5   6   7\n"
        "\tenabled     0   0   0   1   0   0   0   0\n"
    )
    names = (LEAF, "linux_host/weft-rdma", "nccl/nccl.conf")
    result = _run(case, tmp_path, *names)
    wrong = [row for row in result.rows if row.verdict is Verdict.DIFFERENT]
    assert [(row.setting, row.running) for row in wrong] == [("trust the hosts", "pcp")]


def test_unreadable_input_is_refused(case, tmp_path):
    _, file, _, _ = case
    (tmp_path / "notes.txt").write_text("hello\n")
    assert app.run(["diff", "-f", str(file), str(tmp_path)]) == 3


def test_the_document_has_every_row(case, tmp_path):
    result = _run(case, tmp_path, LEAF)
    assert '"kind": "drift"' in report.show(result, "json")
