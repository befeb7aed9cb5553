"""`weft diff` (configure): compare what is running with what weft would render."""

from pathlib import Path
from typing import Annotated, Final

import typer

from weft.cli import options

PathsArgument = Annotated[
    list[Path],
    typer.Argument(metavar="PATH", help="Files and folders of what is running."),
]
DIFFERENT: Final = 4
UNSEEN: Final = 5


def diff(
    paths: PathsArgument,
    *,
    given: options.ClusterGiven,
    output: options.OutputFormat = "text",
    full: options.Full = False,
    out: options.OutFile = None,
    quiet: options.Quiet = False,
) -> int:
    """Compare what is running with the plan: each setting planned, running, and why it matters.

    Reads what `weft lint` reads: config_db.json, nv config show, running configurations,
    scripts, manifests, the environment of a job. The exit code is 0 when everything is as
    planned, 4 when something differs, 5 when a setting that lossless traffic needs is missing.

    \b
    Examples:
      weft diff cluster.yaml running/
      weft diff cluster.yaml leaf-0000/config_db.json nccl.conf weft-rdma
      weft diff cluster.yaml bundle/ -o json
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.cli.documents import documents_among  # noqa: PLC0415 - as above
    from weft.cli.inputs import cluster_of  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, emit, progress  # noqa: PLC0415 - as above
    from weft.lint.diff import Verdict  # noqa: PLC0415 - as above

    check_format(output)
    documents, running = documents_among(paths)
    cluster = cluster_of(given, documents)
    with progress("reading", quiet=quiet):
        result = api.diff(cluster, running)
    emit(result, output, full=full, out=out)
    codes = {Verdict.EQUAL: 0, Verdict.DIFFERENT: DIFFERENT, Verdict.UNSEEN: UNSEEN}
    return codes[result.verdict]
