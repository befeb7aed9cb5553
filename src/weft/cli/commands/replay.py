"""`weft replay` (decide): run a traced job on another network, or in other places."""

from collections.abc import Sequence
from pathlib import Path

import typer

from weft import api
from weft.cli import options
from weft.cli.documents import documents_among


def replay(
    traces: list[Path],
    *,
    given: options.ClusterGiven,
    traced_on: Path | None = None,
    ranks: int | None = None,
    fidelity: str = "analytic",
    placement: list[str] = [],
    shown: options.Written,
) -> int:
    """Replay traced jobs on the network of a cluster: step time and exposed communication.

    Reads PyTorch profiler traces (Kineto, Chrome trace JSON) and Chakra execution traces (.et
    or JSON), also packed with gzip. Computing keeps its traced times; each collective takes
    what the network of the cluster is predicted to give. One rank stands for all, or all ranks
    are given. With --fidelity flow, jobs share links, and placements are compared.

    \b
    Examples:
      weft replay rank0.json cluster.yaml
      weft replay traces/ -f new.yaml --traced-on old.yaml
      weft replay job.0.et groups.json --ranks 64 --preset dgx_h100 --hosts 8
      weft replay a/ b/ cluster.yaml --fidelity flow --placement packed --placement scattered
    """
    from weft.readers.trace import read_job
    from weft.spec.load import load_cluster

    shown.check(kind="replay")
    documents, files = documents_among(traces)
    cluster = given.cluster(documents)
    jobs = _jobs(files)
    result = api.replay(
        {name: read_job(paths) for name, paths in jobs.items()},
        cluster,
        traced_on=None if traced_on is None else load_cluster(traced_on),
        fidelity=fidelity,
        placements=placement,
        ranks=ranks,
    )
    shown.emit(result)
    return 0


def _jobs(paths: Sequence[Path]) -> dict[str, list[Path]]:
    """Return the traces by job: each folder or archive is one, all other files together one."""
    if not paths:
        raise typer.BadParameter("no trace is given; name one", param_hint="TRACE")
    from weft.readers.archives import ARCHIVES

    found: dict[str, list[Path]] = {}
    for path in paths:
        whole = path.is_dir() or path.name.endswith((*ARCHIVES, ".zip"))
        name = path.resolve().name if whole else "job"
        while whole and name in found:
            name += "'"
        found.setdefault(name, []).append(path)
    return found
