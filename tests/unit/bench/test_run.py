"""Commands are lists of words, processes are bounded, and what they print is a sweep."""

import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from elsewhere import runs
from weft.bench import launcher, tool, torch_worker
from weft.bench.command import Command, variables
from weft.bench.history import likeness
from weft.bench.processes import Started, run_together
from weft.bench.run import _asked_for, _options, _read, commands, run, shown
from weft.bench.tool import Ask
from weft.calibrate.calibration import read_file
from weft.collect.way import host_name
from weft.errors import SpecError, ToolFailed, UnknownName

HOSTS = ("node-1", "node-2")


def test_mpirun_starts_all_ranks_with_the_environment_exported():
    ask = Ask(hosts=HOSTS, ranks_per_host=8, env={"NCCL_ALGO": "Ring"}, options=("-c", "1"))
    (only,) = commands("nccl-tests", "mpirun", ask)
    words = " ".join(only.words)
    assert words.startswith("mpirun -np 16 --host node-1:8,node-2:8 --map-by ppr:8:node")
    assert "-x NCCL_ALGO=Ring" in words
    assert words.endswith("all_reduce_perf -b 8 -e 1073741824 -f 2 -n 20 -w 5 -g 1 -c 1")


def test_srun_names_its_hosts_and_tasks():
    (only,) = commands("nccl-tests", "srun", Ask(hosts=HOSTS, ranks_per_host=8))
    assert only.words[:5] == (
        "srun", "--kill-on-bad-exit=1", "--nodes=2", "--ntasks=16", "--ntasks-per-node=8",
    )  # fmt: skip
    assert only.words[5:7] == ("--nodelist", "node-1,node-2")


def test_a_pair_has_a_server_on_the_first_host_and_a_client_on_the_second():
    server, client = commands("perftest", "ssh", Ask(operation="write_bw", hosts=HOSTS))
    assert (server.serves, client.answers) == (True, True)
    assert server.words[-2:] == ("node-1", "ib_write_bw -a --report_gbits -F")
    assert client.words[-2:] == ("node-2", "ib_write_bw -a --report_gbits -F node-1")


def test_words_for_a_far_shell_are_quoted():
    """ssh hands one line to a shell over there: what a user wrote stays one word."""
    ask = Ask(operation="write_bw", hosts=HOSTS, options=("; rm -rf /",))
    server, _ = commands("perftest", "ssh", ask)
    assert server.words[-1].endswith("-F '; rm -rf /'")


def test_torch_has_a_process_for_each_rank_and_rank_0_answers():
    ask = Ask(hosts=("a", "b"), ranks_per_host=2, backend="gloo", master="10.0.0.1")
    found = commands("torch.distributed", "netns", ask)
    assert [one.env["RANK"] for one in found] == ["0", "1", "2", "3"]
    assert [one.place for one in found] == ["a", "a", "b", "b"]
    assert [one.answers for one in found] == [True, False, False, False]
    assert {one.env["MASTER_ADDR"] for one in found} == {"10.0.0.1"}
    assert found[0].words[:4] == ("ip", "netns", "exec", "a")
    assert "PROGRAM" in shown(found[0])


def test_pods_are_checked_and_need_an_address():
    pods = ("ns/worker-0", "ns/worker-1")
    ask = Ask(operation="tcp", hosts=pods, master="10.1.2.3")
    server, client = commands("iperf3", "kubectl", ask)
    assert server.words[:6] == (
        "kubectl", "exec", "--stdin", "--namespace", "ns", "worker-0",
    )  # fmt: skip
    assert "10.1.2.3" in client.words
    with pytest.raises(SpecError, match="--master"):
        commands("iperf3", "kubectl", Ask(operation="tcp", hosts=pods))
    with pytest.raises(SpecError, match="is no pod"):
        commands("iperf3", "kubectl", Ask(operation="tcp", hosts=("-x",)))


@pytest.mark.parametrize("name", ["-oProxyCommand=x", "a b", "", "a;b", "$(x)"])
def test_a_host_that_could_be_an_option_is_refused(name):
    with pytest.raises(SpecError, match="is no host"):
        host_name(name)


def test_what_cannot_be_is_said_before_anything_is_started():
    with pytest.raises(SpecError, match="measures no 'all_reduce'"):
        commands("iperf3", "local", Ask())
    with pytest.raises(SpecError, match="mpirun or srun"):
        commands("nccl-tests", "ssh", Ask(hosts=HOSTS))
    with pytest.raises(SpecError, match="starts whole jobs"):
        commands("perftest", "mpirun", Ask(operation="write_bw", hosts=HOSTS))
    with pytest.raises(SpecError, match="one pair"):
        commands("perftest", "ssh", Ask(operation="write_bw", hosts=("a", "b", "c")))
    with pytest.raises(SpecError, match="gloo has no alltoall"):
        commands("torch.distributed", "local", Ask(operation="alltoall", backend="gloo"))
    with pytest.raises(UnknownName, match=r"[Tt]here are"):
        tool.find("mlperf")
    with pytest.raises(UnknownName, match=r"[Tt]here are"):
        launcher.find("telnet")


