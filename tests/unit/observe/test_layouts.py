"""Support bundles as their tools lay them out; archives in archives, kind and hostile."""

import bz2
import gzip
import io
import lzma
import os
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from weft.observe import bundle
from weft.observe.bundle import observe
from weft.observe.facts.adapters import AdapterPort
from weft.observe.facts.gpus import GpuFault, RemappedRows
from weft.observe.facts.hosts import ModuleRefused
from weft.observe.facts.interfaces import Counter
from weft.observe.facts.pci import PcieLink
from weft.observe.facts.pods import ClusterEvent, NodeResource, PodState
from weft.observe.facts.service_quality import PauseWatchdog
from weft.observe.facts.subnet import FabricLink
from weft.observe.layouts import placed

LINE = b"modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument\n"
XID = "NVRM: Xid (PCI:0000:18:00): 79, pid=811, name=python3, GPU has fallen off the bus.\n"
IBSTAT = (
    "CA 'mlx5_0'\n\tCA type: MT4129\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n"
)
DUMPED = "IFACE STATE RX_OK RX_BPS RX_UTIL RX_ERR RX_DRP RX_OVR TX_OK TX_BPS\n"
COUNTED = (
    "  Ethernet0        U   1,000,000  140.14 B/s      0.00%         0       {}         0\n"
)


