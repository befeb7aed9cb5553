"""Stacks of Python processes, as py-spy and faulthandler print them.

Of each main thread the innermost frames say what it waits for: a collective, storage, the
next batch, or its own work. Nothing is kept of a process beyond that.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.base import Fact, Process
from weft.observe.facts.programs import ThreadAt
from weft.observe.parser import READ, Parser, Source

_PROCESS = re.compile(r"\s*Process (?P<pid>\d{1,9}): (?P<command>.{0,200})")
_THREAD = re.compile(
    r'\s*Thread (?P<id>0x[0-9a-f]+|\d+)(?: \([\w+, ]{1,40}\))?:? ?(?:"(?P<name>[^"]{1,80})"|'
    r"\(most recent call first\))?"
)
_FRAME = re.compile(
    r"\s+(?P<function>[\w.<>]{1,80}) \((?P<place>[\w./<>-]{1,200}):(?P<line>\d{1,6})\)\s*$"
)
_FAULT = re.compile(
    r'\s+File "(?P<place>[^"]{1,300})", line (?P<line>\d{1,6}) in (?P<function>\S{1,80})'
)
_MOST_FRAMES = 12
_COLLECTIVE = re.compile(
    r"^(?:all_?reduce|_?all_?gather\w*|broadcast\w*|barrier|_?reduce_?scatter\w*|all_?to_?all\w*|"
    r"send|recv|isend|irecv|monitored_barrier|gather|scatter|reduce|allreduce\w*)$",
    re.IGNORECASE,
)
_GROUP_CODE = re.compile(r"distributed_c10d\.py$|/comm/|pynccl|parallel_state\.py$|horovod/")
_LOADING = re.compile(
    r"torch/utils/data/dataloader\.py$|multiprocessing/(?:queues|connection)\.py$"
)
_STORAGE = re.compile(
    r"torch/serialization\.py$|safetensors|fsspec|s3fs|gcsfs|s3transfer|botocore|h5py|zarr|"
    r"numpy/lib/(?:npyio|format)|pyarrow|checkpointing?\.py$|dist(?:ributed)?_checkpoint|shutil\.py$|"
    r"distributed/checkpoint/|tensorstore|orbax"
)
_WRITING = re.compile(r"^_?(?:save|write|fsync|flush|load|read|open|copyfile\w*)\w*$")


@dataclass(slots=True)
class _Reader:
    """Reads the frames of one thread after another."""

    source: Source
    pid: int | None = None
    main: bool = False
    kind: str = ""
    function: str = ""
    at: tuple[str, int] = ("", 0)
    frames: int = 0
    _seen: list[Fact] = field(default_factory=list)

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return what a thread does once the next one begins."""
        process = _PROCESS.match(text)
        if process:
            done = self._done()
            self.pid = int(process["pid"])
            return done
        thread = _THREAD.match(text)
        if thread and ("(" in text or '"' in text):
            done = self._done()
            self.main = thread["name"] in {None, "MainThread"}
            self.at = (text, number)
            return done
        frame = (_FRAME.match(text) or _FAULT.match(text)) if self.at[1] else None
        if frame is None:
            return None
        self._frame(frame["function"], frame["place"], (text, number))
        return READ

    def end(self) -> Iterable[Fact]:
        """Return what the last thread does."""
        return self._done()

    def _frame(self, function: str, place: str, at: tuple[str, int]) -> None:
        self.frames += 1
        if not self.main or self.kind or self.frames > _MOST_FRAMES:
            return
        kind = ""
        if _LOADING.search(place):
            kind = "loader"
        elif _STORAGE.search(place) or (self.frames == 1 and _WRITING.match(function)):
            kind = "storage"
        elif _COLLECTIVE.match(function) or _GROUP_CODE.search(place):
            kind = "collective"
        if kind:
            self.kind, self.function, self.at = kind, function, at

    def _done(self) -> Sequence[Fact]:
        kind, function, at, frames = self.kind, self.function, self.at, self.frames
        self.kind, self.function, self.frames, self.at = "", "", 0, ("", 0)
        if not (self.main and at[1] and frames):
            return READ
        return (
            ThreadAt(
                kind=kind or "other",
                function=function,
                process=Process(host=self.source.host, pid=self.pid),
                evidence=self.source.evidence(*at),
            ),
        )


python_stacks = Parser(
    tool="Python stacks",
    marks=("MainThread", "(most recent call first)", "Process "),
    reader=_Reader,
    rank=66,
)