def test_what_a_tool_would_not_heed_is_refused():
    with pytest.raises(SpecError, match="iperf3 takes no --factor; it takes: --master"):
        tool.find("iperf3").check(["factor"])
    for name in ("iperf3", "nccl-tests", "perftest", "torch.distributed"):
        assert tool.find(name).takes <= tool.WORDS.keys()


def test_each_thing_that_a_tool_takes_changes_what_is_started():
    """A knob that changes nothing is a bug."""
    other = {
        "smallest_bytes": 64, "largest_bytes": 128, "factor": 4.0, "iterations": 7,
        "warmup": 3, "ranks_per_host": 2, "master": "10.1.1.1", "interface": "e9",
        "backend": "gloo", "seconds": 7.0, "streams": 3, "python": "python9",
    }  # fmt: skip
    ways = {"nccl_tests": "mpirun", "perftest": "ssh", "iperf3": "ssh",
            "torch_distributed": "ssh"}  # fmt: skip
    for name, way in ways.items():
        kind = tool.find(name)
        operation = min(kind.operations)
        plain = Ask(operation=operation, hosts=HOSTS)
        for knob in kind.takes:
            asked = replace(plain, **{knob: other[knob]})
            changed = commands(name, way, asked) != commands(name, way, plain)
            # perftest measures all of its sizes, and the others are left out afterwards.
            assert changed or (name, knob[-6:]) == ("perftest", "_bytes"), (name, knob)


def test_sizes_that_were_not_asked_for_are_left_out():
    rows = "".join(f" {2**p}  1000  10.0  10.0  0.1\n" for p in range(1, 24))
    text = (
        "                    RDMA_Write BW Test\n Number of qps   : 1\n Link type : IB\n"
        " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
    )
    ask = Ask(operation="write_bw", smallest_bytes=1024, largest_bytes=65536)
    kind = tool.find("perftest")
    _, sweep = _read("perftest", ask, text + rows, _python("x"))
    kept = _asked_for(kind, ask, sweep)
    assert [one.size_bytes for one in kept] == [2**p for p in range(10, 17)]
    with pytest.raises(ToolFailed, match="its largest is 8 MiB"):
        _asked_for(kind, replace(ask, smallest_bytes=2**30, largest_bytes=2**31), sweep)


def test_where_ranks_meet_does_not_make_runs_unlike():
    found = _options(Ask(env={"MASTER_PORT": "29600", "NCCL_ALGO": "Ring"}))
    assert found == ("NCCL_ALGO=Ring",)


def test_ranks_of_a_job_ask_their_launcher_who_they_are():
    (only,) = commands("torch.distributed", "srun", Ask(hosts=HOSTS, ranks_per_host=2))
    assert "RANK" not in {word.partition("=")[0] for word in only.words}
    assert "MASTER_ADDR=node-1" in only.words
    assert only.words[-1] == ""
    slurm = {"SLURM_PROCID": "3", "SLURM_NTASKS": "4", "SLURM_LOCALID": "1"}
    assert torch_worker.place(slurm) == {"RANK": "3", "WORLD_SIZE": "4", "LOCAL_RANK": "1"}
    # mpirun inside an allocation of Slurm: each rank is what MPI says, not its own step.
    both = {**slurm, "OMPI_COMM_WORLD_RANK": "2"}
    assert torch_worker.place(both)["RANK"] == "2"


def test_variables_are_names_and_values():
    assert variables(("A=1", "B=x=y")) == {"A": "1", "B": "x=y"}
    for wrong in ("A", "1A=2", "A B=1"):
        with pytest.raises(SpecError, match="sets no variable"):
            variables((wrong,))
    command = Command(words=("x",), env={"A": "1 2"})
    assert command.through_env() == ("env", "A=1 2", "x")


def _python(text, **more):
    return Started(words=(sys.executable, "-c", text), env={}, place="here", **more)


def test_the_output_of_the_one_that_answers_is_returned():
    found = run_together([_python("print('a')"), _python("print('b')", answers=True)], 3600)
    assert found == b"b\n"


def _sleeper(folder, **more):
    """Start a shell and its child that would sleep on, and a function that tells their fate."""
    said = folder / "pids"
    command = f"sleep 9999 & echo $$ $! >{said}.part; mv {said}.part {said}; wait"

    def ended():
        return [not runs(int(pid)) for pid in said.read_text().split()] == [True, True]

    return Started(words=("sh", "-c", command), env={}, place="here", **more), said, ended


def _until(there):
    seen = f"pathlib.Path({str(there)!r}).exists()"
    return f"import pathlib, time\nwhile not {seen}: time.sleep(0.01)"


def test_a_server_is_ended_with_its_children_when_the_client_has(tmp_path):
    server, there, ended = _sleeper(tmp_path, serves=True)
    client = _python(f"{_until(there)}\nprint(1)", answers=True)
    assert run_together([server, client], 3600) == b"1\n"
    assert ended()


