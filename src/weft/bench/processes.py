"""Running the processes of a benchmark: bounded output, a deadline, nothing left over."""

import os
import shutil
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import IO, Final

from weft.bench.command import Command
from weft.bench.launcher import Launcher
from weft.collect.children import GRACE_S, READS, end, held, hold
from weft.errors import SpecError, ToolFailed

SERVER_STARTS_S: Final = 1.0
"""What a server is given to listen before its client calls."""
MOST_OUTPUT_BYTES: Final = 64 << 20
_CHUNK_BYTES: Final = 1 << 16
_LAST_LINES: Final = 12
_POLL_S: Final = 0.05
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """One process to start: the words, where it runs, and what part it has."""

    words: tuple[str, ...]
    """As they could be typed."""
    env: Mapping[str, str]
    place: str
    serves: bool = False
    answers: bool = False
    held: tuple[str, ...] = ()
    """The same, run by a shell that ends them when we are gone; empty: nobody does."""


def on_host(
    way: Launcher, host: str, command: Command, *, serves: bool = False, answers: bool = False
) -> Started:
    """Return what starts a command on a host and ends with us.

    Raises:
        SpecError: the launcher starts whole jobs only.
    """
    if way.on is None:
        raise SpecError(f"{way.title}: starts whole jobs; use ssh, kubectl, netns or local")
    return Started(
        words=way.on(host, command), held=way.on(host, _held(command)), place=host,
        env=dict(command.env) if way.here else {}, serves=serves, answers=answers,
    )  # fmt: skip


def over_hosts(
    way: Launcher, hosts: Sequence[str], ranks_per_host: int, command: Command
) -> Started:
    """Return what starts all ranks of a job at once and ends with us."""
    assert way.over is not None
    words = way.over(hosts, ranks_per_host, command)
    held_words = (
        way.over(hosts, ranks_per_host, _held(command))
        if way.passes_input else (*READS, *words)
    )  # fmt: skip
    return Started(
        words=words, held=held_words, place=", ".join(hosts) or "localhost",
        env=dict(command.env) if way.here else {}, answers=True,
    )  # fmt: skip


def _held(command: Command) -> Command:
    return Command(words=(*READS, *command.words), env=command.env)


@cache
def _holder() -> str:
    """Read the script that runs the words after it and watches its input."""
    return held((files("weft.bench") / "hold.sh").read_text("utf-8"))


@dataclass(slots=True)
class _Running:
    """A process, and the threads that read what it writes."""

    asked: Started
    process: "subprocess.Popen[bytes]"
    output: bytearray = field(default_factory=bytearray)
    last: "deque[str]" = field(default_factory=lambda: deque(maxlen=_LAST_LINES))
    threads: list[threading.Thread] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)


def run_together(
    asked: Sequence[Started], timeout_s: float, report: Report = lambda _: None
) -> bytes:
    """Run processes until those that do not serve have ended; return the answer's output.

    Raises:
        ToolFailed: one is missing, failed, or the deadline passed; all are ended first.
    """
    running: list[_Running] = []
    deadline = time.monotonic() + timeout_s
    try:
        for serves in (True, False):
            own = [started for started in asked if started.serves is serves]
            _start_all(own, running, report)
            if serves and own:
                time.sleep(SERVER_STARTS_S)
        _wait(running, deadline, timeout_s)
        return b"".join(_output(item) for item in running if item.asked.answers)
    finally:
        _end(running)


def _start_all(asked: Sequence[Started], running: list[_Running], report: Report) -> None:
    """Start processes, and know of each whatever happens meanwhile.

    A signal interrupts the main thread alone, never between a start and its entry in the list.
    """

    def start(one: Started) -> None:
        running.append(_start(one, report))

    with ThreadPoolExecutor(1) as starter:
        for started in asked:
            starter.submit(start, started).result()


def _start(asked: Started, report: Report) -> _Running:
    report(f"starting {asked.words[0]} on {asked.place}")
    env = {**os.environ, **asked.env}
    there = shutil.which(asked.words[0], path=env.get("PATH"))
    try:
        process = subprocess.Popen(  # noqa: S603 - a list of words; no shell of ours reads it
            asked.held if asked.held and there else asked.words, env=env,
            stdin=subprocess.PIPE if asked.held else subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
    except (FileNotFoundError, PermissionError) as error:
        raise ToolFailed(
            f"{asked.words[0]}: {error.strerror}; install it on {asked.place}, or choose "
            "another launcher or benchmark"
        ) from error
    one = _Running(asked, process)
    if asked.held:
        asking = threading.Thread(
            target=hold, args=(process, _holder(), one.ended), daemon=True
        )
        asking.start()
    for stream, take in ((process.stdout, _keep), (process.stderr, _tail)):
        thread = threading.Thread(target=take, args=(one, stream, report), daemon=True)
        thread.start()
        one.threads.append(thread)
    return one


def _keep(one: _Running, stream: IO[bytes], report: Report) -> None:
    del report
    while chunk := stream.read1(_CHUNK_BYTES):  # type: ignore[attr-defined]
        if len(one.output) < MOST_OUTPUT_BYTES:
            one.output += chunk


def _tail(one: _Running, stream: IO[bytes], report: Report) -> None:
    for raw in iter(lambda: stream.readline(_CHUNK_BYTES), b""):
        line = raw.decode("utf-8", errors="replace").rstrip()
        if line.startswith("weft-progress "):
            report(line.removeprefix("weft-progress "))
        elif line:
            one.last.append(line)


def _wait(running: Sequence[_Running], deadline: float, timeout_s: float) -> None:
    left = [item for item in running if not item.asked.serves]
    while left:
        for item in list(left):
            status = item.process.poll()
            if status is None:
                continue
            left.remove(item)
            if status != 0:
                raise _failed(item, f"ended with {status}")
        if left and time.monotonic() > deadline:
            raise _failed(left[0], f"did not end within {timeout_s:g} s (--timeout)")
        time.sleep(_POLL_S)


def _output(one: _Running) -> bytes:
    for thread in one.threads:
        thread.join(GRACE_S)
    return bytes(one.output)


def _failed(one: _Running, what: str) -> ToolFailed:
    patience_s = _POLL_S if one.process.poll() is None else GRACE_S
    for thread in one.threads:
        thread.join(patience_s)
    said = list(one.last) or one.output[-2000:].decode("utf-8", "replace").splitlines()[-5:]
    told = "".join(f"\n  {line[:300]}" for line in said)
    return ToolFailed(f"{one.asked.words[0]} on {one.asked.place} {what}{told}")


def _end(running: Sequence[_Running]) -> None:
    # First asked to end, then left alone: told twice at once, mpirun leaves its ranks behind.
    end([item.process for item in running])
    for item in running:
        item.ended.set()
        for thread in item.threads:
            thread.join(GRACE_S)
        for stream in (item.process.stdout, item.process.stderr):
            if stream is not None and not any(thread.is_alive() for thread in item.threads):
                stream.close()
