"""Whose output a file is, and when it was taken, by its place in what was given."""

import io
import tarfile
from pathlib import Path

import pytest

from weft.errors import Unreadable
from weft.readers.places import places
from weft.readers.read import read

LINK = "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens1\n"


def put(root: Path, *names: str, text: str = LINK) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def hosts(path: Path) -> set[str]:
    return {place.host for place in places(path)}


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("hosts/gpu-1/ibstat", "gpu-1"),
        ("nodes/gpu-2/rdma_link.txt", "gpu-2"),
        ("gpu-3/rdma_link.txt", "gpu-3"),
        ("sosreport-gpu4-2026-01-02-abc/sos_commands/networking/ip_-d_address", "gpu4"),
        ("sonic_dump_leaf-5_20260304_050607/dump/portstat", "leaf-5"),
        ("logs/rdma_link.txt", ""),
        ("rdma_link.txt", ""),
    ],
)
def test_a_file_is_of_the_host_of_its_folder(tmp_path: Path, name: str, host: str) -> None:
    root = put(tmp_path / "bundle", name)
    found = hosts(root)
    assert found == {host}


def test_folders_side_by_side_are_different_hosts(tmp_path: Path) -> None:
    inventory = read(put(tmp_path / "case", "a/rdma_link.txt", "b/rdma_link.txt"))
    assert {entity.key[0] for entity, _ in inventory.of("port")} == {"a", "b"}


def test_a_host_given_as_a_folder_is_named_by_it(tmp_path: Path) -> None:
    root = put(tmp_path, "hosts/gpu-9/rdma_link.txt")
    assert hosts(root / "hosts" / "gpu-9") == {"gpu-9"}


def test_a_dump_is_of_the_machine_that_it_holds_a_copy_of(tmp_path: Path) -> None:
    root = put(tmp_path / "renamed", "x/etc/hostname", text="leaf-7\n")
    put(root, "x/log/syslog", text="nothing\n")
    assert hosts(root) == {"leaf-7"}


def test_samples_have_their_times(tmp_path: Path) -> None:
    root = put(
        tmp_path / "b", *(f"hosts/n/sample_{n}_at_{1000 + n}/ethtool_-S_e" for n in (1, 2))
    )
    assert [place.sampled_s for place in places(root)] == [1001.0, 1002.0]


def test_the_name_of_a_file_is_read_as_the_command_that_wrote_it(tmp_path: Path) -> None:
    text = "NIC statistics:\n     rx_discards_phy: 5\n"
    inventory = read(put(tmp_path / "b", "ethtool_-S_ens5", text=text))
    assert [entity.key[-1] for entity, _ in inventory.of("interface")] == ["ens5"]


def test_an_archive_names_hosts_as_its_folders_do(tmp_path: Path) -> None:
    path = tmp_path / "bundle.tar.xz"
    with tarfile.open(path, "w:xz") as archive:
        info = tarfile.TarInfo("must-gather/nodes/gpu-8/rdma.txt")
        info.size = len(LINK)
        archive.addfile(info, io.BytesIO(LINK.encode()))
    assert hosts(path) == {"gpu-8"}


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"no\.txt"):
        read(tmp_path / "no.txt")
