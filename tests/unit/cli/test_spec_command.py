"""`weft spec` and `weft init`, as they are typed."""

import io
import json
import os
import stat

import pytest

from weft.cli import app
from weft.spec.load import load_case

CLUSTER = (
    "apiVersion: weft/v1\nkind: Cluster\nmetadata: {name: mine}\n"
    "spec: {preset: dgx_h100, hosts: 2}\n"
)
JOB = (
    "apiVersion: weft/v1\nkind: Job\nmetadata: {name: mine}\n"
    "spec: {model: llama3_8b, global_batch: 64, parallelism: {tp: 2, dp: 8}}\n"
)


@pytest.fixture
def files(tmp_path):
    paths = tmp_path / "cluster.yaml", tmp_path / "job.yaml"
    for path, text in zip(paths, (CLUSTER, JOB), strict=True):
        path.write_text(text)
    return [str(path) for path in paths]


def test_valid_documents_are_named_and_exit_with_0(files, capsys):
    assert app.run(["spec", "validate", *files]) == 0
    assert "Job mine is valid" in capsys.readouterr().out
    assert app.run(["spec", "validate", "-o", "json", *files]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [document["kind"] for document in told["documents"]] == ["Cluster", "Job"]


def test_a_job_is_checked_against_the_cluster_beside_it(files, tmp_path, capsys):
    (tmp_path / "job.yaml").write_text(JOB.replace("dp: 8", "dp: 4"))
    assert app.run(["spec", "validate", files[1]]) == 0
    assert app.run(["spec", "validate", *files]) == 2
    assert "parallelism.dp: value 4: must be 8" in capsys.readouterr().err


def test_mistakes_of_all_files_are_told_at_once(files, tmp_path, capsys):
    for path, text in zip(files, (CLUSTER, JOB), strict=True):
        (tmp_path / path).write_text(text.replace(": 2", ": x").replace(": 64", ": y"))
    assert app.run(["spec", "validate", *files]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "cluster.yaml:4:33: hosts: value 'x'" in told.err
    assert "job.yaml:4:40: global_batch: value 'y'" in told.err


def test_a_file_that_is_not_there_exits_with_3(capsys):
    assert app.run(["spec", "validate", "no-such-file.yaml"]) == 3
    assert "cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("output", ["yaml", "json"])
def test_what_is_shown_is_complete_and_loads_again(files, tmp_path, capsys, output):
    words = ["spec", "show", *files, "--set", "hosts=4", "--set", "parallelism=auto"]
    assert app.run([*words, "-o", output]) == 0
    shown = capsys.readouterr().out
    assert "h100_sxm" in shown
    if output == "yaml":
        (tmp_path / "both.yaml").write_text(shown)
        cluster, job = load_case([tmp_path / "both.yaml"])
        assert (cluster.hosts, job.parallelism) == (4, "auto")
    else:
        assert len(json.loads(shown)) == 2


def test_a_schema_is_one_json_document(capsys):
    assert app.run(["spec", "schema", "job"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "Job"
    assert app.run(["spec", "schema", "jub"]) == 2
    assert "did you mean 'job'" in capsys.readouterr().err


def test_an_unknown_format_is_refused(files, capsys):
    assert app.run(["spec", "show", "-o", "xml", *files]) == 2
    assert "there are: yaml, json" in capsys.readouterr().err


def test_init_writes_two_files_that_fit_and_says_which(tmp_path, capsys):
    folder = tmp_path / "new"
    words = ["init", "--preset", "aws_p5", "--gpus", "20", "--model", "llama3_405b"]
    assert app.run([*words, "--dir", str(folder)]) == 0
    shown = capsys.readouterr()
    assert shown.out.split() == [str(folder / "cluster.yaml"), str(folder / "job.yaml")]
    assert f"weft compare {folder}/cluster.yaml {folder}/job.yaml" in shown.err
    cluster, job = load_case([folder / "cluster.yaml", folder / "job.yaml"])
    assert (cluster.hosts, cluster.host.gpu, job.model.layers) == (3, "h100_sxm", 126)
    assert "model: llama3_405b" in (folder / "job.yaml").read_text()


def test_init_overwrites_only_when_told_to(tmp_path, capsys):
    words = ["init", "--dir", str(tmp_path)]
    (tmp_path / "job.yaml").write_text("mine")
    assert app.run(words) == 2
    assert "job.yaml: already there; use --force" in capsys.readouterr().err
    assert (tmp_path / "job.yaml").read_text() == "mine"
    assert not (tmp_path / "cluster.yaml").exists()
    assert app.run([*words, "--force"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cluster.yaml", "job.yaml"]


@pytest.mark.parametrize("option", [["--preset", "dgx_h10"], ["--model", "llama3_8"]])
def test_init_names_what_is_near_an_unknown_name(tmp_path, capsys, option):
    assert app.run(["init", "--dir", str(tmp_path), *option]) == 2
    assert "did you mean" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_init_lists_what_there_is(capsys):
    assert app.run(["init", "--list"]) == 0
    told = capsys.readouterr().out.split()
    assert {"dgx_h100", "gb200_nvl72", "deepseek_v3"} <= set(told)


def _answer(monkeypatch, text):
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_an_interview_asks_on_standard_error_and_writes_the_answers(
    tmp_path, capsys, monkeypatch
):
    work = "hgx_h100_roce 64 256 llama3_70b fine_tuning yes none"
    limits = "38k$ 900USD 10% qm9700=2 5MUSD 20MUSD"
    _answer(monkeypatch, "\n".join(f"{work} {limits}".split()) + "\n")
    assert app.run(["init", "--ask", "--dir", str(tmp_path)]) == 0
    told = capsys.readouterr()
    assert told.err.count("?") >= 13
    assert "?" not in told.out
    cluster, job = load_case([tmp_path / "cluster.yaml", tmp_path / "job.yaml"])
    assert (cluster.gpus, cluster.fabric.tuning, job.framework) == (64, "default", "fsdp")
    assert cluster.prices.switch_usd == 38000
    assert cluster.constraints.network_budget_usd == 5e6
    assert cluster.constraints.skill("roce") == "none"


def test_an_interview_with_no_answers_takes_the_defaults(tmp_path, monkeypatch):
    _answer(monkeypatch, "")
    assert app.run(["init", "--ask", "--dir", str(tmp_path)]) == 0
    assert load_case([tmp_path / "cluster.yaml", tmp_path / "job.yaml"])[0].gpus == 128


def test_a_wrong_answer_from_a_pipe_stops_the_interview(tmp_path, capsys, monkeypatch):
    _answer(monkeypatch, "dgx_h100\nmany\n")
    assert app.run(["init", "--ask", "--dir", str(tmp_path)]) == 2
    assert "'many' is no answer: a whole number" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_exits_with_3(tmp_path, capsys):
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    assert app.run(["init", "--dir", str(tmp_path)]) == 3
    assert "cannot be written" in capsys.readouterr().err


def test_a_folder_that_is_a_file_exits_with_3(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert app.run(["init", "--dir", str(tmp_path / "file")]) == 3
    assert "cannot be written" in capsys.readouterr().err
