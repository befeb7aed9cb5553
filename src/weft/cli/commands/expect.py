"""`weft expect`: what nccl-tests should show on this cluster, with its band."""

from pathlib import Path
from typing import Annotated

import typer

from weft.cli import options
from weft.units import parse_size

MeasuredOption = Annotated[
    Path | None,
    typer.Option(
        "--measured", metavar="RUN", help="Output of nccl-tests; its ranks are expected."
    ),
]


def expect(
    operation: Annotated[
        str,
        typer.Argument(
            metavar="OPERATION",
            help="all_reduce, all_gather, reduce_scatter, alltoall, broadcast or sendrecv.",
        ),
    ] = "all_reduce",
    *,
    files: options.Files = [],  # noqa: B006 - typer reads the default, nobody changes it
    sets: options.Sets = [],  # noqa: B006 - as above
    smallest: Annotated[
        str, typer.Option("-b", "--begin", metavar="SIZE", help="First size, as 8B or 1MiB.")
    ] = "8B",
    largest: Annotated[
        str, typer.Option("-e", "--end", metavar="SIZE", help="Last size, as 8GiB.")
    ] = "8GiB",
    factor: Annotated[
        float, typer.Option("--factor", metavar="NUMBER", help="Ratio of one size to the next.")
    ] = 2.0,
    ranks: Annotated[
        int | None, typer.Option("--ranks", metavar="COUNT", help="GPUs that take part.")
    ] = None,
    ranks_per_host: Annotated[
        int | None,
        typer.Option("--ranks-per-host", metavar="COUNT", help="Of them, on one host."),
    ] = None,
    measured: MeasuredOption = None,
    fidelity: Annotated[
        str,
        typer.Option(
            "--fidelity",
            metavar="ENGINE",
            help="analytic, or packet: the network's share is simulated, not looked up.",
        ),
    ] = "analytic",
    output: options.OutputFormat = "text",
    out: options.OutFile = None,
    overlay: options.OverlayFile = None,
    chart: options.ChartFile = [],  # noqa: B006 - as above
) -> None:
    """Expect the curve of one NCCL collective, in the layout of nccl-tests.

    All GPUs of the cluster take part unless --ranks says otherwise. Lines that begin with #
    carry the band, NCCL's expected choice of algorithm and protocol, and the assumptions.

    \b
    Examples:
      weft expect -f cluster.yaml
      weft expect alltoall -f cluster.yaml --ranks 64 -b 1MiB -e 1GiB -o json
      weft expect -f cluster.yaml --measured run.txt --chart busbw.svg
      weft expect -f cluster.yaml --set fabric.kind=roce --chart busbw.svg
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.cli import inputs  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, check_places, emit  # noqa: PLC0415 - as above
    from weft.cli.watch import watched  # noqa: PLC0415 - as above
    from weft.predict.collective import beside  # noqa: PLC0415 - as above

    check_format(output)
    check_places(out, charts=chart, kind="expectation")
    run = None if measured is None else inputs.measured_run(measured, operation)
    if run is not None:
        ranks, ranks_per_host = ranks or run.ranks, ranks_per_host or run.ranks_per_host
    with watched("expecting", fidelity) as report:
        result = api.expect(
            inputs.cluster_alone(files, sets, overlay),
            operation,
            smallest_bytes=parse_size(smallest),
            largest_bytes=parse_size(largest),
            factor=factor,
            ranks=ranks,
            ranks_per_domain=ranks_per_host,
            fidelity=fidelity,
            report=report,
        )
    if run is not None:
        result = beside(result, run.times_s, fidelity=fidelity)
    emit(result, output, out=out, charts=chart)