def _lay(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def _tar(members: dict[str, bytes], mode: str = "w:gz") -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode=mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return held.getvalue()


SOS = {
    "sos_commands/kernel/dmesg": f"[  105.1] {XID}",
    "sos_commands/infiniband/ibstat": IBSTAT,
    "sos_commands/networking/ethtool_-S_ens5": "NIC statistics:\n     rx_discards_phy: 5\n",
    "sos_commands/pci/lspci_-nnvv": (
        "18:00.0 Infiniband controller [0207]: Mellanox MT2910 Family [ConnectX-7]\n"
        "\tLnkCap:\tPort #0, Speed 32GT/s, Width x16, ASPM not supported\n"
        "\tLnkSta:\tSpeed 16GT/s (downgraded), Width x8 (downgraded)\n"
    ),
    "sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error": "77\n",
    "var/log/messages.1.gz": gzip.compress(
        b"Mar 01 10:00:01 gpu-a07 kernel: NVRM: Xid (PCI:0000:3b:00): 94, pid=1, Contained\n"
    ),
    "sos_reports/manifest.json": '{"version": "4.5"}\n',
}


@pytest.fixture(params=["folder", "tar.xz", "zip of tar.xz"])
def sosreport(request, tmp_path) -> Path:
    name = "sosreport-gpu-a07-0123-2026-03-02-abcdefg"
    folder = _lay(tmp_path / name, SOS)
    (folder / "dmesg").symlink_to("sos_commands/kernel/dmesg")
    (folder / "shadow").symlink_to("/etc/shadow")
    if request.param == "folder":
        os.mkfifo(folder / "pipe")
        return folder
    packed = tmp_path / "sos.tar.xz"
    with tarfile.open(packed, "w:xz") as archive:
        archive.add(folder, arcname=name)
    if request.param == "tar.xz":
        return packed
    with zipfile.ZipFile(tmp_path / "ticket.zip", "w") as archive:
        archive.write(packed, "attached/sos.tar.xz")
    return tmp_path / "ticket.zip"


def test_a_sosreport_is_read_of_its_host_with_packed_logs_and_kernel_files(sosreport):
    seen = observe(sosreport)
    assert {one.code: one.host for one in seen.of(GpuFault)} == {79: "gpu-a07", 94: "gpu-a07"}
    assert [one.adapter for one in seen.of(AdapterPort)] == ["mlx5_0"]
    assert [(one.where, one.name, one.value, one.host) for one in seen.of(Counter)] == [
        ("ens5", "rx_discards_phy", 5, "gpu-a07"),
        ("mlx5_0", "symbol_error", 77, "gpu-a07"),
    ]
    assert [one.lanes for one in seen.of(PcieLink)] == [8]
    unread = [one for one in seen.files if one.unread]
    assert [one.file.rsplit("/", 1)[-1] for one in unread] == ["manifest.json"]


METADATA = '{"DEVICE_METADATA": {"localhost": {"hwsku": "x", "hostname": "leaf-7"}}}'


@pytest.mark.parametrize("folder", ["", "from the customer/", "a/b/leaf/"])
@pytest.mark.parametrize(
    ("dump", "says", "beside"),
    [
        ("sonic", {"etc/hostname": "leaf-7\n"}, "dump/version"),
        ("sonic", {"etc/sonic/config_db.json": METADATA}, "log/x"),
        ("cumulus", {"etc/hostname": "leaf-7\n"}, "Support/date"),
    ],
)
def test_a_dump_that_was_renamed_is_known_by_what_it_holds(
    tmp_path, folder, dump, says, beside
):
    counted = {
        "dump/interface.counters_1": DUMPED + COUNTED.format(5),
        "dump/interface.counters_2": DUMPED + COUNTED.format(99),
    }
    text = {"Support/ethtool.swp1": "NIC statistics:\n     rx_discards_phy: 5\n"}
    files = {**says, beside: "", **(counted if dump == "sonic" else text)}
    _lay(tmp_path, {f"{folder}{name}": content for name, content in files.items()})
    counters = observe(tmp_path).of(Counter)
    assert counters
    assert {one.host for one in counters} == {"leaf-7"}


@pytest.mark.parametrize(
    "files",
    [
        {"etc/hostname": "leaf-7\n"},
        {"etc/hostname": "two words\n", "dump/version": ""},
        {"etc/other": "leaf-7\n", "dump/version": ""},
        {"other/etc/hostname": "leaf-7\n", "other/var/x": "", "dump/version": ""},
    ],
)
def test_a_folder_that_is_no_dump_names_no_host(tmp_path, files):
    _lay(tmp_path, {**files, "ibstat": IBSTAT})
    assert [one.host for one in observe(tmp_path).of(AdapterPort)] == [""]


def test_a_link_in_a_dump_is_not_followed_for_its_name(tmp_path):
    _lay(tmp_path / "out", {"hostname": "secret\n"})
    _lay(tmp_path / "file", {"dump/version": "", "etc/x": "", "ibstat": IBSTAT})
    (tmp_path / "file/etc/hostname").symlink_to(tmp_path / "out/hostname")
    _lay(tmp_path / "folder", {"dump/version": "", "ibstat": IBSTAT})
    (tmp_path / "folder/etc").symlink_to(tmp_path / "out")
    for name in ("file", "folder"):
        assert [one.host for one in observe(tmp_path / name).of(AdapterPort)] == [""]


def test_a_dump_whose_name_says_the_host_keeps_that_name():
    for name in ("cl_support_leaf-7_20260302_101500/x", "cl_support__leaf-7_20260302_101500/x"):
        assert placed(name).host == "leaf-7"


def test_two_samples_of_a_switch_are_told_apart(tmp_path):
    root = "sonic_dump_leaf-7_20260302_101500/"
    storm = (
        b"Mar  2 10:00:01.1 leaf-7 NOTICE swss#orchagent: :- storm: PFC Watchdog detected PFC "
        b"storm on port Ethernet0, queue index 3, queue id 0x1 and port id 0x1\n"
    )
    path = tmp_path / "dump.tar.gz"
    path.write_bytes(
        _tar(
            {
                f"{root}dump/interface.counters_1": (DUMPED + COUNTED.format(5)).encode(),
                f"{root}dump/interface.counters_2": (DUMPED + COUNTED.format(99)).encode(),
                f"{root}log/syslog.1.gz": gzip.compress(storm),
                f"{root}sai_sdk_dump/x.gz": gzip.compress(bytes(range(256)) * 8),
            }
        )
    )
    seen = observe(path)
    drops = [one for one in seen.of(Counter) if one.name == "rx_dropped"]
    assert [(one.sample, one.value, one.host) for one in drops] == [
        (1, 5, "leaf-7"),
        (2, 99, "leaf-7"),
    ]
    assert [one.status for one in seen.of(PauseWatchdog)] == ["stormed"]
    assert [one.skipped for one in seen.files if one.skipped] == ["binary"]


NODES = """apiVersion: v1
items:
- apiVersion: v1
  kind: Node
  metadata:
    name: gpu-a07
  status:
    allocatable:
      rdma/roce_a: "0"
    capacity:
      rdma/roce_a: "8"
kind: List
"""


def test_a_report_of_the_network_operator_names_the_host_of_each_diagnostic(tmp_path):
    parts = "operator/components/ofed-driver"
    folder = _lay(
        tmp_path / "network-operator-sosreport-20260302-101500",
        {
            f"{parts}/diagnostics/gpu-a07-ibstat.txt": IBSTAT,
            f"{parts}/diagnostics/gpu-a08-dmesg.txt": f"[  105.1] {XID}",
            f"{parts}/pods/mofed-x-mofed.log": LINE,
            "nodes/all-nodes.yaml": NODES,
        },
    )
    seen = observe(folder)
    assert [one.host for one in seen.of(AdapterPort)] == ["gpu-a07"]
    assert [one.host for one in seen.of(GpuFault)] == ["gpu-a08"]
    assert [one.allocatable for one in seen.of(NodeResource)] == [0]
    assert len(seen.of(ModuleRefused)) == 1


def test_a_dump_of_the_cluster_is_read_with_its_logs(tmp_path):
    events = (
        '{"kind": "EventList", "apiVersion": "v1", "items": [{"metadata": {"name": "x"},'
        '"involvedObject": {"kind": "Pod", "name": "t-0"},'
        '"reason": "FailedScheduling", "type": "Warning",'
        '"message": "0/4 nodes are available: 4 Insufficient rdma/roce_a."}]}\n'
    )
    pods = (
        '{"kind": "PodList", "apiVersion": "v1", "items": [{"metadata": {"name": "t-0"},'
        '"status": {"phase": "Pending"}}]}\n'
    )
    folder = _lay(
        tmp_path / "dump",
        {"ml/events.json": events, "ml/pods.json": pods, "ml/t-0/logs.txt": LINE},
    )
    seen = observe(folder)
    assert [one.shortage for one in seen.of(ClusterEvent)] == [("rdma/roce_a",)]
    assert [one.phase for one in seen.of(PodState)] == ["Pending"]
    assert len(seen.of(ModuleRefused)) == 1


BUG_REPORT = f"""____________________________________________

Start of NVIDIA bug report log file.  Please include this file.

____________________________________________

*** /var/log/kern.log
*** ls: -rw-r----- 1 syslog adm 1 2026-03-02 10:00 /var/log/kern.log
Mar  2 10:00:01 gpu-a07 kernel: [  105.1] {XID}
____________________________________________

/usr/bin/nvidia-smi --query

==============NVSMI LOG==============

Attached GPUs                             : 1
GPU 00000000:18:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Remapped Rows
        Correctable Error                 : 0
        Uncorrectable Error               : 1
        Pending                           : Yes
"""


def test_a_bug_report_of_the_driver_is_read(tmp_path):
    path = tmp_path / "nvidia-bug-report.log.gz"
    path.write_bytes(gzip.compress(BUG_REPORT.encode()))
    seen = observe(path)
    assert [(one.code, one.host) for one in seen.of(GpuFault)] == [(79, "gpu-a07")]
    assert any(one.pending for one in seen.of(RemappedRows))


def test_files_of_ibdiagnet_within_a_dump_of_ufm_are_read(tmp_path):
    table = (
        "START_NODES\nNodeDesc,NumPorts,NodeType,NodeGUID\n"
        '"leaf-3",65,2,0xfc6a1c0300d00010\nEND_NODES\n'
        "START_PORTS\nNodeGuid,PortNum,LID,LinkWidthActv,LinkSpeedActv,PortPhyState,PortState\n"
        "0xfc6a1c0300d00010,2,22,2,1,2,1\nEND_PORTS\n"
    )
    inner = _tar({"ibdiagnet2.db_csv": table.encode(), "ibdiagnet2.log": b"-I- Discovery\n"})
    path = tmp_path / "ufm-sysdump.tgz"
    path.write_bytes(_tar({"ufm-sysdump/ibdiagnet/ibdiagnet2_output.tgz": inner}))
    [link] = observe(path).of(FabricLink)
    assert (link.name, link.port, link.physical_state) == ("leaf-3", 2, "polling")
    assert link.evidence.file.endswith("ibdiagnet2_output.tgz/ibdiagnet2.db_csv")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_packed_text_is_read_alone_and_in_an_archive(pack, tmp_path):
    (tmp_path / "dmesg.packed").write_bytes(pack(LINE))
    (tmp_path / "in.tar").write_bytes(_tar({"dmesg.packed": pack(LINE)}, "w"))
    for name in ("dmesg.packed", "in.tar"):
        [fact] = observe(tmp_path / name).of(ModuleRefused)
        assert fact.evidence.file == "dmesg.packed"


def test_what_cannot_be_unpacked_here_is_named_with_the_reason(tmp_path):
    (tmp_path / "journal.zst").write_bytes(b"\x28\xb5\x2f\xfd" + bytes(64))
    [file] = observe(tmp_path / "journal.zst").files
    assert file.skipped == "it is packed with zstd: unpack it first"


def test_archives_within_archives_end_somewhere(tmp_path):
    held = LINE
    for _ in range(12):
        held = gzip.compress(held)
    (tmp_path / "deep.gz").write_bytes(held)
    [file] = observe(tmp_path / "deep.gz").files
    assert "within one another" in file.skipped


def test_a_bomb_within_an_archive_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(bundle, "_RATIO_MATTERS_BYTES", 1 << 16)
    monkeypatch.setattr(bundle, "MOST_RATIO", 10)
    bomb = gzip.compress(b"\n" * (8 << 20))
    (tmp_path / "out.tar").write_bytes(_tar({"bomb.gz": bomb, "after.txt": LINE}, "w"))
    seen = observe(tmp_path / "out.tar")
    assert "more than may be read" in seen.files[0].skipped
    assert len(seen.of(ModuleRefused)) == 1


def test_members_that_are_passed_over_are_counted_too(tmp_path, monkeypatch):
    """Binary members are given up at once, but a packed archive must be unpacked past them."""
    monkeypatch.setattr(bundle, "MOST_TOTAL_BYTES", 1 << 20)
    junk = bytes(range(256)) * 2048
    (tmp_path / "junk.tar.gz").write_bytes(_tar({f"{n}.bin": junk for n in range(9)}))
    files = observe(tmp_path / "junk.tar.gz").files
    assert len(files) < 9
    assert "more than may be read" in files[-1].skipped


def test_headers_of_folders_and_links_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(bundle, "_MOST_HEADERS", 50)
    with tarfile.open(tmp_path / "folders.tar", "w") as archive:
        for number in range(200):
            info = tarfile.TarInfo(f"d{number}")
            info.type = tarfile.DIRTYPE
            archive.addfile(info)
    [file] = observe(tmp_path / "folders.tar").files
    assert "more than may be read" in file.skipped


def test_a_long_list_of_an_archive_is_not_taken_into_memory(tmp_path, monkeypatch):
    path = tmp_path / "list.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(20_000):
            archive.writestr(f"{number:0200}", b"")
    monkeypatch.setattr(bundle, "_MOST_LISTING_BYTES", 1 << 20)
    tracemalloc.start()
    [file] = observe(path).files
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "lists more files" in file.skipped
    assert peak < 2 << 20


def test_an_archive_of_many_members_is_not_remembered(tmp_path):
    path = tmp_path / "many.tar"
    path.write_bytes(_tar({f"{n}/{'x' * 90}": b"" for n in range(20_000)}, "w"))
    tracemalloc.start()
    seen = observe(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(seen.files) == 20_000
    assert peak < 25 << 20  # of which most are the names in the account


@pytest.mark.parametrize("cut", range(0, 1200, 37))
def test_a_damaged_archive_never_raises(cut, tmp_path):
    whole = _tar({"a.gz": gzip.compress(LINE * 99), "b.tar.xz": _tar({"c": LINE}, "w:xz")})
    damaged = bytearray(whole)
    damaged[cut % len(whole)] ^= 0xFF
    for name, content in (("cut", whole[: cut % len(whole)]), ("flipped", bytes(damaged))):
        (tmp_path / name).write_bytes(content)
        assert observe(tmp_path / name).files


def test_a_bundle_keeps_so_many_facts_and_counts_the_rest(tmp_path, monkeypatch):
    """Of 2 GiB of logs two million facts were a GiB of memory."""
    monkeypatch.setattr(bundle, "_MOST_FACTS", 5)
    rows = "".join(f"     rx_prio{n}_pause: {n}\n" for n in range(8))
    (tmp_path / "ethtool_-S_ens1").write_text(f"NIC statistics:\n{rows}")
    seen = observe(tmp_path)
    assert len(seen.facts) == 5
    assert seen.files[0].left_out == 3


def test_examples_of_unread_lines_are_kept_of_the_first_files(tmp_path, monkeypatch):
    monkeypatch.setattr(bundle, "_MOST_EXAMPLES", 2)
    for number in range(4):
        (tmp_path / f"{number}.txt").write_text("nothing a tool prints\n")
    assert [len(one.first_unread) for one in observe(tmp_path).files] == [1, 1, 0, 0]
