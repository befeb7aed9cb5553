"""Files, presets, models and overrides: what lies over what, and where a mistake is placed."""

from pathlib import Path

import pytest

from weft.errors import SpecError, UnknownName, Unreadable
from weft.spec.load import (
    kinds_in,
    load_case,
    load_cluster,
    load_documents,
    load_inference,
    load_job,
    model,
    preset,
    presets,
    split_sets,
)
from weft.spec.workload import Parallelism

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.yaml"))
CLUSTER = """apiVersion: weft/v1
kind: Cluster
metadata:
  name: mine
spec:
  preset: dgx_h100
  hosts: 4
  fabric:
    kind: roce
"""
JOB = """apiVersion: weft/v1
kind: Job
metadata:
  name: mine
spec:
  model: llama3_8b
  global_batch: 64
  parallelism: {tp: 2}
"""


@pytest.fixture
def both(tmp_path):
    path = tmp_path / "both.yaml"
    path.write_text(f"{CLUSTER}---\n{JOB}")
    return path


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_a_cluster_and_a_job_that_fit(path):
    if "Inference" in kinds_in(path):
        assert load_inference(path).model
        assert load_cluster(path).gpus
        return
    cluster, job = load_case([path])
    spread = job.parallelism
    assert isinstance(spread, Parallelism)
    assert cluster.gpus % (spread.tp * spread.pp * spread.cp) == 0


def test_the_published_example_is_the_published_cluster():
    path = next(path for path in EXAMPLES if path.stem.startswith("llama3-405b"))
    cluster, job = load_case([path])
    assert cluster.gpus == 16384
    assert (job.sequence_length * job.global_batch, job.model.name) == (2**24, "llama3_405b")


def test_a_file_may_hold_both_documents(both):
    cluster, job = load_case([both])
    assert (cluster.name, cluster.gpus, job.name) == ("mine", 32, "mine")
    assert (load_cluster(both), load_job(both)) == (cluster, job)
    assert load_documents(both) == [cluster, job]


def test_two_files_are_the_same_as_one(tmp_path, both):
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    (tmp_path / "job.yaml").write_text(JOB)
    assert load_case([tmp_path / "cluster.yaml", tmp_path / "job.yaml"]) == load_case([both])


def test_what_is_written_lies_over_the_preset(both):
    cluster = load_cluster(both)
    assert cluster.fabric.kind == "roce"
    assert cluster.host == preset("dgx_h100").host


def test_a_preset_takes_changes_deep_down():
    changed = preset("dgx_h100", host={"nics": 4, "scale_up": {"gpus": 4}})
    assert (changed.host.nics, changed.host.scale_up.gpus, changed.host.gpus) == (4, 4, 8)


def test_a_model_takes_changes_and_so_does_a_named_model_in_a_job():
    assert model("llama3_8b", layers=4).layers == 4
    job = load_job({"model": {"preset": "llama3_8b", "layers": 4}, "global_batch": 8})
    assert job.model == model("llama3_8b", layers=4)


def test_an_override_has_the_last_word_with_or_without_its_prefix(both):
    for text in ("fabric.kind=tcp", "spec.fabric.kind=tcp", "cluster.fabric.kind=tcp"):
        assert load_cluster(both, [text]).fabric.kind == "tcp"
    assert load_cluster(both, ["hosts=2", "hosts=3"]).hosts == 3
    assert load_job(both, ["parallelism=auto"]).parallelism == "auto"
    assert load_cluster(both, ["preset=dgx_h200"]).host.gpu == "h200_sxm"
    assert load_cluster(both, ["nccl.env.NCCL_IB_TC=106"]).nccl.env == {"NCCL_IB_TC": "106"}
    assert load_cluster(both, ["fabric={kind: tcp, sockets: 4}"]).fabric.sockets == 4


def test_an_override_goes_to_the_document_that_has_its_key(both):
    cluster, job = load_case([both], ["fabric.kind=tcp", "precision=fp8", "job.name=x"])
    assert (cluster.fabric.kind, job.precision, job.name) == ("tcp", "fp8", "x")
    assert split_sets(["cluster.name=a", "spec.model=b"]) == (
        ["cluster.name=a"], ["spec.model=b"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("fabric.kind=roc", r"--set fabric\.kind=roc: fabric\.kind: value 'roc': is not known"),
        ("fabric.knd=roce", r"--set fabric\.knd=roce: fabric\.knd: is unknown"),
        ("hosts=4.5", r"--set hosts=4\.5: hosts: value 4\.5: must be a whole number"),
        ("host.nic_bytes_per_s=400", r"--set .*=400: .*value 400: has no unit"),
        ("hosts", r"--set hosts: is not path=value"),
        ("=4", r"--set =4: is not path=value"),
        ("a..b=4", r"--set a\.\.b=4: is not path=value"),
        ("hosts={", r"--set hosts=\{: the value is not YAML"),
    ],
)
def test_a_wrong_override_is_named_as_it_was_typed(both, text, told):
    with pytest.raises(SpecError, match=told):
        load_cluster(both, [text])


