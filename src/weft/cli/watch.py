"""Progress on one line of standard error, where a person is watching."""

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from weft.units import show_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weft.predict.simulate import Progress
    from weft.predict.watching import Probing
    from weft.tune.evaluate import Progress as SearchProgress

STARTING_S: Final = 1.5
"""A first run after an installation compiles the kernel before it begins."""
STARTING: Final = "starting (the first run after an update compiles the simulator) ..."


def line(progress: "Progress") -> str:
    """Say how far a simulation is and how long it will take."""
    if progress.seeds_begun == 0:
        return f"laying out the traffic as flows, {show_time(progress.elapsed_s)} ..."
    if progress.done_ratio == 0 and progress.elapsed_s > STARTING_S:
        return STARTING
    left = _left(progress.left_s)
    return (
        f"{progress.done_ratio:.0%} of the packets, "
        f"{show_time(progress.simulated_s)} simulated, "
        f"{progress.seeds_done} of {progress.seeds} seeds{left}"
    )


@contextmanager
def progress(doing: str, *, quiet: bool = False) -> "Iterator[Callable[[str], None]]":
    """Show what is being done, and what the work says of itself, where a person is watching."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # a person can wait for it, a pipe not

    with Console(stderr=True).status(doing) as status:
        yield lambda text: status.update(f"{doing}: {text}")


@contextmanager
def watched(
    doing: str, fidelity: str, *, quiet: bool = False
) -> "Iterator[Callable[[Probing], None]]":
    """Show what is being done; of a simulation how far it is. Yields what takes its reports."""
    with progress(doing, quiet=quiet) as say:
        yield lambda probing: None if fidelity == "analytic" else say(probe_line(probing))


def search_line(progress: "SearchProgress") -> str:
    """Say how far a search is, what it found so far and how long it will take."""
    if progress.done == 0 and progress.elapsed_s > STARTING_S:
        return STARTING
    left = _left(progress.left_s)
    best = f", {progress.best}" if progress.best else ""
    return f"{progress.doing}: {progress.done} of {progress.runs} runs{best}{left}"


def probe_line(probing: "Probing") -> str:
    """Say which pattern is simulated, how many there are and how long they will take."""
    left = _left(probing.left_s)
    planned = max(probing.planned, probing.done, 1)
    if not probing.doing:
        left = left if planned > probing.done else ""
        return f"{probing.done} of {planned} patterns simulated{left}"
    return f"pattern {probing.done + 1} of {planned}: {probing.doing}{left}"


def _left(time_s: float | None) -> str:
    return "" if time_s is None else f", {show_time(time_s)} left"
