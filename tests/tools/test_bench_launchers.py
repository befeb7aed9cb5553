"""Launchers that really start ranks: mpirun, srun, ssh, and kubectl up to its arguments.

A collective of two ranks of gloo runs on this host through each of them. Slurm's controller
and daemon are started for the test, and an ssh server with keys of its own.
"""

import getpass
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from elsewhere import pretend, runs, until
from weft.cli import app

PATIENCE_S = 600
PLACES = f"{os.environ['PATH']}:/usr/sbin:/sbin"
PROGRAMS = ("mpirun", "srun", "slurmctld", "slurmd", "sshd", "ssh", "ssh-keygen")
BIN = {name: shutil.which(name, path=PLACES) for name in PROGRAMS}
pytestmark = [
    pytest.mark.tool,
    pytest.mark.slow,
    pytest.mark.skipif(
        not find_spec("torch"), reason="needs PyTorch for CPUs: scripts/tools.sh"
    ),
]


def needs(*names):
    lacking = [name for name in names if not BIN[name]]
    return pytest.mark.skipif(
        bool(lacking), reason=f"needs {', '.join(lacking)}: scripts/tools.sh"
    )


def _free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _measured(capsys, launcher, *more):
    """Run two ranks of gloo through a launcher and return what was kept of the run."""
    words = ["bench", "run", "torch.distributed", "--backend", "gloo", "--launcher", launcher,
             "-b", "1KiB", "-e", "8KiB", "--factor", "8", "--iterations", "3", "--warmup", "1",
             "--env", f"MASTER_PORT={_free_port()}", "--python", sys.executable,
             "--no-history", "-q", "-o", "json", *more]  # fmt: skip
    code = app.run(words)
    out, err = capsys.readouterr()
    assert code == 0, err
    found = json.loads(out)
    assert found["ranks"] == 2
    assert [one["size_bytes"] for one in found["timings"]] == [1024, 8192]
    return found


@needs("mpirun")
def test_mpirun_starts_the_ranks_of_a_job(capsys, monkeypatch):
    # It refuses root, whom it takes for a mistake, unless root insists.
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
    monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    found = _measured(capsys, "mpirun", "--hosts", "localhost", "--ranks-per-host", "2")
    assert found["hosts"] == ["localhost"]


SLURM = """ClusterName=weft
SlurmctldHost=localhost(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
SlurmctldPort={controller}
SlurmdPort={daemon}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/ctld.pid
SlurmdPidFile={folder}/d.pid
SlurmctldLogFile={folder}/ctld.log
SlurmdLogFile={folder}/d.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
NodeName=one NodeHostname={host} NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP OverSubscribe=FORCE
"""


@contextmanager
def _started(*commands, env=None, folder):
    """Run daemons for a while, each with its output in a file."""
    running = []
    try:
        for place, words in enumerate(commands):
            with (folder / f"out{place}").open("w") as out:
                running.append(
                    subprocess.Popen(words, env=env, stdout=out, stderr=out, cwd=folder)
                )
        yield running
    finally:
        for one in reversed(running):
            one.send_signal(signal.SIGTERM)
            try:
                one.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                one.kill()
                one.wait()


def _wait_for(what, folder, running):
    """Wait until a condition holds, or say what the daemons wrote.

    A daemon that has ended does not run on this machine: that shows nothing of weft.
    """
    end = time.monotonic() + PATIENCE_S
    while not what():
        said = "".join(
            file.read_text(errors="replace")[-2000:]
            for file in (*folder.glob("out*"), *folder.glob("*.log"))
        )
        if any(one.poll() is not None for one in running):
            pytest.skip(f"a daemon does not run here: {said[-300:]}")
        assert time.monotonic() < end, said
        time.sleep(0.2)


@pytest.fixture
def slurm(monkeypatch, tmp_path):
    """Serve a cluster of this host, which starts two tasks at once."""
    for name in ("state", "spool"):
        (tmp_path / name).mkdir()
    conf = tmp_path / "slurm.conf"
    conf.write_text(
        SLURM.format(
            user=getpass.getuser(), folder=tmp_path, host=socket.gethostname().split(".")[0],
            controller=_free_port(), daemon=_free_port(),
        )
    )  # fmt: skip
    env = {**os.environ, "SLURM_CONF": str(conf)}
    monkeypatch.setenv("SLURM_CONF", str(conf))
    controller = (BIN["slurmctld"], "-D", "-c", "-f", str(conf))
    daemon = (BIN["slurmd"], "-D", "-N", "one", "-f", str(conf))

    def idle():
        shown = subprocess.run(
            ["sinfo", "-h", "-o", "%T"], env=env, capture_output=True, text=True, check=False
        )
        return shown.stdout.strip() == "idle"

    with _started(controller, daemon, env=env, folder=tmp_path) as running:
        _wait_for(idle, tmp_path, running)
        yield


@needs("srun", "slurmctld", "slurmd")
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: slurmd starts tasks as users")
@pytest.mark.usefixtures("slurm")
def test_srun_starts_the_ranks_of_a_job(capsys):
    found = _measured(capsys, "srun", "--hosts", "one", "--ranks-per-host", "2",
                      "--master", "127.0.0.1")  # fmt: skip
    assert found["hosts"] == ["one"]


