"""`weft calibrate` (verify): your measurements into the model, as an overlay for every verb."""

from pathlib import Path

from weft import api
from weft.cli import options
from weft.cli.documents import documents_among
from weft.cli.watch import progress


def calibrate(
    runs: list[Path] = [],
    *,
    given: options.ClusterGiven,
    gpu: bool = False,
    save: Path = Path("overlay.toml"),
    name: str | None = None,
    shown: options.Written,
    quiet: bool = False,
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
    """
    from weft.cli.output import write_file
    from weft.spec.overlay import as_toml

    shown.check()
    documents, outputs = documents_among(runs)
    cluster = given.cluster(documents)
    with progress("measuring the GPU" if gpu else "fitting", quiet=quiet):
        result = api.calibrate(cluster, outputs, name=name or save.stem, measure_gpu=gpu)
    remark = "Written by weft calibrate: ratios of measured to predicted, for --overlay."
    write_file(save, as_toml(result.overlay, remark).encode("utf-8"))
    shown.emit(result)
