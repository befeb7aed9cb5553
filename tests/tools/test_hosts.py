"""The host's own tools read what is rendered for it."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from weft.generate.plan import plan
from weft.generate.target import render, write
from weft.spec.load import preset

pytestmark = pytest.mark.tool


def _needs(tool: str):
    return pytest.mark.skipif(
        shutil.which(tool) is None, reason=f"{tool} is not installed; run scripts/tools.sh"
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("rendered")
    targets = ["nccl", "linux_host"]
    write(render(plan(preset("hgx_h100_roce", hosts=4)), targets), made)
    return made


@_needs("shellcheck")
@pytest.mark.parametrize("path", ["linux_host/weft-rdma", "linux_host/weft-gpudirect"])
@pytest.mark.proves(
    "linux_host",
    effect="the scripts are clean",
    tool="shell",
)
def test_the_script_is_a_clean_shell_script(folder, path):
    done = subprocess.run(
        ["shellcheck", folder / path], capture_output=True, text=True, check=False
    )
    assert done.stdout == ""
    assert done.returncode == 0


def test_a_shell_reads_the_variables_as_they_were_planned(folder):
    command = f'. "{folder}/nccl/nccl.env" && env'
    done = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, check=True, env={"PATH": "/bin"}
    )
    seen = dict(line.split("=", 1) for line in done.stdout.splitlines() if "NCCL_" in line)
    planned = plan(preset("hgx_h100_roce", hosts=4)).nccl.settings
    assert seen == {name: one.text() for name, one in planned.items()}


@_needs("systemd-analyze")
@pytest.mark.parametrize("name", ["weft-rdma", "weft-gpudirect"])
def test_systemd_has_nothing_against_the_unit(folder, tmp_path, name):
    """It leaves with 0 even for unknown keys, so all that it says counts."""
    text = (folder / "linux_host" / f"{name}.service").read_text()
    unit = tmp_path / f"{name}.service"
    script = folder / "linux_host" / name
    unit.write_text(text.replace(f"/usr/local/sbin/{name}", str(script)))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", unit],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    about = [line for line in done.stderr.splitlines() if name in line]
    assert about == []
    unit.write_text(text.replace("Type=", "Typ="))
    bad = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", unit],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Typ" in bad.stderr


def test_the_kernel_has_every_key_of_sysctl(folder):
    text = (folder / "linux_host" / "90-weft-rdma.conf").read_text()
    keys = re.findall(r"^([\w.]+) = ", text, re.MULTILINE)
    assert keys
    for key in keys:
        assert (Path("/proc/sys") / key.replace(".", "/")).exists(), key


def _fake(folder: Path, name: str, body: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{body}\n")
    (folder / name).chmod(0o755)


@pytest.mark.parametrize(("licence", "loaded"), [("NVIDIA", True), ("Dual MIT/GPL", False)])
def test_only_bridges_with_the_capability_lose_acs(folder, tmp_path, licence, loaded):
    """Two bridges and a GPU: one bridge has ACS. The closed driver needs its module."""
    for device, kind in (
        ("00:01.0", "0x060400"),
        ("00:02.0", "0x060400"),
        ("01:00.0", "0x030200"),
    ):
        place = tmp_path / "bus" / "pci" / "devices" / device
        place.mkdir(parents=True)
        (place / "class").write_text(kind + "\n")
    log = tmp_path / "log"
    _fake(tmp_path, "setpci", f'[ "$2" = 00:01.0 ] || exit 1; echo "setpci $*" >>{log}')
    _fake(tmp_path, "modinfo", f'echo "{licence}"')
    _fake(tmp_path, "modprobe", f'echo "modprobe $*" >>{log}')
    done = subprocess.run(
        ["sh", folder / "linux_host" / "weft-gpudirect"], capture_output=True, text=True,
        check=False, env={"PATH": f"{tmp_path}:/usr/bin:/bin", "SYSFS": str(tmp_path)},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    lines = log.read_text().splitlines()
    assert [line for line in lines if "=" in line] == ["setpci -s 00:01.0 ECAP_ACS+0x6.w=0000"]
    assert ("modprobe nvidia-peermem" in lines) == loaded


OFED = {
    "class/net/{net}/ecn/roce_np": "cnp_dscp cnp_802p_prio min_time_between_cnps",
    "class/net/{net}/ecn/roce_rp": "rpg_ai_rate rpg_hai_rate rpg_time_reset rpg_byte_reset",
    "class/net/{net}/ecn/roce_np/enable": "3",
    "class/net/{net}/ecn/roce_rp/enable": "3",
    "class/infiniband/{device}/tc/1": "traffic_class",
}
KERNEL = {
    "kernel/config/rdma_cm/{device}/ports/1": "default_roce_mode default_roce_tos",
    "kernel/debug/mlx5/{slot}/cc_params": "np_cnp_dscp np_cnp_prio rp_ai_rate",
}
TOOLS = {"ofed": ("mlnx_qos", "cma_roce_mode", "cma_roce_tos"), "kernel": ("dcb",), "bare": ()}


def _fake_sysfs(root: Path, devices: int, files: dict[str, str]) -> None:
    for number in range(devices):
        named = {
            "net": f"net{number}",
            "device": f"mlx5_{number}",
            "slot": f"0000:{number:02x}:00.0",
        }
        device = root / "devices" / named["slot"]
        (device / "net" / named["net"]).mkdir(parents=True)
        place = root / "class" / "infiniband" / named["device"]
        place.mkdir(parents=True)
        (place / "device").symlink_to(device)
        for folder, names in files.items():
            made = root / folder.format_map(named)
            made.mkdir(parents=True, exist_ok=True)
            for name in names.split():
                (made / name).write_text("0")


@pytest.mark.skipif(os.geteuid() != 0, reason="a network namespace takes root")
@_needs("unshare")
@pytest.mark.parametrize("driver", list(TOOLS))
@pytest.mark.proves(
    "linux_host",
    effect="every address is set, with the files of MLNX_OFED, of the kernel or of neither",
    tool="namespaces",
)
def test_every_address_is_set_whatever_the_driver_has(folder, tmp_path, driver):
    """With MLNX_OFED, with the kernel's driver and dcb, and where nothing of both is there."""
    files = {"ofed": OFED, "kernel": KERNEL, "bare": {}}[driver]
    _fake_sysfs(tmp_path / "sys", 8, files)
    tools = tmp_path / "bin"
    tools.mkdir()
    log = tmp_path / "log"
    for name in (*TOOLS[driver], "ethtool"):
        _fake(tools, name, f'echo "{name} $*" >>{log}')
    _fake(tools, "hostname", "echo host-0001")
    script, rails = folder / "linux_host" / "weft-rdma", folder / "linux_host" / "rails.tsv"
    lines = [
        f"ip link add net{n} type veth peer name far{n}; ip link set far{n} up"
        for n in range(8)
    ]
    lines += [f"sh {script} 2>{tmp_path}/said", "echo $? >&2", "ip -j address", "ip rule"]
    done = subprocess.run(
        ["unshare", "--net", "sh", "-c", "; ".join(lines)], capture_output=True, text=True,
        check=True, env={"PATH": f"{tools}:/usr/sbin:/usr/bin:/sbin:/bin",
                         "SYSFS": str(tmp_path / "sys"), "RAILS": str(rails)},
    )  # fmt: skip
    shown = json.JSONDecoder().raw_decode(done.stdout)[0]
    found = {
        (one["ifname"], f"{address['local']}/{address['prefixlen']}")
        for one in shown
        for address in one.get("addr_info", ())
        if address["family"] == "inet"
    }
    rows = [row.split("\t") for row in rails.read_text().splitlines() if "host-0001\t" in row]
    assert len(rows) == 8
    assert {(f"net{row[1].removeprefix('mlx5_')}", row[2]) for row in rows} <= found
    assert all(f"lookup {row[4]}" in done.stdout for row in rows)
    said = (tmp_path / "said").read_text()
    asked = log.read_text()
    if driver == "ofed":
        assert (said, done.stderr) == ("", "0\n")
        assert asked.count("--pfc 0,0,0,1,0,0,0,0 --cable_len") == 8
        place = tmp_path / "sys/class/net/net7/ecn/roce_np/cnp_dscp"
        assert place.read_text().strip() == "48"
        return
    assert done.stderr.split()[-1] == "1"
    assert "of cable" in said, "the length of the cables could not be told, so it is said"
    if driver == "kernel":
        assert asked.count("pfc set dev net") == 8
        manager = tmp_path / "sys/kernel/config/rdma_cm/mlx5_3/ports/1"
        assert (manager / "default_roce_tos").read_text().strip() == "106"
        control = tmp_path / "sys/kernel/debug/mlx5/0000:03:00.0/cc_params"
        assert (control / "np_cnp_dscp").read_text().strip() == "48"
    else:
        assert said.count("failed: pfc of net") == 8
