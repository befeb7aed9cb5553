"""The verbs from the command line, on real documents: streams, files and exit codes."""

import json
from pathlib import Path

import pytest

from weft.cli import app

CLUSTER = """\
apiVersion: weft/v1
kind: Cluster
metadata: {name: small}
spec: {preset: dgx_h100, hosts: 8}
"""
JOB = """\
---
apiVersion: weft/v1
kind: Job
metadata: {name: tune}
spec: {model: llama3_8b, global_batch: 128, parallelism: {sharding: zero1}}
"""


@pytest.fixture
def case(tmp_path) -> Path:
    file = tmp_path / "case.yaml"
    file.write_text(CLUSTER + JOB, "utf-8")
    return file


def _run(capsys, *words):
    status = app.run([str(word) for word in words])
    told = capsys.readouterr()
    return status, told.out, told.err


@pytest.mark.parametrize("verb", ["predict", "compare", "expect", "need"])
def test_a_verb_writes_one_document_and_nothing_else(verb, case, capsys):
    status, out, err = _run(capsys, verb, "-f", case, "-o", "json")
    assert status in (0, 4)
    assert err == ""
    assert json.loads(out)["success"] is True


def test_two_files_are_one_case_and_overrides_reach_both(tmp_path, capsys):
    cluster, job = tmp_path / "c.yaml", tmp_path / "j.yaml"
    cluster.write_text(CLUSTER, "utf-8")
    job.write_text(JOB.removeprefix("---\n"), "utf-8")
    status, out, _ = _run(
        capsys, "predict", "-f", cluster, "-f", job, "-o", "json",
        "--set", "fabric.kind=roce", "--set", "global_batch=256",
    )  # fmt: skip
    document = json.loads(out)
    assert status == 0
    assert document["cluster"]["fabric"]["kind"] == "roce"
    assert document["job"]["global_batch"] == 256


def test_the_cluster_is_found_among_several_files(tmp_path, capsys):
    cluster, job = tmp_path / "c.yaml", tmp_path / "j.yaml"
    cluster.write_text(CLUSTER, "utf-8")
    job.write_text(JOB.removeprefix("---\n"), "utf-8")
    words = ("expect", "-b", "1GiB", "-e", "1GiB")
    assert _run(capsys, *words, "-f", job, "-f", cluster)[0] == 0
    assert _run(capsys, *words, "-f", job, "-f", job)[0] == 2


def test_a_target_out_of_reach_leaves_with_four(case, capsys):
    assert _run(capsys, "need", "-f", case, "--target", "mfu=0.99")[0] == 4
    assert _run(capsys, "need", "-f", case, "--target", "mfu=0.01")[0] == 0


def test_a_sweep_with_sizes_that_cannot_run_leaves_with_five(case, capsys):
    model_ranks = ("--set", "parallelism.tp=8", "--set", "parallelism.pp=4")
    words = ("predict", "-f", case, *model_ranks, "-o", "json", "--sweep")
    status, out, _ = _run(capsys, *words, "gpus=8,64")
    assert status == 5
    document = json.loads(out)
    assert [one["gpus"] for one in document["points"]] == [64]
    assert [one["gpus"] for one in document["skipped"]] == [8]
    assert _run(capsys, *words, "gpus=64")[0] == 0


def test_a_result_goes_to_a_file_and_charts_beside_it(case, tmp_path, capsys):
    page, picture = tmp_path / "report.html", tmp_path / "curve.svg"
    status, out, _ = _run(
        capsys, "expect", "-f", case, "-o", "html", "--out", page, "--chart", picture
    )
    assert (status, out) == (0, "")
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert picture.read_text("utf-8").startswith("<svg")


def test_the_fabrics_can_be_listed_and_chosen(case, capsys):
    status, out, _ = _run(capsys, "compare", "--fabrics", "list")
    assert status == 0
    assert {"infiniband", "tcp"} <= set(out.split())
    status, out, _ = _run(
        capsys, "compare", "-f", case, "--fabrics", "tcp,infiniband", "-o", "json"
    )
    assert [line["name"] for line in json.loads(out)["lines"]] == ["tcp", "infiniband"]
    assert _run(capsys, "compare", "-f", case, "--fabrics", "token_ring")[0] == 2


