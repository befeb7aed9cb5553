"""`weft render` (configure): write the configuration of switches, hosts and NCCL."""

from pathlib import Path
from typing import Annotated

import typer

from weft.cli import options

TargetsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="TARGET", help="nccl, sonic, opensm, ...; all: every supported one."
    ),
]
FolderOption = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Folder that the files go to; made if needed."),
]
NamesOption = Annotated[
    Path | None,
    typer.Option(
        "--node-names", metavar="FILE",
        help="GUIDs of InfiniBand switches by name, as in ib-node-name-map.",
    ),
]  # fmt: skip
ForceOption = Annotated[
    bool,
    typer.Option("--force", help="Replace files that weft did not write, or you changed."),
]


def render(
    targets: TargetsArgument,
    *,
    given: options.ClusterGiven,
    folder: FolderOption = None,
    force: ForceOption = False,
    node_names: NamesOption = None,
    tuning: options.TuningFile = None,
    output: options.OutputFormat = "text",
    full: options.Full = False,
    quiet: options.Quiet = False,
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
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.cli.documents import words_and_documents  # noqa: PLC0415 - as above
    from weft.cli.inputs import cluster_of  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, emit, progress  # noqa: PLC0415 - as above
    from weft.generate.guids import read_name_map  # noqa: PLC0415 - as above
    from weft.generate.target import write  # noqa: PLC0415 - as above

    check_format(output)
    names, documents = words_and_documents(targets, ())
    guids = None if node_names is None else read_name_map(node_names)
    plan = api.plan(cluster_of(given, documents, tuning=tuning), guids)
    with progress("rendering", quiet=quiet):
        result = api.render(plan, names)
        if folder is not None:
            result = write(result, folder, force=force)
    emit(result, output, full=full)
