import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from weft.cli import app
from weft.cli.failures import INTERRUPTED

RUNS = Path(__file__).parents[3] / "examples" / "runs"
RUN = RUNS / "all_reduce_h100.txt"
PROGRAM = """#!/bin/sh
echo '# Collective test starting: all_reduce_perf'
echo '#  Rank  0 Group  0 Pid  9 on  a device  0 [0x0] H100'
echo '#  Rank  1 Group  0 Pid  9 on  a device  1 [0x0] H100'
echo ' 1048576 262144 float sum -1 {time_us} 20.97 20.97 0'
"""


def _cluster(folder, hosts=2):
    file = folder / "cluster.yaml"
    file.write_text(
        f"apiVersion: weft/v1\nkind: Cluster\nspec: {{preset: dgx_h100, hosts: {hosts}}}\n"
    )
    return str(file)


def test_a_healthy_run_leaves_with_0(capsys, tmp_path):
    assert app.run(["bench", "judge", str(RUN), "-f", _cluster(tmp_path)]) == 0
    assert "PASS" in capsys.readouterr().out


def test_a_slow_run_leaves_with_4_names_faults_and_draws_them(capsys, tmp_path):
    slow = RUNS / "all_reduce_h100_slow.txt"
    picture = tmp_path / "judged.svg"
    words = ["bench", "judge", str(slow), "-f", _cluster(tmp_path), "--chart", str(picture)]
    assert app.run(words) == 5  # nothing says whether NVLink SHARP takes part
    assert capsys.readouterr().out.startswith("INCONCLUSIVE: ")
    stated = ["--set", "nccl.version='2.27.3'", "--set", "nccl.env.NCCL_NVLS_ENABLE=1"]
    assert app.run([*words, *stated]) == 4
    shown = capsys.readouterr().out
    assert shown.startswith("FAIL: ")
    assert "What fits the shape" in shown
    assert "Next: " in shown
    assert "measured" in picture.read_text()


def test_a_run_without_a_cluster_leaves_with_5_and_says_what_is_missing(capsys):
    assert app.run(["bench", "judge", str(RUN), "-o", "json"]) == 5
    document = json.loads(capsys.readouterr().out)
    assert document["outcome"] == "INCONCLUSIVE"
    assert document["unknown"]


def test_commands_are_shown_and_not_run(capsys):
    words = [
        "bench",
        "run",
        "nccl-tests",
        "--launcher",
        "mpirun",
        "--hosts",
        "a,b",
        "--dry-run",
    ]
    assert app.run(words) == 0
    assert capsys.readouterr().out.startswith("mpirun -np 2 --host a:1,b:1")


