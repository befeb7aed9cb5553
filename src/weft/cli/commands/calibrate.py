"""`weft calibrate` (verify): your measurements into the model, as an overlay for every verb."""

from pathlib import Path
from typing import Annotated

import typer

from weft.cli import options

Runs = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN",
        help="Output of nccl-tests (text or JSON) or perftest, from this cluster.",
    ),
]
SaveOption = Annotated[
    Path, typer.Option("--save", metavar="FILE", help="Where the overlay is written (TOML).")
]
NameOption = Annotated[
    str | None,
    typer.Option(
        "--name", metavar="NAME", help="Name in results; default: the name of the file."
    ),
]
GpuOption = Annotated[
    bool, typer.Option("--gpu", help="Measure the GPU of this host as well (needs PyTorch).")
]


def calibrate(
    runs: Runs = [],  # noqa: B006 - typer reads the default, nobody changes it
    *,
    given: options.ClusterGiven,
    gpu: GpuOption = False,
    save: SaveOption = Path("overlay.toml"),
    name: NameOption = None,
    output: options.OutputFormat = "text",
    full: options.Full = False,
    out: options.OutFile = None,
    quiet: options.Quiet = False,
) -> None:
    """Fit the model to measurements of one cluster and write them down as an overlay.

    Ratios of measured to predicted time by class of collective, and with --gpu of matrix
    products, attention and memory bandwidth. Every verb takes the file with --overlay, and
    every result made with it names it.

    \b
    Examples:
      weft calibrate all_reduce.txt all_gather.txt cluster.yaml
      weft calibrate --gpu cluster.yaml --save h100.toml
      weft predict cluster.yaml job.yaml --overlay overlay.toml
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.cli.documents import documents_among  # noqa: PLC0415 - as above
    from weft.cli.inputs import cluster_of  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, emit, progress, write_file  # noqa: PLC0415 - as above
    from weft.spec.overlay import as_toml  # noqa: PLC0415 - as above

    check_format(output)
    documents, outputs = documents_among(runs)
    cluster = cluster_of(given, documents)
    with progress("measuring the GPU" if gpu else "fitting", quiet=quiet):
        result = api.calibrate(cluster, outputs, name=name or save.stem, measure_gpu=gpu)
    remark = "Written by weft calibrate: ratios of measured to predicted, for --overlay."
    write_file(save, as_toml(result.overlay, remark).encode("utf-8"))
    emit(result, output, full=full, out=out)
