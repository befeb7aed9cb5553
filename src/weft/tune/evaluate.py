"""Many runs in threads: the kernel holds no lock, so they use all cores."""

import os
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from weft.spec.settings import NetworkSettings
from weft.tune.sample import Ground, Halted, Sample, run

LOOK_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a search is."""

    doing: str
    done: int
    runs: int
    """Of all: the first settings, the trials, what is checked afterwards."""
    elapsed_s: float
    left_s: float | None
    best: str = ""
    """What was found so far, in a few words."""


Report = Callable[[Progress], None]


class Interrupted(Exception):  # noqa: N818 - not an error: somebody asked to stop
    """Ctrl-C came while runs were under way; those that ended were handed out."""


@dataclass(slots=True, kw_only=True)
class Runner:
    """Threads that run scenarios with settings, watched and stoppable."""

    grounds: Sequence[Ground]
    limits_s: list[float]
    """Time limit of each scenario."""
    report: Report | None = None
    workers: int | None = None
    runs: int = 0
    """Expected in all; for the progress."""
    doing: str = "the first settings"
    best: str = ""
    done: int = 0
    began_s: float = field(default_factory=time.perf_counter)
    halt: threading.Event = field(default_factory=threading.Event)

    def evaluate(
        self, candidates: Mapping[int, Sequence[NetworkSettings]], seeds: Sequence[int]
    ) -> Generator[tuple[int, dict[tuple[int, int], Sample]], None, None]:
        """Yield each candidate with its runs once all of them have ended.

        A candidate is a sequence of settings, one for each scenario.
        """
        places = range(len(self.grounds))
        found: dict[int, dict[tuple[int, int], Sample]] = {number: {} for number in candidates}
        with ThreadPoolExecutor(self.workers or os.cpu_count()) as pool:
            tasks = {
                pool.submit(self._one, candidates[number][place], place, seed): (
                    number, place, seed)
                for number in candidates for place in places for seed in seeds
            }  # fmt: skip
            try:
                yield from self._gather(tasks, found, len(seeds) * len(self.grounds))
            except KeyboardInterrupt:
                self._stop(tasks)
                raise Interrupted from None
            except GeneratorExit:  # whoever asked was interrupted
                self._stop(tasks)
                raise

    def _stop(self, tasks: Iterable[Future[Sample]]) -> None:
        self.halt.set()
        for task in tasks:
            task.cancel()

    def _gather(
        self,
        tasks: Mapping[Future[Sample], tuple[int, int, int]],
        found: dict[int, dict[tuple[int, int], Sample]],
        each: int,
    ) -> Iterator[tuple[int, dict[tuple[int, int], Sample]]]:
        pending = set(tasks)
        while pending:
            ended, pending = wait(pending, timeout=LOOK_S, return_when=FIRST_COMPLETED)
            for task in sorted(ended, key=lambda item: tasks[item]):
                number, place, seed = tasks[task]
                found[number][place, seed] = task.result()
                self.done += 1
                if len(found[number]) == each:
                    yield number, dict(sorted(found[number].items()))
            self.tell()

    def _one(self, network: NetworkSettings, place: int, seed: int) -> Sample:
        if self.halt.is_set():
            raise Halted
        return run(self.grounds[place], network, seed, self.limits_s[place], self.halt)

    def tell(self) -> None:
        """Report how far it is."""
        if self.report is None:
            return
        elapsed = time.perf_counter() - self.began_s
        left = elapsed * (self.runs - self.done) / self.done if self.done else None
        self.report(
            Progress(doing=self.doing, done=self.done, runs=max(self.runs, self.done),
                     elapsed_s=elapsed, left_s=left, best=self.best)
        )  # fmt: skip
