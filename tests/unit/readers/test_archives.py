"""Files, folders and archives, kind and hostile."""

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

from weft.inventory.inventory import Inventory
from weft.readers import archives, places
from weft.readers.read import read

LINE = "modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument\n"
LINK = "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens1\n"


def _tar(path: Path, members: dict[str, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def stated(inventory: Inventory) -> list[tuple[str, str, str]]:
    """Return what was read, with the file that states it."""
    readings = [
        (str(entity), name, reading.evidence.file)
        for entity, found in inventory.readings.items()
        for name, known in found.items()
        for reading in known
    ]
    events = [
        (code, "", event.evidence[0].file) for (code, _), event in inventory.events.items()
    ]
    return sorted([*readings, *events])


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
    seen = [stated(read(path)) for path in (folder, tmp_path / "case.zip", packed)]
    assert seen[0] == seen[1] == seen[2]
    assert {file for *_, file in seen[0]} == {"a.txt", "deep/b.txt"}


def test_a_packed_log_is_read(tmp_path):
    path = tmp_path / "dmesg.gz"
    path.write_bytes(gzip.compress(LINE.encode()))
    assert [code for code, *_ in stated(read(path))] == ["peermem.refused"]


def test_names_that_lead_out_are_labels_only(tmp_path):
    path = _tar(tmp_path / "evil.tar", {"../../etc/x.txt": LINE.encode()}, "w")
    assert stated(read(path))[0][2] == "etc/x.txt"
    assert list(tmp_path.iterdir()) == [path]


def test_links_are_passed_over(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text(LINE)
    folder = tmp_path / "bundle"
    folder.mkdir()
    (folder / "link.txt").symlink_to(secret)
    (folder / "loop").symlink_to(folder)
    assert stated(read(folder)) == []
    path = tmp_path / "links.tar"
    with tarfile.open(path, "w") as archive:
        info = tarfile.TarInfo("link.txt")
        info.type, info.linkname = tarfile.SYMTYPE, str(secret)
        archive.addfile(info)
    assert stated(read(path)) == []


def test_a_bomb_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "_RATIO_MATTERS_BYTES", 1 << 20)
    monkeypatch.setattr(archives, "MOST_RATIO", 10)
    bomb = b"\n" * (8 << 20)
    packed = tmp_path / "bomb.txt.gz"
    packed.write_bytes(gzip.compress(bomb))
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb.txt", bomb)
    tar = _tar(tmp_path / "bomb.tar.gz", {"bomb.txt": bomb})
    for path in (packed, tmp_path / "bomb.zip", tar):
        (file,) = read(path).files
        assert "more than may be read" in "".join(file.notes)


def test_a_bundle_has_only_so_many_members(tmp_path, monkeypatch):
    for place in range(9):
        (tmp_path / f"{place}.txt").write_text(LINE)
    monkeypatch.setattr(places, "Budget", lambda: archives.Budget(members_left=3))
    files = read(tmp_path).files
    assert [bool(file.skipped) for file in files] == [False] * 3 + [True]
    assert "more than may be read" in files[-1].skipped


def test_damaged_archives_and_junk_are_skipped(tmp_path):
    good = _tar(tmp_path / "good.tar.gz", {"a.txt": LINE.encode() * 5000})
    cut = tmp_path / "cut.tar.gz"
    cut.write_bytes(good.read_bytes()[:-20])
    (tmp_path / "core").write_bytes(bytes(range(256)) * 64)
    seen = read(cut, tmp_path / "core")
    assert any(file.skipped for file in seen.files)


def test_a_long_header_of_a_tar_is_not_taken_into_memory(tmp_path):
    path = tmp_path / "long.tar"
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as archive:
        archive.addfile(tarfile.TarInfo("n" * (2 << 20)))
    (file,) = read(path).files
    assert "header" in file.skipped
