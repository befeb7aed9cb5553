"""`weft diff`: compare what is running with what weft would render."""

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
    files: options.Files = [],  # noqa: B006 - typer reads the default, nobody changes it
    sets: options.Sets = [],  # noqa: B006 - as above
    output: options.OutputFormat = "text",
    out: options.OutFile = None,
    quiet: options.Quiet = False,
) -> int:
    """Compare what is running with the plan: each setting planned, running, and why it matters.

    Reads what `weft lint` reads: config_db.json, nv config show, running configurations,
    scripts, manifests, the environment of a job. Leaves with 0 when all that was seen is as
    planned, 4 when something differs, 5 when a setting that losslessness needs was not seen.

    \b
    Examples:
      weft diff -f cluster.yaml running/
      weft diff -f cluster.yaml leaf-0000/config_db.json nccl.conf weft-rdma
      weft diff -f cluster.yaml bundle/ -o json
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.cli.inputs import cluster_alone  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, emit, progress  # noqa: PLC0415 - as above
    from weft.lint.diff import Verdict  # noqa: PLC0415 - as above

    check_format(output)
    cluster = cluster_alone(files, sets)
    with progress("reading", quiet=quiet):
        result = api.diff(cluster, paths)
    emit(result, output, out=out)
    codes = {Verdict.EQUAL: 0, Verdict.DIFFERENT: DIFFERENT, Verdict.UNSEEN: UNSEEN}
    return codes[result.verdict]
