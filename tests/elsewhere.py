"""A pod that is none, and what runs in it: for tests of what is left behind there."""

import sys
import time
from pathlib import Path

import pytest

STANDS_IN = """\
import shutil, subprocess, sys, threading
words = sys.argv[sys.argv.index("--") + 1 :]
pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
there = subprocess.Popen(words, start_new_session=True, bufsize=0, **pipes)
for taken, given in ((there.stdout, sys.stdout.buffer), (there.stderr, sys.stderr.buffer)):
    threading.Thread(target=shutil.copyfileobj, args=(taken, given), daemon=True).start()
while line := sys.stdin.buffer.readline():
    there.stdin.write(line)
there.stdin.close()
sys.exit(there.wait())
"""
"""As kubectl and ssh do: killed, it closes what it held open, and ends nothing over there."""


def pretend(folder: Path, name: str, body: str) -> None:
    """Put a program of some lines of shell into a folder."""
    tool = folder / name
    tool.write_text(f"#!/bin/sh\n{body}\n")
    tool.chmod(0o755)


def pretend_kubectl(tools: Path) -> None:
    """Put a kubectl that runs words in a session of its own, which nobody ends with it."""
    (tools / "stands_in.py").write_text(STANDS_IN)
    pretend(tools, "kubectl", f'exec {sys.executable} {tools}/stands_in.py "$@"')


def pretend_shell(tools: Path, real: str) -> None:
    """Put a sh that is another shell where it reads its program from its input."""
    ash = " ash" if real.endswith("busybox") else ""
    pretend(tools, "sh", f'[ "$1" = -s ] || exec /bin/sh "$@"\nexec {real}{ash} "$@"')


def sleeper(pid: Path) -> str:
    """Return lines of a shell that keep its process number in a file and then sleep on."""
    return f"echo $$ >{pid}.new\nmv {pid}.new {pid}\nexec sleep 9999"


def until(holds, what: str) -> None:
    """Wait for a condition, however long a busy machine takes."""
    for _ in range(6000):
        if holds():
            return
        time.sleep(0.01)
    pytest.fail(f"waited in vain for {what}")


def runs(pid: int) -> bool:
    """Tell whether a process runs; one that only waits to be reaped does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state not in {"Z", "X"}
