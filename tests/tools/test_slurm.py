"""slurmctld reads a rendered topology.conf, and scontrol shows the same tree."""

import getpass
import os
import re
import shutil
import signal
import socket
import subprocess
import time

import pytest

from weft.generate.plan import plan
from weft.generate.target import render
from weft.spec.cluster import Tenant
from weft.spec.load import preset

MISSING = [tool for tool in ("slurmctld", "scontrol") if shutil.which(tool) is None]
PATIENCE_S = 600

pytestmark = [
    pytest.mark.tool,
    pytest.mark.slow,
    pytest.mark.skipif(
        bool(MISSING), reason=f"not installed: {', '.join(MISSING)}; run scripts/tools.sh"
    ),
]


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _conf(folder, hosts: int) -> str:
    port, tenants = _free_port(), folder / "tenants.conf"
    return f"""ClusterName=weft
SlurmctldHost=localhost(127.0.0.1)
SlurmUser={getpass.getuser()}
AuthType=auth/none
CredType=cred/none
SlurmctldPort={port}
SlurmdPort={port + 1}
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/ctld.pid
SlurmctldLogFile={folder}/ctld.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
TopologyPlugin=topology/tree
GresTypes=gpu
NodeName=host-[0000-{hosts - 1:04d}] NodeAddr=127.0.0.1 CPUs=8 Gres=gpu:8 State=UNKNOWN
{f"Include {tenants}" if tenants.exists() else "PartitionName=gpu Nodes=ALL Default=YES"}
"""


def _shown(folder, topology: str, hosts: int, *more: str, **files: str) -> tuple[str, str]:
    """Start the controller on a topology; return what scontrol shows, and the log."""
    (folder / "state").mkdir()
    for name, text in files.items():
        (folder / f"{name}.conf").write_text(text)
    (folder / "slurm.conf").write_text(_conf(folder, hosts))
    (folder / "topology.conf").write_text(topology)
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
    with (folder / "out").open("w") as out:
        controller = subprocess.Popen(
            ["slurmctld", "-D", "-c", "-f", str(folder / "slurm.conf")],
            env=environment, stdout=out, stderr=out, cwd=folder,
        )  # fmt: skip
    try:
        end = time.monotonic() + PATIENCE_S
        shown = ""
        while "SwitchName" not in shown and controller.poll() is None:
            assert time.monotonic() < end, (folder / "out").read_text()
            time.sleep(0.2)
            shown = subprocess.run(
                ["scontrol", "show", "topology"], env=environment, capture_output=True,
                text=True, timeout=PATIENCE_S, check=False,
            ).stdout  # fmt: skip
        for what in more:
            shown += subprocess.run(
                ["scontrol", "show", what], env=environment, capture_output=True, text=True,
                timeout=PATIENCE_S, check=True,
            ).stdout  # fmt: skip
    finally:
        controller.send_signal(signal.SIGTERM)
        try:
            controller.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            controller.kill()
            controller.wait()
    return shown, (folder / "out").read_text() + (folder / "ctld.log").read_text()


@pytest.mark.parametrize(("name", "hosts"), [("hgx_h100_roce", 192), ("dgx_h100", 1024)])
@pytest.mark.proves(
    "slurm",
    effect="the controller shows the tree that was rendered",
    tool="slurm",
)
def test_the_controller_shows_the_tree_that_was_rendered(name, hosts, tmp_path):
    files = {
        file.path: file.text
        for file in render(plan(preset(name, hosts=hosts)), ["slurm"]).files
    }
    text = files["slurm/topology.conf"]
    shown, log = _shown(tmp_path, text, hosts, gres=files["slurm/gres.conf"])
    assert not re.findall(r"(?:error|fatal):.*(?:opology|witch|node).*", log)
    rendered = re.findall(r"^SwitchName=(\S+)", text, re.MULTILINE)
    assert re.findall(r"SwitchName=(\S+)", shown) == rendered
    name = f"SwitchName={rendered[-1]} "
    top = next(line for line in shown.splitlines() if name in line)
    assert f"Nodes=host-[0000-{hosts - 1:04d}]" in top


def test_a_planted_fault_is_seen(tmp_path):
    """Or else no complaint would mean nothing."""
    shown, log = _shown(tmp_path, "SwitchName=unit0000 Hosts=host-[0000-0003]\n", 4)
    assert "SwitchName" not in shown
    assert "fatal" in log


@pytest.mark.proves(
    "slurm",
    effect="a tenant's partition has its hosts alone",
    tool="slurm",
)
def test_the_controller_keeps_tenants_on_their_hosts_and_counts_their_gpus(tmp_path):
    tenants = (Tenant(name="red", hosts=2), Tenant(name="blue", hosts=1))
    cluster = preset("dgx_h100", hosts=4).with_(tenants=tenants)
    files = {file.path: file.text for file in render(plan(cluster), ["slurm"]).files}
    shown, log = _shown(
        tmp_path, files["slurm/topology.conf"], 4, "partitions", "nodes",
        gres=files["slurm/gres.conf"], tenants=files["slurm/tenants.conf"],
    )  # fmt: skip
    complaints = set(re.findall(r"(?:error|fatal): (.*(?:gres|artition|topology).*)", log))
    # A job names its tenant: no partition is everybody's.
    assert complaints <= {"read_slurm_conf: default partition not set."}
    held = dict(re.findall(r"PartitionName=(\S+)(?s:.*?)\bNodes=(\S+)", shown))
    assert held == {"red": "host-[0000-0001]", "blue": "host-0002"}
    assert re.findall(r"AllowAccounts=(\S+)", shown) == ["red", "blue"]
    assert re.findall(r"Gres=(\S+)", shown) == ["gpu:8"] * 4
