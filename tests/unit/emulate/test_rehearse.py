"""A game day: weft injects, somebody names, weft scores."""

import json

import pytest

from weft.cli import app
from weft.emulate.rehearse import score
from weft.errors import SpecError, Unreadable

INJECTED = [
    {"fault": "port-down", "host": "host-0007", "number": 2, "device": "mlx5_4",
     "causes": ["ib-port-down"]},
    {"fault": "gpudirect-off", "host": "host-0009", "number": 5, "device": "",
     "causes": ["gdr-peermem-not-loaded"]},
]  # fmt: skip


@pytest.mark.parametrize(
    ("named", "right", "extra"),
    [
        (["port-down@host-0007/2", "gpudirect-off@host-0009"], [(1, 1, 1), (1, 1, 1)], 0),
        (["gdr-peermem-not-loaded@host-0009", "ib-port-down@host-0007/mlx5_4"],
         [(1, 1, 1), (1, 1, 1)], 0),
        (["port-down@host-0007/3"], [(1, 1, 0), (0, 0, 0)], 0),
        (["link-flap@host-0007/rail2"], [(0, 1, 1), (0, 0, 0)], 0),
        (["port-down@host-0007/2", "pause-storm@host-0001/0"], [(1, 1, 1), (0, 0, 0)], 1),
        ([], [(0, 0, 0), (0, 0, 0)], 0),
    ],
)  # fmt: skip
def test_each_fault_is_scored_by_its_best_name(named, right, extra, tmp_path):
    (tmp_path / "answer.json").write_text(json.dumps(INJECTED))
    found = score(tmp_path / "answer.json", named)
    assert [(one.kind_named, one.host_named, one.part_named) for one in found.faults] == right
    assert len(found.extra) == extra
    assert found.is_right == (extra == 0 and all(map(all, right)))


def test_a_rehearsal_from_injection_to_score(tmp_path, capsys):
    kept = tmp_path / "answer.json"
    words = ["emulate", "--preset", "dgx_h100", "--hosts", "64", "--fault", "any"]
    assert app.run([*words, "--out", str(tmp_path / "b"), "--answer", str(kept)]) == 0
    assert "--score" in capsys.readouterr().out
    (row,) = json.loads(kept.read_text())
    place = f"{row['fault']}@{row['host']}/{row['number']}"
    assert app.run(["emulate", "--score", str(kept), "--named", place]) == 0
    assert "1 of 1 faults named" in capsys.readouterr().out
    assert app.run(["emulate", "--score", str(kept), "--named", "port-down@nowhere"]) == 4
    assert app.run(["emulate", "--score", str(kept), "--named", "port-dwn@nowhere"]) == 2
    assert "did you mean 'port-down'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "is not JSON"), ("[1]", "is not an answer"), ("{}", "is not an answer")],
)
def test_a_file_that_is_no_answer_is_refused(text, said, tmp_path):
    (tmp_path / "answer.json").write_text(text)
    with pytest.raises(SpecError, match=said):
        score(tmp_path / "answer.json", [])
    with pytest.raises(Unreadable):
        score(tmp_path / "nothing.json", [])
