"""A subnet of ibsim with planted faults, gathered by the script and diagnosed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tools.ibsim import Lab, Net, cluster_of, needs_ibsim, rendered
from weft import api
from weft.collect.script import Wish, script
from weft.doctor.findings import NAMED_RATIO
from weft.inventory.severity import Severity

pytestmark = [pytest.mark.tool, pytest.mark.slow, needs_ibsim]

# The simulated adapters answer, yet the machine has no device files for them.
OF_THE_SIMULATION = {"container-no-rdma-device"}
# In place of an hour between the samples: until the fault is there, whatever that takes.
SLEEP = f"""#!/bin/sh
until [ -e planted ]; do {shutil.which("sleep")} 0.05; done
exec {shutil.which("sleep")} 1
"""
TRIES = 5


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("collect")
    cluster = cluster_of(48, "leaf_spine", nics=2)
    net = Net(cluster)
    (folder / "collect.sh").write_text(script(Wish(interval_s=3600, fabric=True)))
    sleep = folder / "bin" / "sleep"
    sleep.parent.mkdir()
    sleep.write_text(SLEEP)
    sleep.chmod(0o755)
    with Lab(folder, net) as running:
        running.opensm(rendered(cluster, net, folder))
        yield net, running


def _errors(lab: Lab, name: str, meanwhile: str = "", before: str = "") -> list:
    """Gather a bundle, perhaps with a fault after the first sample; return the errors found."""
    bundles = (_gathered(lab, f"{name}-{again}", meanwhile, before) for again in range(TRIES))
    bundle = next(one for one in bundles if not _a_tool_crashed(one))
    found = api.diagnose([bundle]).findings
    return [
        one for one in found
        if one.severity is Severity.ERROR and one.cause not in OF_THE_SIMULATION
        and one.probability_ratio >= NAMED_RATIO
    ]  # fmt: skip


def _a_tool_crashed(bundle: Path) -> bool:
    """Say whether a tool died of its own fault, as ibqueryerrors on ibsim now and then does."""
    return any("left with 139" in one.read_text() for one in bundle.rglob("not_read"))


def _gathered(lab: Lab, name: str, meanwhile: str, before: str) -> Path:
    planted = lab.folder / "planted"
    planted.unlink(missing_ok=True)
    path = f"{lab.folder / 'bin'}:{os.environ['PATH']}"
    if before:
        lab.tell(before)
    with subprocess.Popen(
        ["sh", "collect.sh", name], env={**lab.client, "PATH": path}, cwd=lab.folder,
        stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        for line in process.stderr:
            if "state" in line:
                if meanwhile:
                    lab.tell(meanwhile)
                planted.touch()
    assert process.returncode == 0
    return lab.folder / name


def test_a_healthy_subnet_has_no_error(lab):
    _, running = lab
    assert _errors(running, "healthy") == []


def test_a_counter_that_rises_between_the_samples_names_its_port(lab):
    net, running = lab
    leaf = net.switches[0]
    rise = f'PerformanceSet "S-{net.guids[leaf.name]}"[3] PortCounters.SymbolErrorCounter=99'
    calm = rise.replace("=99", "=0")
    [found] = _errors(running, "errors", rise, before=calm)
    assert found.cause == "ib-link-errors"
    assert f"port 3 of {leaf.name}" in found.entities
    assert found.probability_ratio > 0.8
    running.tell(calm)


def test_a_cable_that_was_pulled_is_a_port_that_is_down(lab):
    net, running = lab
    spine = next(one for one in net.switches if one.tier == 1)
    running.tell(f'Unlink "S-{net.guids[spine.name]}"[2]')
    [found] = _errors(running, "pulled")
    assert found.cause == "ib-port-down"
    assert f"port 2 of {spine.name}" in found.entities