def test_accuracy_without_rows_is_inconclusive_when_checked(tmp_path, capsys):
    assert _run(capsys, "accuracy", "--data", tmp_path, "--check")[0] == 5
    assert _run(capsys, "accuracy", "--data", tmp_path / "nowhere")[0] == 3
    status, out, _ = _run(capsys, "accuracy", "--data", tmp_path, "-o", "json")
    assert status == 0
    kinds = {group["kind"] for group in json.loads(out)["groups"]}
    assert kinds >= {
        "collective_from_64MiB", "collective_below_64MiB", "training_step", "topology",
    }  # fmt: skip


@pytest.mark.parametrize("operation", ["all_gather", "alltoall", "sendrecv", "broadcast"])
def test_every_operation_of_nccl_tests_can_be_expected(operation, case, capsys):
    words = ("expect", operation, "-f", case, "-b", "1MiB", "-e", "4MiB", "--full")
    status, out, _ = _run(capsys, *words)
    assert status == 0
    assert sum(not line.startswith("#") for line in out.splitlines()) == 3


@pytest.mark.parametrize(
    "words",
    [
        ("expect", "no_such_operation"),
        ("expect", "-b", "8X"),
        ("expect", "-n", "20"),
        ("expect", "-g", "4"),
        ("expect", "all_reduce", "all_gather"),
        ("expect", "-b", "1GiB", "-e", "1MiB"),
        ("expect", "--factor", "1"),
        ("expect", "--ranks", "1"),
        ("expect", "--ranks", "4096"),
        ("expect", "--ranks-per-host", "9"),
        ("need", "--target", "speed=3"),
        ("need", "--target", "mfu=fast"),
    ],
)
def test_wrong_words_are_told_with_what_is_allowed(words, case, capsys):
    status, out, err = _run(capsys, *words, "-f", case)
    assert status == 2
    assert out == ""
    assert len(err) > 40


RUN = Path(__file__).parents[2] / "samples" / "calibrate" / "two_hosts.txt"


def test_an_overlay_is_written_named_and_changes_what_is_expected(case, tmp_path, capsys):
    overlay = tmp_path / "mine.toml"
    status, out, _ = _run(capsys, "calibrate", RUN, "-f", case, "--save", overlay, "-o", "json")
    assert status == 0
    assert json.loads(out)["overlay"]["name"] == "mine"
    words = ("expect", "-f", case, "--ranks", "16", "-b", "1GiB", "-e", "1GiB", "-o", "json")
    bare = json.loads(_run(capsys, *words)[1])
    laid_over = json.loads(_run(capsys, *words, "--overlay", overlay)[1])
    assert laid_over["provenance"]["overlay"].startswith("mine@")
    assert bare["provenance"]["overlay"] is None
    assert laid_over["points"][0]["time_s"] != bare["points"][0]["time_s"]


def test_an_overlay_that_is_none_is_told(case, tmp_path, capsys):
    words = ("expect", "-f", case, "--overlay")
    assert _run(capsys, *words, tmp_path / "nothing.toml")[0] == 3
    assert _run(capsys, *words, case)[0] == 2


def test_a_run_stands_beside_what_is_expected_of_it(case, tmp_path, capsys):
    picture = tmp_path / "both.svg"
    words = ("expect", "-f", case, "--measured", RUN)
    status, out, _ = _run(capsys, *words, "--chart", picture)
    assert status == 0
    assert "sizes inside the 80 % band" in out
    assert "measured" in picture.read_text("utf-8")
    document = json.loads(_run(capsys, *words, "-o", "json")[1])
    assert (document["ranks"], document["ranks_per_domain"]) == (4, 2)
    assert [one["size_bytes"] for one in document["measured"]] == [8, 2**20, 2**30]


