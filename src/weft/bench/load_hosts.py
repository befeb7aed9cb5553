"""Offering a load to real hosts: every host sends to the next at a rate that is held."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from weft import units
from weft.bench import launcher as launchers
from weft.bench.command import Command
from weft.bench.load import USUAL, Carried, Limits, LoadTest, raise_load
from weft.bench.processes import Started, on_host, run_together
from weft.errors import SpecError, ToolFailed
from weft.predict.provenance import provenance
from weft.readers.benchmarks import measured
from weft.readers.read import read_text

_PORT: Final = 5301
_STREAMS: Final = 4
_MARGIN_S: Final = 60.0
MEASURED: Final = "none: measured"
TOOLS: Final = ("iperf3", "perftest")


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """Hosts to load, and how."""

    hosts: tuple[str, ...]
    addresses: dict[str, str] = field(default_factory=dict)
    launcher: str = "ssh"
    tool: str = "iperf3"
    seconds: float = 5.0
    streams: int | None = None
    """Connections of each pair (iperf3); none: 4, as one core fills no fast link with one."""


def measured_load(
    where: Field,
    peak_bytes_per_s: float,
    limits: Limits = USUAL,
    *,
    line_bytes_per_s: float | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> LoadTest:
    """Raise the load between real hosts step by step, all of them sending at once."""
    if where.tool not in TOOLS:
        raise SpecError(f"a load is offered by {' or '.join(TOOLS)}, not by {where.tool!r}")
    if len(where.hosts) < 2:  # noqa: PLR2004 - a pair
        raise SpecError("a load needs two hosts or more; name them with --hosts")
    if where.tool == "perftest" and where.streams is not None:
        raise SpecError("perftest holds the rate of one queue pair; --streams is for iperf3")
    if where.tool == "perftest" and len(where.hosts) > 2:  # noqa: PLR2004 - a pair
        raise SpecError("perftest loads one pair; iperf3 loads any number of hosts at once")

    steps = raise_load(
        partial(_carried, where), peak_bytes_per_s, limits, line_bytes_per_s=line_bytes_per_s,
        report=report,
    )  # fmt: skip
    made = provenance(sources=(), assumptions=())
    said = (f"every host sends to the next, {where.seconds:g} s a step",)
    return LoadTest(
        way=f"{where.tool}, {where.launcher}", hosts=len(where.hosts),
        peak_bytes_per_s=peak_bytes_per_s, line_bytes_per_s=line_bytes_per_s,
        steps=steps, said=said,
        provenance=replace(made, engine=MEASURED, models=frozenset()),
    )  # fmt: skip


def processes(where: Field, bytes_per_s: float) -> list[Started]:
    """Return the servers and clients that offer a load per host."""
    gbit = units.gbit_from_rate(bytes_per_s)
    pairs = list(zip(where.hosts, (*where.hosts[1:], where.hosts[0]), strict=True))
    if len(where.hosts) == 2:  # noqa: PLR2004 - one direction says what both would
        pairs = pairs[:1]
    found = []
    for place, (source, target) in enumerate(pairs):
        port = f"{_PORT + place}"
        server, client = _words(where, gbit, port, where.addresses.get(target, target))
        found.append(_started(where, target, server, serves=True))
        found.append(_started(where, source, client, serves=False))
    return found


def _words(
    where: Field, gbit: float, port: str, address: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    address = address.rpartition("@")[2]
    if where.tool == "iperf3":
        # iperf3 holds each stream to its share of the rate.
        streams = where.streams or _STREAMS
        share = f"{gbit / streams * 1e9:.0f}"
        return (
            ("iperf3", "--server", "--one-off", "--port", port),
            ("iperf3", "--client", address, "--port", port, "--json", "--bitrate", share,
             "--parallel", f"{streams}", "--time", f"{where.seconds:g}"),
        )  # fmt: skip
    words = (
        "ib_write_bw", "-F", "--report_gbits", "-D", f"{max(1, round(where.seconds))}",
        "-p", port, f"--rate_limit={gbit:.3f}", "--rate_limit_type=SW",
    )  # fmt: skip
    return words, (*words, address)


def _started(where: Field, host: str, words: tuple[str, ...], *, serves: bool) -> Started:
    way = launchers.find(where.launcher)
    return on_host(way, host, Command(words=words), serves=serves, answers=not serves)


def _carried(where: Field, bytes_per_s: float) -> Carried:
    started = processes(where, bytes_per_s)
    text = run_together(started, where.seconds + _MARGIN_S).decode("utf-8", errors="replace")
    rows = measured(read_text(text, "load.txt"))
    rates = [row.rate_bytes_per_s for row in rows if row.what == "bandwidth"]
    trips = [row.time_s for row in rows if row.what == "latency"]
    clients = sum(item.answers for item in started)
    if len(rates) < clients:
        raise ToolFailed(f"{where.tool}: {clients - len(rates)} of {clients} gave no result")
    delivered = sum(rates) / clients
    return Carried(
        # iperf3 sends in bursts and may send more than it was asked to; what came was sent.
        offered_bytes_per_s=max(bytes_per_s, delivered), delivered_bytes_per_s=delivered,
        tail_s=max(trips, default=None),
    )  # fmt: skip