def test_a_missing_program_is_told_and_leaves_with_3(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert app.run(["bench", "run", "perftest", "--no-history"]) == 3
    assert "ib_write_bw" in capsys.readouterr().err


def test_a_history_tells_a_regression_by_4_and_nothing_by_5(capsys, tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path / 'h.sqlite3'}"
    assert app.run(["bench", "history", "--history", url]) == 5
    program = tmp_path / "all_reduce_perf"
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    for time_us in (50.0, 50.2, 49.9, 50.1, 80.0):
        program.write_text(PROGRAM.format(time_us=time_us))
        program.chmod(0o755)
        saved = tmp_path / "r.txt"
        words = ["bench", "run", "nccl-tests", "--history", url, "--save", str(saved)]
        assert app.run(words) == 0
        assert str(time_us) in saved.read_text()
    capsys.readouterr()
    assert app.run(["bench", "history", "--history", url]) == 4
    assert "SLOWER" in capsys.readouterr().out
    assert app.run(["bench", "history", "--history", url, "--label", "other"]) == 5


def test_results_of_pairs_name_the_slow_host_by_4(capsys):
    words = ["bench", "localise", "--hosts", "a,b,c,d", "--result", "a,b=92Gb/s",
             "--result", "c,d=12Gb/s"]  # fmt: skip
    assert app.run(words) == 5
    assert "Next tests" in capsys.readouterr().out
    assert app.run([*words, "--result", "a,c=12Gb/s"]) == 4
    assert "c: faulty" in capsys.readouterr().out
    sound = ["bench", "localise", "--hosts", "a,b", "--expected", "92Gb/s"]
    assert app.run([*sound, "--result", "a,b=92Gb/s", "--result", "b,a=91Gb/s"]) == 0
    assert "No part is faulty" in capsys.readouterr().out
    assert app.run([*sound, "--result", "nonsense"]) == 2
    assert app.run([*sound, "--leaves", "l1=a"]) == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_told_to_end_it_ends_what_it_started(number, tmp_path):
    """A terminal that closes and a scheduler that stops a job leave nothing on the host."""
    program, said = tmp_path / "all_reduce_perf", tmp_path / "pid"
    program.write_text(
        f"#!/bin/sh\necho $$ >{said}.part\nmv {said}.part {said}\nexec sleep 9999\n"
    )
    program.chmod(0o755)
    words = [sys.executable, "-m", "weft", "bench", "run", "nccl-tests", "--no-history"]
    with subprocess.Popen(
        words,
        env={**os.environ, "PATH": f"{tmp_path}:/usr/bin:/bin"},
        stderr=subprocess.DEVNULL,
    ) as weft:
        while not said.exists() and weft.poll() is None:
            time.sleep(0.05)
        weft.send_signal(number)
        weft.wait(timeout=60)
    assert weft.returncode in (128 + number, INTERRUPTED)
    assert not _runs(int(said.read_text()))


def _runs(pid):
    """Tell whether a process runs; one that only waits to be reaped does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}


def test_the_next_test_is_a_command_that_reaches_its_hosts(capsys):
    """The name of a pod is no address: what was given for it is part of the command."""
    words = [
        "bench",
        "localise",
        "--launcher",
        "kubectl",
        "--hosts",
        "x/a=10.0.0.1,x/b=10.0.0.2",
    ]
    assert app.run([*words, "-o", "json"]) == 5
    (told,) = json.loads(capsys.readouterr().out)["commands"]
    command = shlex.split(told)
    assert command[-2:] == ["--hosts", "x/a=10.0.0.1,x/b=10.0.0.2"]
    assert app.run([*command[1:], "--dry-run"]) == 0
    assert "ib_write_bw -a --report_gbits -F 10.0.0.1" in capsys.readouterr().out


def test_the_band_of_a_good_run_is_not_called_that_of_healthy_clusters(capsys):
    slow = str(RUNS / "all_reduce_h100_slow.txt")
    assert app.run(["bench", "judge", slow, "--good", str(RUN), "--full"]) == 4
    shown = capsys.readouterr().out
    assert "band that one more run of the same cluster falls into" in shown
    assert "80 % band of healthy clusters" not in shown


@pytest.mark.parametrize(
    "words",
    [
        ["--streams", "2"], ["--launcher", "ssh"], ["--tool", "iperf3"], ["--seconds", "2"],
        ["--line", "1Gb/s"],
    ],
)  # fmt: skip
def test_a_simulated_load_refuses_what_only_real_hosts_heed(words, capsys):
    """A knob that changes nothing is refused."""
    given = ["bench", "load", "--simulate", "--set", "hosts=2", "--peak", "1Gb/s"]
    assert app.run([*given, *words]) == 2
    assert f"{words[0]} has no effect" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--size", "1KiB"], ["--simulated-hosts", "4"]])
def test_a_real_load_refuses_what_only_the_simulator_heeds(words, capsys):
    assert app.run(["bench", "load", "--hosts", "a,b", "--peak", "1Gb/s", *words]) == 2
    assert f"{words[0]} has no effect" in capsys.readouterr().err


def test_perftest_offers_a_load_over_one_queue_pair(capsys):
    words = ["bench", "load", "--hosts", "a,b", "--tool", "perftest", "--streams", "2"]
    assert app.run([*words, "--peak", "1Gb/s"]) == 2
    assert "--streams is for iperf3" in capsys.readouterr().err
