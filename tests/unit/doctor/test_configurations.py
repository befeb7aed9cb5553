"""Configurations beside outputs: their faults are findings, and what they set is expected."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from rendered_fabrics import texts
from weft.doctor.diagnose import Diagnosis, diagnose
from weft.doctor.verdict import Verdict
from weft.lint.lint import all_rules
from weft.readers.read import read

SAMPLES = Path(__file__).parents[2] / "samples" / "lint"
NEEDS_MORE = frozenset({"cluster_differs", "nccl_cross_nic", "pod_gpu_and_rails"})
"""Rules that compare with a cluster document, which the command line takes apart."""
NAMES = [name for name, _ in all_rules() if name not in NEEDS_MORE]


def diagnosed(folder: Path, files: dict[str, str]) -> Diagnosis:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return diagnose([folder])


@pytest.mark.parametrize("name", NAMES)
def test_what_a_rule_of_lint_finds_is_a_finding_with_its_line_and_its_fix(name: str) -> None:
    found = [one for one in diagnose([SAMPLES / name / "fires"]).findings
             if one.cause == f"lint.{name}"]  # fmt: skip
    assert found
    assert found[0].evidence[0].line
    assert found[0].fix
    silent = diagnose([SAMPLES / name / "silent"])
    assert f"lint.{name}" not in [one.cause for one in silent.findings]


@pytest.mark.parametrize("fabric", ["roce", "infiniband", "roce_arista", "roce_cisco", "efa"])
def test_what_weft_renders_is_no_problem_and_all_of_it_is_read(
    tmp_path: Path, fabric: str
) -> None:
    result = diagnosed(tmp_path, texts(fabric))
    assert result.verdict is Verdict.NONE, result.findings
    assert not [one.cause for one in result.findings if one.severity != "info"]
    assert not [one for one in result.not_covered if one.startswith("most of")]


def test_a_folder_without_configurations_imports_no_reader_of_them(tmp_path: Path) -> None:
    (tmp_path / "nccl.log").write_text("n1:1:2 [0] NCCL INFO Using network IB\n")
    given = []
    read(tmp_path, configurations=lambda *one: given.append(one) or ())
    assert not given


@dataclass(frozen=True)
class Shown:
    """An output that shows what a rendered configuration sets, as it is and as it is not."""

    attribute: str
    fabric: str
    configuration: str
    """The file that sets it, and a part of the line."""
    line: str
    output: str
    text: str
    """With ``@`` where the value stands."""
    agrees: str
    differs: str
    written: str = ""
    """The configuration, where weft renders none of this kind."""


def sonic_ports(column: str) -> str:
    """Return `show interfaces status` of SONiC, with ``@`` in one column of Ethernet0."""
    titles = ("Interface", "Lanes", "Speed", "MTU", "FEC", "Alias", "Oper", "Admin", "Type")
    rows = []
    for port in ("Ethernet0", "Ethernet8"):
        cells = {"Interface": port, "Lanes": "1,2,3,4", "Speed": "400G", "MTU": "9216",
                 "FEC": "rs", "Alias": "etp1", "Oper": "up", "Admin": "up",
                 "Type": "OSFP"}  # fmt: skip
        if port == "Ethernet0":
            cells[column] = "@"
        rows.append("  ".join(f"{cells[one]:>12}" for one in titles))
    head = "  ".join(f"{one:>12}" for one in titles)
    return "\n".join((head, "  ".join("-" * 12 for _ in titles), *rows, ""))


GIDS = (
    "DEV\tPORT\tINDEX\tGID\tIPv4\tVER\tDEV\n"
    "mlx5_0\t1\t3\t0000:0000:0000:0000:0000:ffff:0a00:0001\t10.0.0.1\tv2\teth2\n"
)
SONIC = ("roce", "sonic/leaf-0000/config_db.json")
STATUS = "leaf-0000/show_interfaces_status.txt"
HOST = ("roce", "linux_host/weft-rdma")
SHOWN = [
    Shown("switch_port.mtu", *SONIC, '"Ethernet0"', STATUS, sonic_ports("MTU"), "9216", "1500"),
    Shown(
        "switch_port.rate", *SONIC, '"Ethernet0"', STATUS, sonic_ports("Speed"), "400G", "100G"
    ),
    Shown("switch_port.fec", *SONIC, '"Ethernet0"', STATUS, sonic_ports("FEC"), "rs", "none"),
    Shown(
        "switch_port.admin", *SONIC, '"Ethernet0"', STATUS, sonic_ports("Admin"), "up", "down"
    ),
    Shown(
        "switch_port.mtu",
        "roce_arista",
        "eos/leaf-0000/eos.conf",
        "mtu",
        "leaf-0000/show_interfaces.txt",
        "Ethernet1/1 is up, line protocol is up\n  IP MTU @ bytes, BW 400000000 kbit\n",
        "9214",
        "1500",
    ),
    Shown(
        "switch_port.admin",
        "roce_cisco",
        "nxos/leaf-0000/nxos.conf",
        "",
        "leaf-0000/show_interface.txt",
        "Ethernet1/1/1 is @\n  MTU 9216 bytes, BW 400000000 Kbit , DLY 10 usec\n",
        "up",
        "down (Administratively down)",
    ),
    Shown(
        "switch_port.pfc",
        "roce_cisco",
        "nxos/leaf-0000/nxos.conf",
        "priority-flow-control",
        "leaf-0000/show_pfc.txt",
        "RxPPP: No. of PPP frames\nPort               Mode Oper(VL bmap)  RxPPP      TxPPP\n"
        "Ethernet1/1/1        On   @   (8)         0          0\n",
        "On ",
        "Off",
    ),
    Shown(
        "switch.asn",
        "roce_arista",
        "eos/leaf-0000/eos.conf",
        "router bgp",
        "leaf-0000/show_bgp_summary.txt",
        "BGP router identifier 100.64.0.1, local AS number @\n",
        "4200100000",
        "65999",
    ),
    Shown(
        "interface.mtu",
        *HOST,
        "mtu 9000",
        "n1/ip_link.txt",
        "4: eth2: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu @ qdisc mq state UP mode DEFAULT\n",
        "9000",
        "1500",
    ),
    Shown(
        "interface.pfc",
        *HOST,
        "mlnx_qos",
        "n1/mlnx_qos_-i_eth2.txt",
        "PFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n\tenabled     @\n",
        "0   0   0   1   0   0   0   0",
        "0   0   0   0   0   0   0   0",
    ),
    Shown(
        "interface.trust",
        *HOST,
        "mlnx_qos",
        "n1/mlnx_qos_-i_eth2.txt",
        "Priority trust state: @\n",
        "dscp",
        "pcp",
    ),
    Shown(
        "interface.pause_rx",
        *HOST,
        "ethtool -A",
        "n1/ethtool_-a_eth2.txt",
        "Pause parameters for eth2:\nAutonegotiate:\toff\nRX:\t\t@\nTX:\t\toff\n",
        "off",
        "on",
    ),
    Shown(
        "setting.value",
        "roce",
        "nccl/nccl.conf",
        "NCCL_IB_TC",
        "nccl.log",
        "n1:1:2 [0] NCCL INFO NCCL_IB_TC set by environment to @.\n",
        "106",
        "0",
    ),
    Shown(
        "setting.value",
        "roce",
        "linux_host/90-weft-rdma.conf",
        "rp_filter",
        "n1/sysctl_-a.txt",
        "net.ipv4.conf.all.rp_filter = @\n",
        "2",
        "1",
    ),
    Shown(
        "setting.value",
        "",
        "n1/etc/default/grub",
        "iommu=pt",
        "n1/proc/cmdline",
        "BOOT_IMAGE=/vmlinuz root=/dev/md0 ro @\n",
        "quiet iommu=pt",
        "quiet",
        written='GRUB_CMDLINE_LINUX="iommu=pt"\n',
    ),
    Shown(
        "setting.value",
        "",
        "pod.yaml",
        "=mlx5_0",
        "nccl.log",
        "n1:1:2 [0] NCCL INFO NCCL_IB_HCA set by environment to @.\n",
        "=mlx5_0,mlx5_1",
        "=mlx5_0",
        written="apiVersion: v1\nkind: Pod\nmetadata: {name: train}\nspec:\n  containers:\n"
        "  - name: a\n    env:\n    - name: NCCL_IB_HCA\n      value: =mlx5_0,mlx5_1\n",
    ),
    Shown(
        "session.asn",
        "",
        "leaf1/frr.conf",
        "neighbor",
        "leaf1/show_bgp_summary.txt",
        "Neighbor  V  AS  MsgRcvd  MsgSent  TblVer  InQ  OutQ  Up/Down  State/PfxRcd\n"
        "10.0.0.1  4  @  10  10  0  0  0  01:02:03  12\n",
        "65100",
        "65999",
        written="frr version 10.1\nhostname leaf1\nservice integrated-vtysh-config\n"
        "router bgp 65001\n"
        " neighbor 10.0.0.1 remote-as 65100\n address-family ipv4 unicast\n"
        "  redistribute connected\n  maximum-paths 64\n",
    ),
]


def read_beside(folder: Path, shown: Shown, value: str) -> Diagnosis:
    written = shown.written or texts(shown.fabric)[shown.configuration]
    files = {shown.configuration: written, shown.output: shown.text.replace("@", value)}
    if shown.fabric == "roce" and shown.output.startswith("n1/"):
        files["n1/show_gids.txt"] = GIDS
    return diagnosed(folder, files)


@pytest.mark.parametrize("shown", SHOWN, ids=lambda one: f"{one.attribute} {one.output}")
def test_what_runs_as_it_is_configured_is_silent(tmp_path: Path, shown: Shown) -> None:
    result = read_beside(tmp_path, shown, shown.agrees)
    assert result.verdict is Verdict.NONE, result.findings
    assert not [one for one in result.findings if one.severity != "info"]


@pytest.mark.parametrize("shown", SHOWN, ids=lambda one: f"{one.attribute} {one.output}")
def test_what_runs_otherwise_is_found_with_both_lines(tmp_path: Path, shown: Shown) -> None:
    result = read_beside(tmp_path, shown, shown.differs)
    source = f"configured in {shown.configuration}:"
    texts_of_all = [text for one in result.findings for text in one.deviations]
    deviations = [text for text in texts_of_all if source in text]
    assert deviations, result.findings
    found = next(one for one in result.findings if set(deviations) & set(one.deviations))
    files = {line.file for line in found.evidence}
    assert files >= {shown.configuration, shown.output}
    lines = [line.text for line in found.evidence if line.file == shown.configuration]
    assert any(shown.line in line for line in lines), lines
    assert result.verdict is Verdict.PROBLEM


def test_a_symptom_and_its_configured_cause_are_one_finding(tmp_path: Path) -> None:
    leaf = texts("roce")["sonic/leaf-0000/config_db.json"]
    files = {
        "switches/leaf-0000/config_db.json": leaf.replace('"wred_profile"', '"wred_none"'),
        "hosts/n1/ethtool_-S_eth2": "NIC statistics:\n     rx_prio3_pause: 18000000\n",
    }
    result = diagnosed(tmp_path, files)
    found = result.findings[0]
    assert found.cause == "pause-without-ecn"
    assert found.confidence == "high"
    assert {line.file for line in found.evidence} == set(files)
    assert "has no ECN profile: give it one" in found.fix
    assert "lint.ecn_queue" not in [one.cause for one in result.findings]


def test_what_is_configured_alone_makes_no_symptom(tmp_path: Path) -> None:
    leaf = texts("roce")["sonic/leaf-0000/config_db.json"]
    files = {"config_db.json": leaf.replace('"wred_profile"', '"wred_none"')}
    causes = [one.cause for one in diagnosed(tmp_path, files).findings]
    assert "lint.ecn_queue" in causes
    assert "pause-without-ecn" not in causes


def test_a_setting_in_a_script_explains_why_there_is_no_rdma(tmp_path: Path) -> None:
    line = "n{n}:10:10 [0] NCCL INFO {text}\n"
    texts_of_log = ("NET/Socket : Using [0]eth0:10.0.0.1<0>", "Using network Socket",
                    "comm 0x1 rank 0 nRanks 32 nNodes 4 localRanks 8 localRank 0")  # fmt: skip
    log = "".join(line.format(n=n, text=text) for n in range(4) for text in texts_of_log)
    files = {"run.sh": "#!/bin/bash\nexport NCCL_IB_DISABLE=1\nsrun train\n", "nccl.log": log}
    found = diagnosed(tmp_path, files).findings[0]
    assert found.cause == "nccl-env-misuse"
    assert "run.sh" in {line.file for line in found.evidence}


@pytest.mark.parametrize(("seen", "planned"), [("spine-0000", True), ("spine-0001", False)])
def test_a_description_is_held_against_lldp(
    tmp_path: Path, seen: str, *, planned: bool
) -> None:
    lines = (
        "Port          Neighbor Device ID       Neighbor Port ID    TTL",
        f"Et17/1        {seen}               Ethernet1/1         120",
    )
    rendered = texts("roce_arista")
    names = ("eos/leaf-0000/eos.conf", "eos/spine-0000/eos.conf", "eos/spine-0001/eos.conf")
    files = {name: rendered[name] for name in names}
    files["leaf-0000/show_lldp_neighbors.txt"] = "\n".join(lines) + "\n"
    result = diagnosed(tmp_path, files)
    if planned:
        assert result.verdict is Verdict.NONE, result.findings
        return
    found = result.findings[0]
    assert "Et17/1" in found.told
    assert {line.file for line in found.evidence} >= {
        names[0],
        "leaf-0000/show_lldp_neighbors.txt",
    }


@pytest.mark.parametrize(("limit", "sound"), [("unlimited", True), ("8388608", False)])
def test_a_limit_of_limits_conf_that_a_process_does_not_have(
    tmp_path: Path, limit: str, *, sound: bool
) -> None:
    files = {
        "etc/security/limits.conf": "* soft memlock unlimited\n* hard memlock unlimited\n",
        "limits.txt": f"Max locked memory      {limit}          {limit}          bytes\n",
    }
    result = diagnosed(tmp_path, files)
    assert (result.verdict is Verdict.NONE) is sound, result.findings
    if not sound:
        assert "LimitMEMLOCK" in result.findings[0].fix
        assert {line.file for line in result.findings[0].evidence} == set(files)
