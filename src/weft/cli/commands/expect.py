"""`weft expect` (verify): what nccl-tests should show on this cluster, with its band."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.cli import options
from weft.cli.completion import complete_operation
from weft.units import parse_benchmark_size

if TYPE_CHECKING:
    from weft.predict.collective import Expectation
    from weft.spec.cluster import Cluster

PARTIAL = 5
WordsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="OPERATION|FILE", autocompletion=complete_operation, show_default=False,
        help="all_reduce (the default), all_gather, reduce_scatter, alltoall, broadcast, "
        "reduce or sendrecv; and documents, as with --file.",
    ),
]  # fmt: skip
MeasuredOption = Annotated[
    Path | None,
    typer.Option(
        "--measured", metavar="RUN", help="Output of nccl-tests; its ranks are expected."
    ),
]
GateOption = Annotated[
    str | None,
    typer.Option(
        "--emit",
        metavar="GATE",
        help="Thresholds for a gate that you run: aicr, gcm, nhc or superbench.",
    ),
]
RunOption = Annotated[
    list[str], typer.Option("-n", "-w", "-c", "-t", "-m", "-d", "-a", "-z", hidden=True)
]
"""Options of nccl-tests about how it measures; a prediction has nothing to do with them."""


def expect(
    words: WordsArgument = [],  # noqa: B006 - typer reads the default, nobody changes it
    *,
    given: options.ClusterGiven,
    smallest: Annotated[
        str,
        typer.Option(
            "-b", "--begin", metavar="SIZE", help="First size, as 8, 1M (binary) or 1MiB."
        ),
    ] = "8",
    largest: Annotated[
        str, typer.Option("-e", "--end", metavar="SIZE", help="Last size, as 2G or 8GiB.")
    ] = "8G",
    factor: Annotated[
        float | None,
        typer.Option(
            "--factor",
            metavar="NUMBER",
            help="Ratio of one size to the next; 2. As in nccl-tests, -f 2 does the same.",
        ),
    ] = None,
    ranks: Annotated[
        int | None, typer.Option("--ranks", metavar="COUNT", help="GPUs that take part.")
    ] = None,
    ranks_per_host: Annotated[
        int | None,
        typer.Option("--ranks-per-host", metavar="COUNT", help="Of them, on one host."),
    ] = None,
    per_process: Annotated[
        int | None,
        typer.Option(
            "-g",
            metavar="COUNT",
            help="GPUs of one process, as in nccl-tests: 1, or all of a host; the ranks are "
            "the same.",
        ),
    ] = None,
    unheeded: RunOption = [],  # noqa: B006 - as above
    sweep: options.Sweep = [],  # noqa: B006 - as above
    measured: MeasuredOption = None,
    gate: GateOption = None,
    fidelity: options.Fidelity = "analytic",
    output: options.OutputFormat = "text",
    full: options.Full = False,
    out: options.OutFile = None,
    overlay: options.OverlayFile = None,
    chart: options.ChartFile = [],  # noqa: B006 - as above
) -> int:
    """Expect the curve of one NCCL collective.

    All GPUs of the cluster take part unless --ranks says otherwise. With --full every size is
    printed in the layout of nccl-tests, with NCCL's expected choice of algorithm and protocol.

    \b
    Examples:
      weft expect --preset dgx_h200 --hosts 16
      weft expect cluster.yaml -b 8 -e 2G -f 2
      weft expect alltoall cluster.yaml --ranks 64 -b 1M -e 1G -o json
      weft expect cluster.yaml --sweep hosts=2,8,32 --sweep fabric.kind=infiniband,roce
      weft expect cluster.yaml --measured run.txt --chart busbw.svg
      weft expect cluster.yaml --emit superbench --out rules.yaml
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.cli import inputs  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, check_places, emit  # noqa: PLC0415 - as above
    from weft.cli.sweeps import swept_cluster  # noqa: PLC0415 - as above
    from weft.cli.watch import watched  # noqa: PLC0415 - as above
    from weft.predict.collective import beside  # noqa: PLC0415 - as above

    check_format(output)
    check_places(out, charts=chart, kind="grid" if sweep else "expectation")
    _refuse(unheeded)
    operation, documents = _words(words)
    if gate is not None:
        _write_gate(gate, inputs.cluster_of(given, documents, overlay=overlay), out)
        return 0
    steps, given = _factor(given)
    run = None if measured is None else inputs.measured_run(measured, operation)
    if run is not None:
        ranks, ranks_per_host = ranks or run.ranks, ranks_per_host or run.ranks_per_host
    with watched("expecting", fidelity) as report:

        def expectation(cluster: "Cluster") -> "Expectation":
            _check_processes(per_process, cluster)
            return api.expect(
                cluster, operation, smallest_bytes=parse_benchmark_size(smallest),
                largest_bytes=parse_benchmark_size(largest), factor=factor or steps or 2.0,
                ranks=ranks, ranks_per_domain=ranks_per_host, fidelity=fidelity, report=report,
            )  # fmt: skip

        if sweep:
            found = swept_cluster(sweep, given, documents, overlay, expectation)
            emit(found, output, full=full, out=out, charts=chart)
            return 0 if found.complete else PARTIAL
        result = expectation(inputs.cluster_of(given, documents, overlay=overlay))
    if run is not None:
        result = beside(result, run.times_s, fidelity=fidelity)
    emit(result, output, full=full, out=out, charts=chart)
    return 0


def _write_gate(gate: str, cluster: "Cluster", out: Path | None) -> None:
    """Write the thresholds for a gate, with band, derivation and date."""
    from datetime import UTC, datetime  # noqa: PLC0415 - as above

    from weft.generate.gate import emit as emit_gate  # noqa: PLC0415 - as above

    text = emit_gate(gate, cluster, datetime.now(UTC).date())
    if out is None:
        typer.echo(text, nl=False)
    else:
        out.write_text(text, "utf-8")


def _words(words: Sequence[str]) -> tuple[str, list[Path]]:
    """Part the operation, as weft or nccl-tests call it, from the documents."""
    from weft.cli.documents import words_and_documents  # noqa: PLC0415 - as above
    from weft.traffic.collective import Operation  # noqa: PLC0415 - as above

    known = [one.value for one in Operation]
    plain = [word.removesuffix("_perf") for word in words]
    names, documents = words_and_documents(plain, known)
    if len(names) > 1:
        raise typer.BadParameter(f"{' and '.join(names)}: one operation is expected at a time")
    return (names[0] if names else "all_reduce"), documents


def _factor(given: options.ClusterGiven) -> tuple[float | None, options.ClusterGiven]:
    """Take a number of -f for the factor of nccl-tests, unless a file has that name."""
    numbers = [file for file in given.files if _is_number(str(file)) and not file.exists()]
    files = [file for file in given.files if file not in numbers]
    return (float(str(numbers[-1])) if numbers else None), replace(given, files=files)


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal()


def _refuse(unheeded: Sequence[str]) -> None:
    if unheeded:
        raise typer.BadParameter(
            "-n, -w, -c, -t, -m, -d, -a and -z say how nccl-tests measures (iterations, "
            "warm-up, checks, threads, data type); they do not change a prediction: leave "
            "them out"
        )


def _check_processes(per_process: int | None, cluster: "Cluster") -> None:
    """Refuse -g where it leaves open how many GPUs take part."""
    each = cluster.host.gpus
    if per_process not in {None, 1, each}:
        raise typer.BadParameter(
            f"-g {per_process}: a host has {each} GPUs, and -g does not say how many processes "
            f"it runs; write --ranks-per-host {per_process} if it runs one",
        )