def test_a_mistake_under_a_preset_is_placed_in_the_users_file(both):
    both.write_text(both.read_text().replace("hosts: 4", "hosts: four"))
    with pytest.raises(SpecError, match=r"both\.yaml:7:10: hosts: value 'four'"):
        load_case([both])


def test_mistakes_of_both_documents_are_told_at_once(both):
    text = both.read_text().replace("hosts: 4", "hosts: 0").replace("64", "-64")
    both.write_text(text)
    with pytest.raises(SpecError) as failure:
        load_case([both])
    assert len(str(failure.value).splitlines()) == 2


def test_anchors_and_merges_may_be_used(tmp_path):
    path = tmp_path / "cluster.yaml"
    path.write_text(
        "apiVersion: weft/v1\nkind: Cluster\nmetadata: {name: x}\nspec:\n  preset: dgx_h100\n"
        "  fabric: &f {kind: roce, tuning: default}\n"
        "  storage_fabric: {<<: *f, tuning: tuned}\n"
    )
    cluster = load_cluster(path)
    assert (cluster.storage_fabric.kind, cluster.storage_fabric.tuning) == ("roce", "tuned")


def test_a_word_of_old_yaml_is_text(tmp_path):
    path = tmp_path / "cluster.yaml"
    path.write_text(CLUSTER + "  nccl: {env: {NCCL_P2P_DISABLE: no, TIME: 12:30}}\n")
    assert load_cluster(path).nccl.env == {"NCCL_P2P_DISABLE": "no", "TIME": "12:30"}


@pytest.mark.parametrize("name", ["no.yaml", ".", "a\0b"])
def test_what_cannot_be_read_is_unreadable(tmp_path, name):
    with pytest.raises(Unreadable, match="cannot be read"):
        load_cluster(f"{tmp_path}/{name}")


def test_a_file_that_is_no_spec_is_refused_by_size_and_encoding(tmp_path):
    path = tmp_path / "cluster.yaml"
    path.write_bytes(b"x" * (1 << 21))
    with pytest.raises(SpecError, match="is larger than"):
        load_cluster(path)
    path.write_bytes(b"a: 1\nb: \xff\n")
    with pytest.raises(SpecError, match=r"cluster\.yaml:2:1: is not UTF-8"):
        load_cluster(path)


def test_a_document_too_many_or_too_few_is_told(tmp_path):
    path = tmp_path / "cluster.yaml"
    path.write_text(f"{CLUSTER}---\n{CLUSTER}")
    with pytest.raises(SpecError, match=r"2 documents of kind Cluster .*:1:1 and .*:11:1"):
        load_cluster(path)
    with pytest.raises(SpecError, match="no document of kind Job"):
        load_job(path)
    path.write_text("")
    with pytest.raises(SpecError, match="holds nothing"):
        load_cluster(path)
    with pytest.raises(SpecError, match="holds no document"):
        load_documents(path)


def test_an_unknown_model_is_named_with_its_nearest():
    with pytest.raises(UnknownName, match="did you mean 'llama3_8b'"):
        model("llama3_8")


def test_every_preset_can_be_a_key_of_a_cache():
    assert len({preset(name) for name in presets()}) == len(presets())


def test_a_model_file_of_ones_own_is_read(tmp_path):
    path = tmp_path / "tiny.yaml"
    path.write_text(
        "apiVersion: weft/v1\nkind: Model\nmetadata: {name: tiny}\n"
        "spec: {layers: 2, hidden: 64, heads: 2, kv_heads: 2, head_dim: 32, "
        "ffn_hidden: 128, vocab: 100}\n"
    )
    assert model(path).name == "tiny"
    assert load_job({"model": str(path), "global_batch": 1}).model == model(path)


@pytest.mark.parametrize("data", [[], 3, "dgx_h100", {"spec": []}, {"spec": None}])
def test_a_mapping_of_the_wrong_shape_is_refused(tmp_path, data):
    path = tmp_path / "cluster.yaml"
    path.write_text(f"{data!r}")
    with pytest.raises(SpecError):
        load_cluster(path)
    if isinstance(data, dict):
        with pytest.raises(SpecError):
            load_cluster(data)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nccl.version=abc", "is no version"),
        ("nccl.version=2.10", "in quotes"),
        ("fabric.load_ratio=1", "must be less than 1"),
    ],
)
def test_a_version_is_one_and_some_of_a_link_is_left(text, message):
    with pytest.raises(SpecError, match=message):
        load_cluster({"preset": "dgx_h100"}, [text])
    assert load_cluster({"preset": "dgx_h100"}, ["nccl.version='2.10'"]).nccl.version == "2.10"


def test_one_key_of_a_named_model_can_be_changed():
    job = load_job({"model": "llama3_70b", "global_batch": 8}, ["model.window=1024"])
    assert (job.model.window, job.model.layers) == (1024, 80)
