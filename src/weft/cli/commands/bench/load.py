"""`weft bench load`: raise the load to two or three times the peak, and say where it breaks."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

import typer

from weft.cli import options
from weft.cli.commands.bench.reach import Hosts
from weft.errors import SpecError
from weft.units import parse_rate, parse_size

BROKEN: Final = 4


def load(
    documents: options.Documents = [],  # noqa: B006 - typer reads the default, nobody changes it
    *,
    peak: Annotated[
        str,
        typer.Option(
            "--peak", metavar="RATE", help="What a host is projected to send at its peak."
        ),
    ],
    largest: Annotated[
        float, typer.Option("--to", metavar="NUMBER", help="Times the peak.", min=1.0)
    ] = 3.0,
    simulate: Annotated[
        bool, typer.Option("--simulate", help="In the packet simulator, on the cluster of -f.")
    ] = False,
    files: options.Files = [],  # noqa: B006 - as above
    preset: options.PresetName = None,
    sets: options.Sets = [],  # noqa: B006 - as above
    hosts: Hosts = "",
    tool: Annotated[
        str | None,
        typer.Option("--tool", metavar="NAME", help="default: iperf3; perftest for a pair."),
    ] = None,
    launcher: Annotated[
        str | None,
        typer.Option(
            "--launcher", metavar="NAME", help="default: ssh; or local, kubectl, netns."
        ),
    ] = None,
    line: Annotated[
        str, typer.Option("--line", metavar="RATE", help="Line rate of a host, if known.")
    ] = "",
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", metavar="NUMBER", help="Of one step; 5.", min=1),
    ] = None,
    streams: Annotated[
        int | None,
        typer.Option(
            "--streams", metavar="COUNT", help="Connections of each pair (iperf3); 4.", min=1
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option("--size", metavar="SIZE", help="Of a simulated transfer; 1MiB."),
    ] = None,
    most_hosts: Annotated[
        int | None,
        typer.Option("--simulated-hosts", metavar="COUNT", help="Hosts to simulate.", min=2),
    ] = None,
    delivered: Annotated[
        float,
        typer.Option("--delivered", metavar="RATIO", help="Of the load, or it is broken."),
    ] = 0.95,
    tail: Annotated[
        float,
        typer.Option("--tail", metavar="NUMBER", help="Growth of the tail that breaks it."),
    ] = 3.0,
    output: options.OutputFormat = "text",
    full: options.Full = False,
    out: options.OutFile = None,
    chart: options.ChartFile = [],  # noqa: B006 - as above
    quiet: options.Quiet = False,
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
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft.bench.command import places  # noqa: PLC0415 - after the words are understood
    from weft.bench.load import simulated_load  # noqa: PLC0415 - as above
    from weft.bench.load_hosts import Field, measured_load  # noqa: PLC0415 - as above
    from weft.cli.documents import is_given  # noqa: PLC0415 - as above
    from weft.cli.inputs import cluster_of  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, check_places, emit, watched  # noqa: PLC0415 - as above

    check_format(output)
    check_places(out, charts=chart)
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
    with watched("loading the network", quiet=quiet) as report:
        if simulate:
            result = simulated_load(
                cluster_of(given, documents), rate, largest_multiple=largest,
                delivered_ratio=delivered, tail_growth=tail, report=report, **_given(simulated),
            )  # fmt: skip
        else:
            names, addresses = places(hosts)
            result = measured_load(
                Field(hosts=names, addresses=addresses, **_given(real)),
                rate, line_bytes_per_s=parse_rate(line) if line else None,
                largest_multiple=largest, delivered_ratio=delivered, tail_growth=tail,
                report=report,
            )  # fmt: skip
    emit(result, output, full=full, out=out, charts=chart)
    return 0 if result.breaking_multiple is None else BROKEN


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