@pytest.fixture
def ssh(tmp_path, monkeypatch):
    """Serve ssh on a port of its own, to this user with a key made for the test."""
    keys = {name: tmp_path / name for name in ("host", "user")}
    for file in keys.values():
        subprocess.run(
            [BIN["ssh-keygen"], "-q", "-t", "ed25519", "-N", "", "-f", str(file)], check=True
        )
    allowed = tmp_path / "authorized"
    allowed.write_text((tmp_path / "user.pub").read_text())
    port = _free_port()
    server = tmp_path / "sshd_config"
    server.write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {keys['host']}\n"
        f"AuthorizedKeysFile {allowed}\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n"
        "PasswordAuthentication no\nPidFile none\n"
    )
    client = tmp_path / "ssh_config"
    client.write_text(
        f"Host *\n  HostName 127.0.0.1\n  Port {port}\n  IdentityFile {keys['user']}\n"
        "  IdentitiesOnly yes\n  StrictHostKeyChecking no\n  UserKnownHostsFile /dev/null\n"
    )
    # ssh reads the configuration of the user's home, not of $HOME: a word in front names ours.
    front = tmp_path / "bin" / "ssh"
    front.parent.mkdir()
    front.write_text(f'#!/bin/sh\nexec {BIN["ssh"]} -F {client} "$@"\n')
    front.chmod(0o755)
    monkeypatch.setenv("PATH", f"{front.parent}:{os.environ['PATH']}")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(parents=True, exist_ok=True)
    words = (BIN["sshd"], "-D", "-e", "-f", str(server))
    with _started(words, folder=tmp_path) as running:
        _wait_for(lambda: "listening" in (tmp_path / "out0").read_text(), tmp_path, running)
        yield


@needs("ssh", "sshd", "ssh-keygen")
@pytest.mark.usefixtures("ssh")
def test_ssh_starts_a_rank_on_each_host(capsys):
    """Every word passes the far shell as it is; both ranks end with the session."""
    found = _measured(capsys, "ssh", "--hosts", "one=127.0.0.1,two=127.0.0.1",
                      "--env", "WEFT_WORD=a b;c$(d)'e")  # fmt: skip
    assert found["hosts"] == ["one", "two"]
    assert "WEFT_WORD=a b;c$(d)'e" in found["options"]


KUBECTL = """#!{python}
import os, sys
words = sys.argv[1:]
place = words.index("--")
assert words[:3] == ["exec", "--stdin", "--namespace"], words
assert words[3:place] in (["ns", "worker-0"], ["ns", "worker-1", "--container", "main"]), words
os.execvp(words[place + 1], words[place + 1:])
"""


def test_kubectl_is_called_as_it_wants_to_be(capsys, monkeypatch, tmp_path):
    """A stand-in that checks its arguments and then does what a pod would: run the command."""
    stand_in = tmp_path / "kubectl"
    stand_in.write_text(KUBECTL.format(python=sys.executable))
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    found = _measured(capsys, "kubectl", "--hosts", "ns/worker-0,ns/worker-1:main",
                      "--master", "127.0.0.1")  # fmt: skip
    assert found["hosts"] == ["ns/worker-0", "ns/worker-1:main"]


ENDS = [signal.SIGINT, signal.SIGKILL]


def _left(tmp_path, launcher, sign, *more):
    """Start a benchmark whose ranks never end by themselves, end weft, and wait for theirs."""
    pretend(tmp_path, "rank", f"trap '' TERM HUP\necho $$ >>{tmp_path}/pids\n"
            "while :; do sleep 1; done")  # fmt: skip
    asking = subprocess.Popen(
        [sys.executable, "-m", "weft", "bench", "run", "torch.distributed", "--no-history",
         "--launcher", launcher, "--python", tmp_path / "rank", *more],
        env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1",
             "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    pids = tmp_path / "pids"

    def started():
        assert asking.poll() is None, asking.stderr.read().decode()
        return pids.exists() and pids.read_text().count("\n") == 2

    until(started, "two ranks to start")
    asking.send_signal(sign)
    asking.wait(timeout=60)
    asking.stderr.close()
    ranks = [int(one) for one in pids.read_text().split()]
    until(lambda: not any(map(runs, ranks)), "the ranks to end")


@needs("mpirun")
@pytest.mark.parametrize("sign", ENDS)
def test_ranks_of_mpirun_end_with_weft(sign, tmp_path):
    _left(tmp_path, "mpirun", sign, "--hosts", "localhost", "--ranks-per-host", "2")


@needs("srun", "slurmctld", "slurmd")
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: slurmd starts tasks as users")
@pytest.mark.usefixtures("slurm")
@pytest.mark.parametrize("sign", ENDS)
def test_tasks_of_srun_end_with_weft(sign, tmp_path):
    _left(tmp_path, "srun", sign, "--hosts", "one", "--ranks-per-host", "2")


@needs("ssh", "sshd", "ssh-keygen")
@pytest.mark.usefixtures("ssh")
@pytest.mark.parametrize("sign", ENDS)
def test_what_ssh_started_ends_with_weft(sign, tmp_path):
    _left(tmp_path, "ssh", sign, "--hosts", "one=127.0.0.1,two=127.0.0.1")