def test_a_run_of_another_operation_is_refused(case, capsys):
    status, _, err = _run(capsys, "expect", "alltoall", "-f", case, "--measured", RUN)
    assert status == 2
    assert "holds all_reduce, not alltoall" in err


def test_one_command_without_files_states_what_it_assumed(capsys):
    words = ("--preset", "dgx_h200", "--gpus", "64", "--model", "meta-llama/Llama-3.1-8B")
    status, out, _ = _run(capsys, "predict", *words, "--set", "precision=fp8", "-o", "json")
    document = json.loads(out)
    assert status == 0
    assert document["cluster"]["hosts"] == 8
    assert document["job"]["model"]["name"] == "llama3_8b"
    batch = document["job"]["global_batch"]
    assert f"global_batch={batch}" in document["provenance"]["defaults"]
    assert not any(one.startswith("precision") for one in document["provenance"]["defaults"])


def test_files_may_be_positional_and_mean_the_same(tmp_path, capsys):
    cluster, job = tmp_path / "c.yaml", tmp_path / "j.yaml"
    cluster.write_text(CLUSTER, "utf-8")
    job.write_text(JOB.removeprefix("---\n"), "utf-8")
    for verb in ("predict", "need"):
        named = _run(capsys, verb, "-f", cluster, "-f", job, "-o", "json")
        assert _run(capsys, verb, cluster, job, "-o", "json") == named
    named = _run(capsys, "expect", "alltoall", "-f", cluster, "-o", "json")
    assert _run(capsys, "expect", "alltoall", cluster, "-o", "json") == named
    assert _run(capsys, "expect", cluster, "alltoall", "-o", "json") == named
    named = _run(capsys, "render", "nccl", "-f", cluster, "-o", "json")
    assert _run(capsys, "render", "nccl", cluster, "-o", "json") == named
    named = _run(capsys, "bench", "judge", RUN, "-f", cluster, "-o", "json")
    assert _run(capsys, "bench", "judge", RUN, cluster, "-o", "json") == named


def test_the_words_of_nccl_tests_are_understood(case, capsys):
    words = ("expect", "-f", case, "-o", "json")
    ours = _run(capsys, *words, "-b", "8B", "-e", "2GiB", "--factor", "4")
    theirs = _run(capsys, *words, "-b", "8", "-e", "2G", "-f", "4", "-g", "8")
    assert theirs == ours
    sizes = [point["size_bytes"] for point in json.loads(ours[1])["points"]]
    assert (sizes[0], sizes[1], sizes[-1]) == (8, 32, 2**31)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--preset", "dgx_h200", "--gpus", "60", "--model", "llama3_8b"), "56 or 64"),
        (("--preset", "dgx_h20", "--model", "llama3_8b"), "dgx_h200"),
        (("--preset", "dgx_h200", "--model", "llama-3-70b"), "llama3_70b"),
        (("--preset", "dgx_h200", "--model", "meta-llama/Llama-3.1-70"), "Llama-3.1-70B"),
        (("--preset", "dgx_h200"), "--model"),
        (("--model", "llama3_8b"), "--preset"),
        (("--preset", "dgx_h200", "--hosts", "2", "--gpus", "16"), "one of them"),
    ],
)
def test_a_case_that_is_not_whole_is_told_with_the_words_that_are_missing(words, told, capsys):
    status, out, err = _run(capsys, "predict", *words)
    assert (status, out) == (2, "")
    assert told in err


def test_a_folder_of_a_hugging_face_model_is_a_model(tmp_path, capsys, monkeypatch):
    config = Path(__file__).parents[2] / "samples" / "huggingface" / "llama3_8b.json"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "config.json").write_text(config.read_text("utf-8"), "utf-8")
    monkeypatch.chdir(tmp_path)
    words = ("predict", "--preset", "dgx_h200", "--hosts", "2", "-o", "json", "--model")
    for model in ("mine", "mine/config.json"):
        status, out, _ = _run(capsys, *words, model)
        assert status == 0
        assert json.loads(out)["job"]["model"]["layers"] == 32


