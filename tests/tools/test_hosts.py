"""The host's own tools read what is rendered for it."""

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
