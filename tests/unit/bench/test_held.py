"""What a benchmark started anywhere ends with weft, even where nobody else would end it."""

import os
import shutil
import signal
import subprocess
import sys
from importlib.resources import files

import pytest

from elsewhere import pretend, pretend_kubectl, pretend_shell, runs, sleeper, until
from weft.bench.processes import Started, run_together
from weft.collect.children import READS, held

SHELLS = ("sh", "bash", "busybox", "mksh")


def _holder() -> str:
    return held((files("weft.bench") / "hold.sh").read_text("utf-8"))


@pytest.fixture
def tools(tmp_path, monkeypatch):
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return folder


def _ended_by(asking, sign):
    if sign is signal.SIGKILL:
        os.killpg(asking.pid, sign)
    asking.send_signal(sign)
    asking.wait(timeout=60)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
def test_what_was_started_in_pods_ends_with_an_interrupt_or_a_kill(
    shell, sign, tools, tmp_path
):
    real = shutil.which(shell)
    if not real:
        pytest.skip(f"{shell} is not installed")
    pretend_shell(tools, real)
    pretend_kubectl(tools)
    asking = _asking(tools, tmp_path, "--launcher", "kubectl", "--master", "10.1.2.3")
    pids = _started(tmp_path)
    _ended_by(asking, sign)
    until(lambda: not any(map(runs, pids)), "both ends of the test to end")


def _asking(tools, tmp_path, *how):
    """Ask for a test of two ends that never end by themselves."""
    pretend(tools, "ib_write_bw", 'for last; do :; done\n[ "$last" = --version ] && exit\n'
            f'case $last in -*) pid={tmp_path}/server;; *) pid={tmp_path}/client;; esac\n'
            + sleeper("$pid"))  # fmt: skip
    words = ("bench", "run", "perftest", "write_bw", "--no-history", "--hosts", "pod-0,pod-1")
    return subprocess.Popen(
        [sys.executable, "-m", "weft", *words, *how],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip


def _started(tmp_path):
    ends = [tmp_path / "server", tmp_path / "client"]
    until(lambda: all(one.exists() for one in ends), "both ends of the test to start")
    return [int(one.read_text()) for one in ends]


def test_what_was_started_here_ends_with_a_kill(tools, tmp_path):
    asking = _asking(tools, tmp_path)
    pids = _started(tmp_path)
    _ended_by(asking, signal.SIGKILL)
    until(lambda: not any(map(runs, pids)), "both ends of the test to end")


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_that_holds_gives_words_input_and_status_as_they_are(shell, tools):
    real = shutil.which(shell)
    if not real:
        pytest.skip(f"{shell} is not installed")
    pretend_shell(tools, real)
    program = "import sys; print(sys.argv[1:], sys.stdin.read() == ''); sys.exit(7)"
    words = (sys.executable, "-c", program, "a b", "$(c)", "'d\n")
    with subprocess.Popen(
        (*READS, *words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    ) as process:
        process.stdin.write(_holder().encode())
        process.stdin.flush()
        said = process.stdout.read().decode()
        assert process.wait(timeout=60) == 7
    assert said == f"{list(words[3:])} True\n"


A_MINUTE = "for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 5; done"
HEARD = "trap 'heard=yes' USR1"


@pytest.mark.parametrize("shell", SHELLS)
def test_a_minute_without_a_word_ends_what_runs(shell, tools, tmp_path):
    """Where a network went away nobody closes the input.

    The test says when a minute is over.
    """
    real = shutil.which(shell)
    if not real:
        pytest.skip(f"{shell} is not installed")
    pretend_shell(tools, real)
    pretend(tools, "stubborn", f"trap '' TERM\n{sleeper(tmp_path / 'pid')}")
    over, heard, begun = tmp_path / "over", tmp_path / "heard", tmp_path / "begun"
    text = _holder()
    assert A_MINUTE in text
    assert HEARD in text
    text = text.replace(
        A_MINUTE, f": >{begun}; until rm {over} 2>/dev/null; do sleep 0.05; done"
    )
    text = text.replace(HEARD, f"trap 'heard=yes; : >{heard}' USR1").replace(
        "sleep 5", "sleep 1"
    )
    with subprocess.Popen(
        (*READS, "stubborn"), stdin=subprocess.PIPE, start_new_session=True, bufsize=0
    ) as process:
        process.stdin.write(text.encode())
        until((tmp_path / "pid").exists, "it to start")
        pid = int((tmp_path / "pid").read_text())
        for _ in range(2):
            until(begun.exists, "the minute to begin")
            begun.unlink()
            process.stdin.write(b"\n")
            until(heard.exists, "the word to be heard")
            heard.unlink()
            over.touch()
        until(begun.exists, "another minute to begin")
        assert runs(pid)
        over.touch()
        until(lambda: not runs(pid), "it to end although it minds no polite signal")


@pytest.mark.skipif(not shutil.which("shellcheck"), reason="shellcheck is not installed")
def test_the_shell_that_holds_is_plain_posix(tmp_path):
    file = tmp_path / "hold.sh"
    file.write_text(_holder())
    subprocess.run(["shellcheck", "--shell=sh", file], check=True)


def test_a_program_that_is_missing_here_is_named_before_a_shell_looks_for_it():
    words = ("no-such-program",)
    with pytest.raises(Exception, match=r"no-such-program: No such file.*install it on here"):
        run_together([Started(words=words, held=(*READS, *words), env={}, place="here")], 5)