SERVING = str(Path(__file__).parents[3] / "examples" / "deepseek-v3-serving-h200.yaml")


def test_predict_takes_an_inference_service(capsys):
    assert app.run(["predict", "-f", SERVING, "--set", "sequences=512"]) == 0
    out = capsys.readouterr().out
    first = out.splitlines()[:24]
    assert all(len(line) <= 80 for line in first)
    for words in ("first token", "per output token", "waits for network", "per 1M output"):
        assert any(words in line for line in first)


def test_compare_takes_an_inference_service(capsys):
    assert app.run(["compare", "-f", SERVING, "--fabrics", "none,infiniband,tcp"]) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0].startswith("Take ")
    assert len(lines) <= 40
    assert all(len(line) <= 80 for line in lines)
    assert app.run(["compare", "-f", SERVING, "--fidelity", "packet"]) == 2
    assert app.run(["compare", "-f", SERVING, "--same", "nics"]) == 2


def test_predict_refuses_for_a_service_what_holds_for_training_alone(capsys):
    assert app.run(["predict", "-f", SERVING, "--sweep", "gpus=8"]) == 2
    assert app.run(["predict", "-f", SERVING, "--fidelity", "packet"]) == 2
    assert app.run(["need", "-f", SERVING]) == 2
    assert "needs a training job" in capsys.readouterr().err


def test_one_key_gives_a_curve_whose_points_are_those_of_set(case, capsys):
    words = ("predict", "-f", case, "-o", "json")
    swept = json.loads(_run(capsys, *words, "--sweep", "hosts=8,16")[1])
    assert swept["kind"] == "grid"
    assert [point["values"] for point in swept["points"]] == [["8"], ["16"]]
    alone = json.loads(_run(capsys, *words, "--set", "hosts=16")[1])
    assert swept["points"][1]["measures"]["step_s"] == alone["step_s"]


def test_two_keys_give_a_map_with_the_reason_of_what_cannot_run(case, tmp_path, capsys):
    picture = tmp_path / "map.svg"
    words = ("predict", "-f", case, "--sweep", "fabric.kind=roce,tcp", "--chart", picture)
    status, out, _ = _run(capsys, *words, "--sweep", "parallelism.tp=4,7")
    assert status == 5
    assert "must divide" in " ".join(out.split())
    assert "roce" in picture.read_text("utf-8")


@pytest.mark.parametrize("verb", ["expect", "need", "compare"])
def test_every_verb_with_a_number_can_be_swept(verb, case, capsys):
    status, out, _ = _run(capsys, verb, "-f", case, "--sweep", "hosts=4,8", "-o", "json")
    assert status == 0
    assert all(point["measures"] for point in json.loads(out)["points"])


@pytest.mark.parametrize(
    "sweep", [["hosts"], ["hosts="], ["hosts=two"], ["fabric.kin=roce"], ["hosts=2", "hosts=4"]]
)
def test_a_sweep_of_nothing_is_refused(sweep, case, capsys):
    words = [word for one in sweep for word in ("--sweep", one)]
    status, out, err = _run(capsys, "predict", "-f", case, *words)
    assert (status, out) == (2, "")
    assert err


@pytest.mark.parametrize("verb", ["predict", "expect"])
def test_a_sweep_over_an_unknown_key_names_the_option_that_was_given(verb, case, capsys):
    status, _, err = _run(capsys, verb, "-f", case, "--sweep", "nosuch=2")
    assert status == 2
    assert "--sweep nosuch=2: nosuch: is unknown" in err
    assert "--set" not in err


def test_emulate_names_the_file_of_metrics_that_it_wrote(case, capsys, tmp_path):
    words = ("emulate", "-f", case, "--collect", "1", "--out", tmp_path / "out", "--for", "60s")
    status, out, _ = _run(capsys, *words, "--metrics", tmp_path / "day.prom")
    assert status == 0
    assert str(tmp_path / "day.prom") in out
