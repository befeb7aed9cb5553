"""`weft bench load`: raise the load to two or three times the peak, and say where it breaks."""

from typing import Annotated, Final

import typer

from weft.cli import options
from weft.cli.commands.bench.reach import Hosts, PairLauncherName, Seconds, Streams
from weft.errors import SpecError
from weft.units import parse_rate, parse_size

BROKEN: Final = 4


def load(
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
    files: options.Files = [],  # noqa: B006 - typer reads the default, nobody changes it
    sets: options.Sets = [],  # noqa: B006 - as above
    hosts: Hosts = "",
    tool: Annotated[
        str, typer.Option("--tool", metavar="NAME", help="iperf3, or perftest for a pair.")
    ] = "iperf3",
    launcher: PairLauncherName = "ssh",
    line: Annotated[
        str, typer.Option("--line", metavar="RATE", help="Line rate of a host, if known.")
    ] = "",
    seconds: Seconds = 5.0,
    streams: Streams = 4,
    size: Annotated[
        str, typer.Option("--size", metavar="SIZE", help="Of a simulated transfer.")
    ] = "1MiB",
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
    out: options.OutFile = None,
    chart: options.ChartFile = [],  # noqa: B006 - as above
    quiet: options.Quiet = False,
) -> int:
    """Raise the offered load past the projected peak and report the breaking point.

    A step is broken where less than --delivered of it arrives, or where the tail of a transfer
    (simulated) or the round trip (TCP) grows past --tail times that of the lightest step. The
    multiple is then narrowed by halving. Leaves with 0 where the load is carried up to --to
    times the peak, 4 where it breaks before.

    \b
    Examples:
      weft bench load --simulate -f cluster.yaml --peak 1200Gb/s
      weft bench load --hosts a,b,c,d --peak 30Gb/s --line 100Gb/s
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft.bench.command import places  # noqa: PLC0415 - after the words are understood
    from weft.bench.load import simulated_load  # noqa: PLC0415 - as above
    from weft.bench.load_hosts import Field, measured_load  # noqa: PLC0415 - as above
    from weft.cli.inputs import cluster_alone  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, check_places, emit, watched  # noqa: PLC0415 - as above

    check_format(output)
    check_places(out, charts=chart)
    if simulate == bool(hosts):
        raise SpecError("give --simulate with -f cluster.yaml, or real hosts with --hosts")
    rate = parse_rate(peak)
    with watched("loading the network", quiet=quiet) as report:
        if simulate:
            result = simulated_load(
                cluster_alone(files, sets), rate, size_bytes=parse_size(size), hosts=most_hosts,
                largest_multiple=largest, delivered_ratio=delivered, tail_growth=tail,
                report=report,
            )  # fmt: skip
        else:
            names, addresses = places(hosts)
            result = measured_load(
                Field(hosts=names, addresses=addresses, launcher=launcher, tool=tool,
                      seconds=seconds, streams=streams),
                rate, line_bytes_per_s=parse_rate(line) if line else None,
                largest_multiple=largest, delivered_ratio=delivered, tail_growth=tail,
                report=report,
            )  # fmt: skip
    emit(result, output, out=out, charts=chart)
    return 0 if result.breaking_multiple is None else BROKEN
