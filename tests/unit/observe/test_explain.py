"""What was understood of a file, as it is shown."""

import json

from weft.cli.app import run
from weft.observe.explain import explain

TOPOLOGY = """\
\tGPU0\tGPU1\tNIC0\tCPU Affinity\tNUMA Affinity
GPU0\t X \tNV18\tPIX\t0-55\t0
GPU1\tNV18\t X \tSYS\t56-111\t1
NIC0\tPIX\tSYS\t X
n1:1:2 [0] NCCL INFO Channel 00/02 : 0 1 2 3
n1:1:2 [0] NCCL INFO Channel 01/02 : 0 1 2 3
something else
"""


def test_facts_are_told_without_what_their_line_did_not_say(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("link mlx5_0/1 state DOWN physical_state POLLING\n")
    (fact,) = explain(path).facts
    says = {"adapter": "mlx5_0", "port": 1, "state": "down", "physical_state": "polling"}
    assert (fact.kind, fact.line, dict(fact.says)) == ("AdapterPort", 1, says)


def test_explain_draws_distances_and_rings_and_lists_unread_lines(tmp_path, capsys):
    path = tmp_path / "mixed.txt"
    path.write_text(TOPOLOGY)
    assert run(["explain", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "channels 0, 1: 0 → 1 → 2 → 3 → 0" in shown
    assert "mixed.txt:7: something else" in shown
    assert "NV18" in shown


def test_explain_as_json_names_the_kind_of_every_fact(tmp_path, capsys):
    path = tmp_path / "mixed.txt"
    path.write_text(TOPOLOGY)
    assert run(["explain", str(path), "-o", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {fact["kind"] for fact in told["facts"]} == {"Distance", "NumaAffinity", "RingSeen"}


RINGS = """\
gpu-a01:10:10 [0] NCCL INFO comm 0x1 rank 0 nranks 4 cudaDev 0 busId 1b000 - Init COMPLETE
gpu-a01:11:11 [1] NCCL INFO comm 0x1 rank 1 nranks 4 cudaDev 1 busId 1c000 - Init COMPLETE
gpu-a02:12:12 [0] NCCL INFO comm 0x1 rank 2 nranks 4 cudaDev 0 busId 1b000 - Init COMPLETE
gpu-a02:13:13 [1] NCCL INFO comm 0x1 rank 3 nranks 4 cudaDev 1 busId 1c000 - Init COMPLETE
gpu-a01:10:10 [0] NCCL INFO Channel 00/02 :    0   1   2   3
gpu-a01:10:10 [0] NCCL INFO Channel 01/02 :    0   1   2   3
gpu-a01:11:11 [1] NCCL INFO Channel 00/0 : 1[1] -> 2[0] [send] via NET/IB/0/GDRDMA
gpu-a02:13:13 [1] NCCL INFO Channel 00/0 : 3[1] -> 0[0] [send] via NET/IB/1/GDRDMA
"""


def test_rings_are_drawn_over_hosts_and_rails_where_both_are_known(tmp_path, capsys):
    path = tmp_path / "nccl.log"
    path.write_text(RINGS)
    assert run(["explain", str(path)]) == 0
    told = capsys.readouterr().out
    assert "channels 0, 1: gpu-a01 [0 1] =NET 0=> gpu-a02 [2 3] =NET 1=> gpu-a01" in told


def test_of_many_files_those_are_shown_that_were_read_least(tmp_path, capsys):
    for number in range(70):
        (tmp_path / f"good_{number}.txt").write_text("nvidia_peermem 16384 0\n")
    (tmp_path / "zz.txt").write_text("nothing a tool prints\n")
    assert run(["explain", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "zz.txt" in told
    assert "11 more, read at least as well as these" in told


def test_keys_answers_and_rates_are_shown_as_people_write_them(tmp_path, capsys):
    path = tmp_path / "mixed.txt"
    path.write_text("pkeys/0: 0x7fff\nlink mlx5_0/1 state DOWN physical_state POLLING\n")
    assert run(["explain", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "0x7fff" in shown
    assert "32767" not in shown
    assert " no " in shown
    assert "False" not in shown


def test_parts_of_several_values_are_named_and_not_written_as_code(tmp_path):
    path = tmp_path / "run.txt"
    path.write_text("# nThread 1 nGpus 1 minBytes 8 maxBytes 1024 step: 2(factor)\n")
    (fact,) = explain(path).facts
    assert str(fact.says["options"]).startswith("nThread=1 nGpus=1 minBytes=8")


def test_columns_of_a_matrix_stand_in_the_order_of_its_rows(tmp_path, capsys):
    path = tmp_path / "mixed.txt"
    path.write_text(TOPOLOGY)
    assert run(["explain", str(path)]) == 0
    heading = next(line for line in capsys.readouterr().out.splitlines() if "NIC0" in line)
    assert heading.split() == ["GPU0", "GPU1", "NIC0"]
