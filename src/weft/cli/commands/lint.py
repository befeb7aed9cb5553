"""`weft lint` (configure): check configuration files across their layers."""

from pathlib import Path
from typing import Annotated, Final

import typer

from weft.cli import options

PathsArgument = Annotated[
    list[Path],
    typer.Argument(metavar="PATH", help="Files and folders; all of one cluster together."),
]
VersionOption = Annotated[
    str | None,
    typer.Option("--nccl", metavar="VERSION", help="NCCL in use, as 2.27.3."),
]
IgnoreOption = Annotated[
    list[str],
    typer.Option("--ignore", metavar="RULE", help="Skip a rule; repeatable."),
]
OutputFormat = Annotated[
    str,
    typer.Option(
        "-o", "--output", metavar="FORMAT",
        help="text, json, yaml, md, html, sarif, junit or github.",
    ),
]  # fmt: skip
FOUND: Final = 4
PARTIAL: Final = 5
UNUSABLE: Final = 2


def lint(
    paths: PathsArgument,
    *,
    nccl: VersionOption = None,
    ignore: IgnoreOption = [],  # noqa: B006 - typer reads the default, nobody changes it
    output: OutputFormat = "text",
    full: options.Full = False,
    out: options.OutFile = None,
    quiet: options.Quiet = False,
) -> int:
    """Check configuration files offline, across NCCL, NICs, switches and pods.

    Reads NCCL settings, scripts, Kubernetes manifests, Slurm, OpenSM, SONiC, Cumulus, EOS,
    NX-OS, FRR and Linux hosts; unknown files are listed. The exit code is 4 for
    an error or a warning, 5 where a reader failed over a file, 2 when no file can be read.
    Give all files of a cluster at once: rules compare them.

    \b
    Examples:
      weft lint rendered/
      weft lint config_db.json job.sh nccl.conf --nccl 2.27.3
      weft lint k8s/ -o sarif --out lint.sarif
      weft lint . --ignore nccl_debug_left_on -o github
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.cli.output import check_format, emit, progress  # noqa: PLC0415 - as above
    from weft.generate.names import version  # noqa: PLC0415 - as above

    check_format(output, "linted")
    with progress("reading", quiet=quiet):
        result = api.lint(paths, version(nccl) if nccl else None, frozenset(ignore))
    emit(result, output, full=full, out=out)
    if not result.files:
        return PARTIAL if result.partial else UNUSABLE
    if not result.clean:
        return FOUND
    return PARTIAL if result.partial else 0
