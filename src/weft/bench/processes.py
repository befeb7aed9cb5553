"""Running the processes of a benchmark: bounded output, a deadline, nothing left over."""

import os
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import IO, Final

from weft.collect.children import GRACE_S, end
from weft.errors import ToolFailed

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
    env: Mapping[str, str]
    place: str
    serves: bool = False
    answers: bool = False


@dataclass(slots=True)
class _Running:
    """A process, and the threads that read what it writes."""

    asked: Started
    process: "subprocess.Popen[bytes]"
    output: bytearray = field(default_factory=bytearray)
    last: "deque[str]" = field(default_factory=lambda: deque(maxlen=_LAST_LINES))
    threads: list[threading.Thread] = field(default_factory=list)


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
            own = [one for one in asked if one.serves is serves]
            _start_all(own, running, report)
            if serves and own:
                time.sleep(SERVER_STARTS_S)
        _wait(running, deadline, timeout_s)
        return b"".join(_output(one) for one in running if one.asked.answers)
    finally:
        _end(running)


def _start_all(asked: Sequence[Started], running: list[_Running], report: Report) -> None:
    """Start processes, and know of each whatever happens meanwhile.

    A signal interrupts the main thread alone, never between a start and its entry in the list.
    """

    def start(one: Started) -> None:
        running.append(_start(one, report))

    with ThreadPoolExecutor(1) as starter:
        for one in asked:
            starter.submit(start, one).result()


def _start(asked: Started, report: Report) -> _Running:
    report(f"starting {asked.words[0]} on {asked.place}")
    try:
        process = subprocess.Popen(  # noqa: S603 - a list of words; no shell reads it
            asked.words, env={**os.environ, **asked.env}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
    except (FileNotFoundError, PermissionError) as error:
        raise ToolFailed(
            f"{asked.words[0]}: {error.strerror}; install it on {asked.place}, or choose "
            "another launcher or benchmark"
        ) from error
    one = _Running(asked, process)
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
    left = [one for one in running if not one.asked.serves]
    while left:
        for one in list(left):
            status = one.process.poll()
            if status is None:
                continue
            left.remove(one)
            if status != 0:
                raise _failed(one, f"ended with {status}")
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
    end([one.process for one in running])
    for one in running:
        _close(one)


def _close(one: _Running) -> None:
    for thread in one.threads:
        thread.join(GRACE_S)
    for stream in (one.process.stdout, one.process.stderr):
        if stream is not None and not any(thread.is_alive() for thread in one.threads):
            stream.close()
