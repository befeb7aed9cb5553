"""The options of the commands that reach hosts, each written once."""

from typing import Annotated

import typer

Hosts = Annotated[
    str,
    typer.Option(
        "--hosts", metavar="A,B", help="Hosts, pods or namespaces; or NAME=ADDRESS,..."
    ),
]
LauncherName = Annotated[
    str,
    typer.Option(
        "--launcher", metavar="NAME", help="local, ssh, kubectl, netns, srun or mpirun."
    ),
]
PairLauncherName = Annotated[
    str, typer.Option("--launcher", metavar="NAME", help="local, ssh, kubectl or netns.")
]
"""Where processes are started host by host, and not as a job."""
Seconds = Annotated[
    float, typer.Option("--seconds", metavar="NUMBER", help="Of one step or test.", min=1)
]
HistoryUrl = Annotated[
    str | None,
    typer.Option(
        "--history", metavar="URL",
        help="Where runs are kept: sqlite:///FILE or postgresql://...; default: your own file.",
    ),
]  # fmt: skip
