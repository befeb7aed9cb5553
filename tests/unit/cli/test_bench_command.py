import json
from pathlib import Path

from weft.cli import app

RUNS = Path(__file__).parents[3] / "examples" / "runs"
RUN = RUNS / "all_reduce_h100.txt"


def _cluster(folder, hosts=2):
    file = folder / "cluster.yaml"
    file.write_text(
        f"apiVersion: weft/v1\nkind: Cluster\nspec: {{preset: dgx_h100, hosts: {hosts}}}\n"
    )
    return str(file)


def test_a_healthy_run_leaves_with_0(capsys, tmp_path):
    assert app.run(["bench", "judge", str(RUN), "-f", _cluster(tmp_path)]) == 0
    assert "PASS" in capsys.readouterr().out


def test_a_slow_run_leaves_with_4_names_faults_and_draws_them(capsys, tmp_path):
    slow = RUNS / "all_reduce_h100_slow.txt"
    picture = tmp_path / "judged.svg"
    words = ["bench", "judge", str(slow), "-f", _cluster(tmp_path), "--chart", str(picture)]
    assert app.run(words) == 4
    shown = capsys.readouterr().out
    assert "What fits the shape" in shown
    assert "next:" in shown
    assert "measured" in picture.read_text()


def test_a_run_without_a_cluster_leaves_with_5_and_says_what_is_missing(capsys):
    assert app.run(["bench", "judge", str(RUN), "-o", "json"]) == 5
    document = json.loads(capsys.readouterr().out)
    assert document["outcome"] == "INCONCLUSIVE"
    assert document["unknown"]
