"""`weft plan` and `weft render`: what they print, write and refuse."""

import json

import pytest

from weft.cli import app
from weft.errors import SpecError, Unreadable
from weft.generate.effects import ExplainedPlan
from weft.generate.guids import parse_name_map, read_name_map
from weft.generate.plan import plan
from weft.report import show
from weft.spec.load import preset

CLUSTER = "apiVersion: weft/v1\nkind: Cluster\nmetadata: {name: east}\nspec: {preset: %s}\n"


@pytest.fixture
def roce(tmp_path):
    file = tmp_path / "roce.yaml"
    file.write_text(CLUSTER % "hgx_h100_roce")
    return str(file)


@pytest.fixture
def infiniband(tmp_path):
    file = tmp_path / "infiniband.yaml"
    file.write_text(CLUSTER % "dgx_h100")
    return str(file)


def test_the_plan_shows_every_value_and_explains_it_when_asked(roce, capsys):
    assert app.run(["plan", "-f", roce, "--full"]) == 0
    short = capsys.readouterr().out
    assert app.run(["plan", "-f", roce, "--explain"]) == 0
    explained = "".join(capsys.readouterr().out.split())  # lines also end at hyphens
    for _, one in plan(preset("hgx_h100_roce", name="east")).numbers():
        assert str(one.value) in short or isinstance(one.value, float | bool)
        assert "".join(one.reason.split()) in explained
        assert f"[{one.source}]" in explained


@pytest.mark.parametrize("output", ["text", "md", "html", "json", "yaml"])
def test_a_plan_and_its_explanation_show_in_every_format(output, roce, capsys):
    for more in ([], ["--explain"]):
        assert app.run(["plan", "-f", roce, "-o", output, *more]) == 0
        assert "headroom" in capsys.readouterr().out


def test_the_document_of_a_plan_has_reasons_without_being_asked(roce, capsys):
    assert app.run(["plan", "-f", roce, "-o", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["labels"]["dscp"]["value"] == 26
    assert document["labels"]["dscp"]["reason"]


def test_what_was_left_out_is_said():
    cluster = preset("dgx_h100")
    cluster = cluster.with_(nccl=cluster.nccl.with_(env={"NCCL_ALGO": "Ring"}))
    made = plan(cluster)
    for result in (made, ExplainedPlan(plan=made)):
        assert "NCCL_ALGO=Ring" in show(result)


def test_render_writes_every_target_that_fits(roce, tmp_path, capsys):
    out = tmp_path / "rendered"
    words = ["render", "all", "-f", roce, "--out", str(out), "--set", "hosts=4", "--full"]
    assert app.run(words) == 0
    written = {p.name for p in out.iterdir()}
    assert {"ansible", "cumulus", "kubernetes", "kubernetes_jobs"} <= written
    assert {"linux_host", "nccl", "slurm", "sonic"} <= written
    assert "weft-manifest.json" in written
    assert not {"opensm", "eos", "nxos", "frr"} & written
    assert "accepted by the published schema" in " ".join(capsys.readouterr().out.split())


def test_render_without_a_folder_gives_the_text_in_the_document(roce, capsys):
    assert app.run(["render", "nccl", "-f", roce, "-o", "json"]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert [file["path"] for file in files] == ["nccl/nccl.env", "nccl/nccl.conf"]
    assert "NCCL_IB_TC=106" in files[1]["text"]


def test_a_refused_target_writes_nothing(roce, tmp_path, capsys):
    out = tmp_path / "rendered"
    assert app.run(["render", "nccl", "opensm", "-f", roce, "--out", str(out)]) == 2
    assert not out.exists()
    said = capsys.readouterr().err.partition("Targets for this cluster: ")[2]
    assert {"linux_host", "nccl", "slurm", "sonic"} <= set(said.strip().split(", "))


def test_names_of_nodes_give_the_roots(infiniband, tmp_path, capsys):
    names = tmp_path / "map"
    spines = "".join(f'0x7cfe9003030{n:04x}0 "spine-{n:04d}"\n' for n in range(64))
    names.write_text(f"# spines\n{spines}")
    command = ["render", "opensm", "-f", infiniband, "--set", "hosts=128", "-o", "json"]
    assert app.run([*command, "--node-names", str(names)]) == 0
    paths = [file["path"] for file in json.loads(capsys.readouterr().out)["files"]]
    assert "opensm/root_guid.conf" in paths


@pytest.mark.parametrize("line", [
    "7cfe spine-0000", '0x7cfe "a\tb"', '0x7cfe "a" extra', '0x7cfe "a\u2028b"',
    '0x1 "a"\n0x2 "a"', '0x1 "a"\n0x1 "b"', '0xAB "a"\n0xab "b"',
])  # fmt: skip
def test_a_map_that_cannot_be_is_refused_with_its_line(line):
    with pytest.raises(SpecError, match=r"^map:\d"):
        parse_name_map(line, "map")


def test_a_map_that_is_not_there_cannot_be_read(tmp_path):
    with pytest.raises(Unreadable, match="cannot be read"):
        read_name_map(tmp_path / "nowhere")


def test_render_says_where_the_files_are_or_how_to_get_them(roce, tmp_path, capsys):
    assert app.run(["render", "nccl", "-f", roce]) == 0
    assert "--out DIR writes the files" in capsys.readouterr().out
    folder = tmp_path / "made"
    assert app.run(["render", "nccl", "-f", roce, "--out", str(folder)]) == 0
    said = "".join(capsys.readouterr().out.split())  # lines are wrapped
    assert f"Writtento{folder}" in said
    assert "--out" not in said


@pytest.mark.parametrize("content", [b"", b"# nothing\n", b"\xc5\xff"])
def test_a_map_that_names_no_switch_is_refused_with_what_it_should_hold(content, tmp_path):
    file = tmp_path / "map"
    file.write_bytes(content)
    with pytest.raises((SpecError, Unreadable), match="write a GUID and a name"):
        read_name_map(file)


def test_a_target_that_is_not_there_is_told_with_the_nearest(roce, capsys):
    assert app.run(["render", "sonicc", "-f", roce]) == 2
    assert "no target is called 'sonicc'; did you mean 'sonic'?" in capsys.readouterr().err
