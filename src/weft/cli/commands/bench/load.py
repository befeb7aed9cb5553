"""`weft bench load`: raise the load to two or three times the peak, and say where it breaks."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weft.cli import options
from weft.cli.documents import is_given
from weft.cli.exits import FAILED
from weft.cli.watch import progress
from weft.errors import SpecError
from weft.units import parse_rate, parse_size


def load(
    documents: list[Path] = [],
    *,
    peak: str,
    largest: float = 3.0,
    simulate: bool = False,
    files: list[Path] = [],
    preset: str | None = None,
    sets: list[str] = [],
    hosts: str = "",
    tool: str | None = None,
    launcher: str | None = None,
    line: str = "",
    seconds: float | None = None,
    streams: int | None = None,
    size: str | None = None,
    most_hosts: int | None = None,
    delivered: float = 0.95,
    tail: float = 3.0,
    shown: options.Drawn,
    quiet: bool = False,
) -> int:
    """Raise the offered load past the projected peak and report the breaking point.

    A step is broken where less than --delivered of it arrives, or where the tail of a transfer
    (simulated) or the round trip (TCP) grows past --tail times that of the lightest step. The
    multiple is then narrowed by halving. The exit code is 0 where the load is carried up
    to --to times the peak, 4 where it breaks before.

    \b
    Examples:
      weft bench load --simulate cluster.yaml --peak 1200Gb/s
      weft bench load --hosts a,b,c,d --peak 30Gb/s --line 100Gb/s
    """
    from weft.bench.command import places
    from weft.bench.load import Limits, simulated_load
    from weft.bench.load_hosts import Field, measured_load

    shown.check()
    if simulate == bool(hosts):
        raise SpecError("give --simulate with cluster.yaml, or real hosts with --hosts")
    real = {"tool": tool, "launcher": launcher, "seconds": seconds, "streams": streams}
    simulated = {"size_bytes": None if size is None else parse_size(size), "hosts": most_hosts}
    given = options.ClusterGiven(files=files, preset=preset, sets=sets)
    named = is_given(given, documents) or None
    _refuse(simulate=simulate, real={**real, "line": line or None},
            simulated={"size": size, "simulated-hosts": most_hosts, "file": named,
                       "set": given.sets or None})  # fmt: skip
    rate = parse_rate(peak)
    limits = Limits(largest_multiple=largest, delivered_ratio=delivered, tail_growth=tail)
    with progress("loading the network", quiet=quiet) as report:
        if simulate:
            result = simulated_load(
                given.cluster(documents), rate, limits, report=report, **_given(simulated),
            )  # fmt: skip
        else:
            names, addresses = places(hosts)
            result = measured_load(
                Field(hosts=names, addresses=addresses, **_given(real)),
                rate, limits, line_bytes_per_s=parse_rate(line) if line else None,
                report=report,
            )  # fmt: skip
    shown.emit(result)
    return 0 if result.breaking_multiple is None else FAILED


def _given(named: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was asked for; what was not is as the load test has it."""
    return {name: value for name, value in named.items() if value is not None}


def _refuse(
    *, simulate: bool, real: Mapping[str, object], simulated: Mapping[str, object]
) -> None:
    """Refuse what was asked for and this way would not heed."""
    unheeded = _given(real if simulate else simulated)
    if unheeded:
        words = ", ".join(f"--{name}" for name in unheeded)
        way = "--simulate" if simulate else "--hosts"
        known = ", ".join(f"--{name}" for name in (simulated if simulate else real))
        raise SpecError(f"{words} has no effect with {way}; allowed there: {known}")
