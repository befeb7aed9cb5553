"""Open MPI starts every rank of the rendered line, with the planned environment."""

import os
import shutil
import subprocess

import pytest

from weft.generate.plan import plan
from weft.generate.target import render, write
from weft.spec.load import preset

pytestmark = [
    pytest.mark.tool,
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("mpirun") is None, reason="Open MPI is not installed; run scripts/tools.sh"
    ),
]


@pytest.mark.proves(
    "launch",
    effect="every rank starts with the planned environment",
    tool="openmpi",
)
def test_every_rank_starts_with_the_planned_environment(tmp_path):
    cluster = preset("hgx_h100_roce", hosts=1)
    write(render(plan(cluster), ["launch"]), tmp_path)
    folder = tmp_path / "launch"
    hostfile = folder / "hostfile"
    assert hostfile.read_text() == "host-0000 slots=8\n"
    hostfile.write_text("localhost slots=8\n")
    own = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(
        [folder / "mpirun.sh", "sh", "-c", "echo $OMPI_COMM_WORLD_RANK $NCCL_IB_TC"],
        capture_output=True, text=True, check=False, env={**os.environ, **own}, timeout=1800,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == [f"{rank} 106" for rank in range(8)]


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="shellcheck is not installed")
@pytest.mark.parametrize("path", ["launch/torchrun.sh", "launch/mpirun.sh",
                                  "nccl_topology/weft-nccl-topology"])  # fmt: skip
def test_the_scripts_are_clean_shell_scripts(path, tmp_path):
    cluster = preset("azure_nd_h100_v5", hosts=2)
    write(render(plan(cluster), ["launch", "nccl_topology"]), tmp_path)
    done = subprocess.run(
        ["shellcheck", tmp_path / path], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("", 0)