def test_a_process_that_fails_is_told_with_its_last_lines_and_the_others_end(tmp_path):
    slow, there, ended = _sleeper(tmp_path)
    bad = _python(f"{_until(there)}\nimport sys; sys.exit('no such device')")
    with pytest.raises(ToolFailed, match=r"ended with 1\n  no such device"):
        run_together([slow, bad], 3600)
    assert ended()


def test_a_process_that_does_not_end_is_ended(tmp_path):
    slow, there, ended = _sleeper(tmp_path, answers=True)
    with pytest.raises(ToolFailed, match="did not end within"):
        run_together([slow], 1.0)
    assert not there.exists() or ended()


def test_a_child_that_ignores_the_polite_signal_is_ended_too(tmp_path):
    stubborn = tmp_path / "pid"
    ignores = (
        f"import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
        f"open({str(stubborn)!r} + '.part', 'w').write(str(os.getpid())); "
        f"os.rename({str(stubborn)!r} + '.part', {str(stubborn)!r}); time.sleep(9999)"
    )
    leader = (
        f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {ignores!r}]).wait()"
    )
    bad = _python(f"{_until(stubborn)}\nimport sys; sys.exit('no such device')")
    with pytest.raises(ToolFailed, match="no such device"):
        run_together([_python(leader), bad], 3600)
    assert not runs(int(stubborn.read_text()))


def test_what_was_started_ends_where_the_next_cannot_be_started(tmp_path):
    first, there, ended = _sleeper(tmp_path)
    late = replace(first, words=("no-such-program",), place="there")

    def wait(text):
        while "there" in text and not there.exists():
            time.sleep(0.01)

    with pytest.raises(ToolFailed, match="install it on there"):
        run_together([first, late], 3600, wait)
    assert ended()


def test_a_program_that_is_missing_is_named():
    with pytest.raises(ToolFailed, match="no-such-program: No such file"):
        run_together([Started(words=("no-such-program",), env={}, place="here")], 5)


FAKE = """#!/bin/sh
echo "# nccl-tests version 2.17.1"
echo "# Collective test starting: all_reduce_perf"
for r in 0 1; do echo "#  Rank  $r Group  0 Pid  9 on  one device  $r [0x0] NVIDIA H100"; done
echo "NCCL version 2.27.3+cuda12.9"
echo "#  size  count  type  redop  root  time  algbw  busbw #wrong time algbw busbw #wrong"
echo " 1048576 262144 float sum -1 50.0 20.97 20.97 0 51.0 20.56 20.56 0"
"""


def test_a_run_is_read_into_timings_and_versions(tmp_path, monkeypatch):
    program = tmp_path / "all_reduce_perf"
    program.write_text(FAKE)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    found = run("nccl-tests", Ask(ranks_per_host=2))
    assert [(t.size_bytes, t.time_s) for t in found.timings] == [(2**20, pytest.approx(50e-6))]
    assert found.ranks == 2
    assert "NCCL 2.27.3" in found.versions
    program.write_text("#!/bin/sh\necho nothing\n")
    with pytest.raises(ToolFailed, match="printed no result"):
        run("nccl-tests", Ask())


def test_runs_over_another_network_are_not_alike(tmp_path, monkeypatch):
    """The same hosts over the interface of management are slower, and no regression."""
    program = tmp_path / "all_reduce_perf"
    program.write_text(FAKE)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    asks = [Ask(), Ask(interface="eth0"), Ask(interface="ib0")]
    assert len({likeness(run("nccl-tests", ask)) for ask in asks}) == 3


def test_what_a_run_wrote_calibrates_as_well():
    """The median of the iterations counts, and the hosts are those that were named."""
    sample = Path(__file__).parents[2] / "samples" / "benchmarks" / "weft_bench" / "gloo"
    _, found = read_file(sample / "input.txt")
    assert [(one.hosts, one.size_bytes, one.time_s) for one in found] == [
        (2, 1024, 0.00037), (2, 4194304, 0.0121),
    ]  # fmt: skip


SSH = """#!/bin/sh
for last; do :; done
exec sh -c "$last"
"""
PERFTEST = """#!/bin/sh
for last; do :; done
[ "$last" = --version ] && echo "Version: 6.20" && exit
[ "$last" = node-1 ] || exec sleep 9999
echo "                    RDMA_Write BW Test"
echo " Number of qps   : 1"
echo " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
echo " 65536      5000             392.38             392.34             0.748336"
"""


def test_a_far_shell_gets_words_and_runs_nothing_else(tmp_path, monkeypatch):
    """As sshd does: the last word is a line for a shell. What a user wrote stays one word."""
    for name, text in (("ssh", SSH), ("ib_write_bw", PERFTEST)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    touched = tmp_path / "touched"
    ask = Ask(operation="write_bw", hosts=HOSTS, options=(f"; touch {touched};",))
    found = run("perftest", ask, launcher="ssh")
    assert found.timings[0].size_bytes == 65536
    assert found.timings[0].time_s == pytest.approx(65536 / 49.0425e9)
    assert found.versions == ("Version: 6.20",)
    assert not touched.exists()
