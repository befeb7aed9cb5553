"""`weft render` (configure): write the configuration of switches, hosts and NCCL."""

from pathlib import Path

from weft import api
from weft.cli import options
from weft.cli.documents import words_and_documents
from weft.cli.watch import progress


def render(
    targets: list[str],
    *,
    given: options.ClusterGiven,
    folder: Path | None = None,
    force: bool = False,
    node_names: Path | None = None,
    tuning: Path | None = None,
    shown: options.Shown,
    quiet: bool = False,
) -> None:
    """Render the configuration of a cluster: the same bytes for the same documents.

    Every file is written whole or not at all, and the report lists how each kind was
    validated. A target refuses what it cannot express before anything is written.

    \b
    Examples:
      weft render all cluster.yaml --out rendered
      weft render nccl sonic cluster.yaml --out rendered
      weft render opensm cluster.yaml --node-names ib-node-name-map --out rendered
      weft render nccl cluster.yaml -o json
    """
    from weft.generate.guids import read_name_map
    from weft.generate.target import write

    shown.check()
    names, documents = words_and_documents(targets, ())
    guids = None if node_names is None else read_name_map(node_names)
    plan = api.plan(given.cluster(documents, tuning=tuning), guids)
    with progress("rendering", quiet=quiet):
        result = api.render(plan, names)
        if folder is not None:
            result = write(result, folder, force=force)
    shown.emit(result)
