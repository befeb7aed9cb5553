"""`weft expect` (verify): what nccl-tests should show on this cluster, with its band."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from weft import api
from weft.cli import options
from weft.cli.documents import words_and_documents
from weft.cli.exits import PARTIAL
from weft.cli.watch import watched
from weft.units import parse_benchmark_size

if TYPE_CHECKING:
    from weft.predict.collective import Expectation
    from weft.spec.cluster import Cluster


def expect(
    words: list[str] = [],
    *,
    given: options.ClusterGiven,
    smallest: str = "8",
    largest: str = "8G",
    factor: float | None = None,
    ranks: int | None = None,
    ranks_per_host: int | None = None,
    per_process: int | None = None,
    unheeded: list[str] = [],
    sweep: list[str] = [],
    measured: Path | None = None,
    gate: str | None = None,
    fidelity: str = "analytic",
    overlay: Path | None = None,
    shown: options.Drawn,
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
    """
    from weft.cli import inputs
    from weft.cli.sweeps import swept_cluster
    from weft.predict.collective import beside

    shown.check(kind="grid" if sweep else "expectation")
    _refuse(unheeded)
    operation, documents = _words(words)
    if gate is not None:
        _write_gate(gate, given.cluster(documents, overlay=overlay), shown.out)
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
            shown.emit(found)
            return 0 if found.complete else PARTIAL
        result = expectation(given.cluster(documents, overlay=overlay))
    if run is not None:
        result = beside(result, run.times_s, fidelity=fidelity)
    shown.emit(result)
    return 0


def _write_gate(gate: str, cluster: "Cluster", out: Path | None) -> None:
    """Write the thresholds for a gate, with band, derivation and date."""
    from datetime import UTC, datetime

    from weft.generate.gate import emit as emit_gate

    text = emit_gate(gate, cluster, datetime.now(UTC).date())
    if out is None:
        typer.echo(text, nl=False)
    else:
        out.write_text(text, "utf-8")


def _words(words: Sequence[str]) -> tuple[str, list[Path]]:
    """Part the operation, as weft or nccl-tests call it, from the documents."""
    from weft.traffic.collective import Operation

    known = [operation.value for operation in Operation]
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
