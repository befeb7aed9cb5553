"""Files, folders and archives, kind and hostile."""

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from weft.errors import Unreadable
from weft.observe import bundle
from weft.observe.bundle import observe
from weft.observe.facts.adapters import AdapterPort
from weft.observe.facts.hosts import ModuleRefused
from weft.observe.facts.pods import ClusterEvent, NodeResource, PodState

LINE = "modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument\n"
LINK = "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens1\n"


def _tar(path: Path, members: dict[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def test_a_folder_a_zip_and_a_tar_say_the_same(tmp_path):
    folder = tmp_path / "case"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.txt").write_text(LINE)
    (folder / "deep" / "b.txt").write_text(LINK)
    with zipfile.ZipFile(tmp_path / "case.zip", "w") as archive:
        archive.writestr("a.txt", LINE)
        archive.writestr("deep/b.txt", LINK)
    members = {"a.txt": LINE.encode(), "deep/b.txt": LINK.encode()}
    packed = _tar(tmp_path / "case.tar.gz", members)
    seen = [observe(path) for path in (folder, tmp_path / "case.zip", packed)]
    assert seen[0].facts == seen[1].facts == seen[2].facts
    assert [f.evidence.file for f in seen[0].facts] == ["a.txt", "deep/b.txt"]


def test_a_packed_log_is_read(tmp_path):
    path = tmp_path / "dmesg.gz"
    path.write_bytes(gzip.compress(LINE.encode()))
    assert len(observe(path).of(ModuleRefused)) == 1


def test_names_that_lead_out_are_labels_only(tmp_path):
    path = _tar(tmp_path / "evil.tar", {"../../etc/x.txt": LINE.encode()}, "w")
    assert observe(path).facts[0].evidence.file == "etc/x.txt"
    assert list(tmp_path.iterdir()) == [path]


def test_links_are_passed_over(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text(LINE)
    folder = tmp_path / "bundle"
    folder.mkdir()
    (folder / "link.txt").symlink_to(secret)
    (folder / "loop").symlink_to(folder)
    assert observe(folder).facts == ()
    path = tmp_path / "links.tar"
    with tarfile.open(path, "w") as archive:
        info = tarfile.TarInfo("link.txt")
        info.type, info.linkname = tarfile.SYMTYPE, str(secret)
        archive.addfile(info)
    assert observe(path).facts == ()


def test_a_bomb_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(bundle, "_RATIO_MATTERS_BYTES", 1 << 20)
    monkeypatch.setattr(bundle, "MOST_RATIO", 10)
    bomb = b"\n" * (8 << 20)
    packed = tmp_path / "bomb.txt.gz"
    packed.write_bytes(gzip.compress(bomb))
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.txt", bomb)
    tar = _tar(tmp_path / "bomb.tar.gz", {"bomb.txt": bomb})
    for path in (packed, tmp_path / "bomb.zip", tar):
        (file,) = observe(path).files
        assert "more than may be read" in file.skipped


def test_a_bundle_has_only_so_many_members(tmp_path, monkeypatch):
    for place in range(9):
        (tmp_path / f"{place}.txt").write_text(LINE)
    real = bundle._Budget  # noqa: SLF001 - its default is the bound
    monkeypatch.setattr(bundle, "_Budget", lambda: real(members_left=3))
    files = observe(tmp_path).files
    assert len(files) == 4
    assert "beyond" in files[-1].skipped


def test_damaged_archives_and_junk_are_skipped(tmp_path):
    good = _tar(tmp_path / "good.tar.gz", {"a.txt": LINE.encode() * 5000})
    cut = tmp_path / "cut.tar.gz"
    cut.write_bytes(good.read_bytes()[:-20])
    (tmp_path / "core").write_bytes(bytes(range(256)) * 64)
    seen = observe(cut, tmp_path / "core")
    assert any(file.skipped for file in seen.files)


def test_a_long_header_of_a_tar_is_not_taken_into_memory(tmp_path):
    path = tmp_path / "long.tar"
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as archive:
        archive.addfile(tarfile.TarInfo("n" * (2 << 20)))
    (file,) = observe(path).files
    assert "header" in file.skipped


def test_a_support_bundle_names_its_hosts_and_commands(tmp_path):
    members = {
        "sosreport-gpu-a07-2026-01-02-abc/sos_commands/networking/ethtool_-S_ens5": (
            b"NIC statistics:\n     rx_discards_phy: 5\n"
        ),
        "must-gather/nodes/gpu-a08/rdma.txt": LINK.encode(),
    }
    seen = observe(_tar(tmp_path / "sos.tar.xz", members, "w:xz"))
    assert seen.facts[0].where == "ens5"
    assert [fact.host for fact in seen.of(AdapterPort)] == ["gpu-a08"]
    assert seen.facts[0].host.startswith("gpu-a07")


def test_a_path_that_is_not_there_is_told(tmp_path):
    with pytest.raises(Unreadable, match=r"no\.txt"):
        observe(tmp_path / "no.txt")


NODE = """---
apiVersion: v1
kind: Node
metadata:
  name: gpu-5
status:
  allocatable:
    rdma/roce_a: "0"
  capacity:
    rdma/roce_a: "8"
"""
EVENTS = """---
apiVersion: v1
items:
- message: '0/4 nodes are available: 4 Insufficient rdma/roce_a.'
  reason: FailedScheduling
  type: Warning
  involvedObject:
    kind: Pod
    name: trainer-0
kind: EventList
"""


def test_a_must_gather_is_read_with_its_objects_and_logs(tmp_path):
    root = "must-gather.local.7/quay-io-x/"
    log = f"2025-03-01T10:00:00.123456789Z {LINE}"
    path = _tar(
        tmp_path / "must-gather.tar.gz",
        {
            f"{root}cluster-scoped-resources/core/nodes/gpu-5.yaml": NODE.encode(),
            f"{root}namespaces/ml/core/events.yaml": EVENTS.encode(),
            f"{root}namespaces/ml/pods/ofed-1/mofed/mofed/logs/current.log": log.encode(),
        },
    )
    seen = observe(path)
    assert [one.allocatable for one in seen.of(NodeResource)] == [0]
    assert [one.shortage for one in seen.of(ClusterEvent)] == [("rdma/roce_a",)]
    assert len(seen.of(ModuleRefused)) == 1


@pytest.mark.parametrize(
    "hostile",
    [
        "a: &a [x, x]\n" + "".join(f"b{i}: &b{i} [*a, *a]\n" for i in range(30)),
        "a: " + "[" * 60_000 + "\n",
        "a: " + "{b: " * 5_000 + "\n",
        "a:\n " + "- " * 5_000 + "\n",
        "metadata: !!python/object/apply:os.system ['true']\n",
        "".join(f"{' ' * i}a:\n" for i in range(1_000)),
    ],
    ids=["aliases", "lists", "maps", "dashes", "tags", "deep"],
)
def test_yaml_that_unfolds_nests_or_calls_states_nothing(tmp_path, hostile):
    path = tmp_path / "object.yaml"
    path.write_text(f"apiVersion: v1\nkind: Pod\n{hostile}")
    assert not observe(path).of(PodState)
