"""`weft diagnose`: what is wrong on a cluster, from whatever its tools printed."""

from pathlib import Path
from typing import Annotated, Final

import typer

from weft.cli import options

PathsArgument = Annotated[
    list[Path],
    typer.Argument(metavar="PATH", help="Logs, outputs, folders or bundles; all together."),
]
FOUND: Final = 4
UNDECIDED: Final = 5


def diagnose(
    paths: PathsArgument,
    *,
    files: options.Files = [],  # noqa: B006 - typer reads the default, nobody changes it
    sets: options.Sets = [],  # noqa: B006 - as above
    output: options.OutputFormat = "text",
    out: options.OutFile = None,
    overlay: options.OverlayFile = None,
    quiet: options.Quiet = False,
) -> int:
    """Say what is wrong, on which lines, how sure that is, and what to do next.

    Leaves with 0 when nothing is wrong, 4 when a fault is named, 5 when the evidence cannot
    tell. Consequences stand under their cause; what the evidence does not decide is a suspect
    with the question that would settle it. With -f a fault is priced for your own job.

    \b
    Examples:
      weft diagnose nccl.log
      weft diagnose bundle/ -f cluster.yaml -f job.yaml
      weft diagnose nccl.log dmesg.txt ibstat.txt -o json
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.cli.inputs import cluster_and_perhaps_job  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, emit, progress  # noqa: PLC0415 - as above
    from weft.doctor.ranking import Verdict  # noqa: PLC0415 - as above

    check_format(output)
    cluster, job = cluster_and_perhaps_job(files, sets, overlay) if files else (None, None)
    with progress("reading", quiet=quiet):
        result = api.diagnose(paths, cluster, job)
    emit(result, output, out=out)
    return {Verdict.QUIET: 0, Verdict.FINDINGS: FOUND, Verdict.UNDECIDED: UNDECIDED}[
        result.verdict
    ]
