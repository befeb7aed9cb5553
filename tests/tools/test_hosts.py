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
@pytest.mark.parametrize("path", ["linux_host/weft-rdma"])
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
def test_systemd_has_nothing_against_the_unit(folder, tmp_path):
    """It leaves with 0 even for unknown keys, so all that it says counts."""
    text = (folder / "linux_host" / "weft-rdma.service").read_text()
    unit = tmp_path / "weft-rdma.service"
    script = folder / "linux_host" / "weft-rdma"
    unit.write_text(text.replace("/usr/local/sbin/weft-rdma", str(script)))
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", unit],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    about = [line for line in done.stderr.splitlines() if "weft-rdma" in line]
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
