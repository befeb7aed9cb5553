"""The run history in a real PostgreSQL, started for the test by the machine's own programs."""

import os
import pwd
import shutil
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from weft.bench import store
from weft.bench.history import history
from weft.bench.run import BenchRun
from weft.bench.sweep import Timing

pytestmark = pytest.mark.tool

RUN = BenchRun(
    tool="iperf3", operation="tcp", launcher="local", hosts=("a",), ranks=2, ranks_per_host=1,
    versions=("iperf3 3.12",), options=(), began="2026-11-21T10:00:00Z", what="bandwidth",
    timings=(Timing(size_bytes=2.0**30, time_s=0.1, noise_ratio=0.007, own_noise=True),),
    commands=("iperf3 -c a",), output="text with \u00e9 and \0 in it\n",
)  # fmt: skip


def _programs():
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    where = shutil.which("initdb") or (str(found[-1]) if found else None)
    return None if where is None else Path(where).resolve().parent


@pytest.fixture
def postgres(tmp_path_factory):
    programs = _programs()
    if programs is None:
        pytest.skip("PostgreSQL (initdb, postgres) is not installed")
    pytest.importorskip("psycopg", reason="psycopg, the driver of PostgreSQL, is missing")
    folder = tmp_path_factory.mktemp("pg")
    user = {}
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        account = pwd.getpwnam("nobody")
        user = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        for place in (folder, *folder.parents):
            if place.name.startswith(("pg", "pytest", "popen")):
                place.chmod(0o755)
        os.chown(folder, account.pw_uid, account.pw_gid)
    data = folder / "data"
    made = subprocess.run(
        [programs / "initdb", "-D", data, "-U", "weft", "-A", "trust", "-N", "-E", "UTF8",
         "--locale=C"],
        capture_output=True, text=True, check=False, cwd=folder, **user,
    )  # fmt: skip
    if made.returncode:
        pytest.skip(f"initdb does not run here: {made.stderr[-200:]}")
    server = subprocess.Popen(
        [programs / "postgres", "-D", data, "-k", folder, "-c", "listen_addresses=",
         "-c", "fsync=off"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=folder, **user,
    )  # fmt: skip
    try:
        for line in server.stderr:
            if "ready to accept connections" in line:
                break
        else:
            pytest.skip("postgres does not start here")
        yield f"postgresql://weft@/postgres?host={folder}"
    finally:
        server.send_signal(signal.SIGINT)  # the fast way: it does not wait for clients
        server.wait()
        server.stderr.close()


def test_runs_are_kept_and_compared_in_postgresql(postgres):
    for ratio in (1.0, 1.01, 0.99, 1.0, 1.5):
        timing = replace(RUN.timings[0], time_s=0.1 * ratio)
        store.keep(replace(RUN, timings=(timing,)), postgres)
    first = store.load(postgres).runs[0]
    assert first == replace(RUN, id=1, output=RUN.output.replace("\0", ""))
    (found,) = history(postgres).series
    assert found.runs == (1, 2, 3, 4, 5)
    assert found.regression
