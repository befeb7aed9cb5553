"""The options that verbs share, each written once."""

from pathlib import Path
from typing import Annotated

import typer

Files = Annotated[
    list[Path],
    typer.Option(
        "-f", "--file", metavar="FILE",
        help="Cluster and job documents (YAML); give the option once for each, - for stdin.",
    ),
]  # fmt: skip
Sets = Annotated[
    list[str],
    typer.Option(
        "--set", metavar="PATH=VALUE",
        help="Change one key of a document, as fabric.kind=roce or hosts=64; repeatable.",
    ),
]  # fmt: skip
OutputFormat = Annotated[
    str, typer.Option("-o", "--output", metavar="FORMAT", help="text, json, yaml, md or html.")
]
OutFile = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Write the result to a file instead."),
]
OverlayFile = Annotated[
    Path | None,
    typer.Option(
        "--overlay", metavar="FILE", help="Your own measurements, as weft calibrate wrote them."
    ),
]
Fidelity = Annotated[
    str,
    typer.Option(
        "--fidelity", metavar="ENGINE",
        help="analytic, or packet: the network's share is simulated, not looked up.",
    ),
]  # fmt: skip
TuningFile = Annotated[
    Path | None,
    typer.Option(
        "--tuning", metavar="FILE",
        help="Settings of switches and NICs, as weft tune wrote them, for fabric.settings.",
    ),
]  # fmt: skip
ChartFile = Annotated[
    list[Path],
    typer.Option(
        "--chart", metavar="FILE.svg|png",
        help="Draw the result as well; NAME=FILE.svg picks one chart; repeatable.",
    ),
]  # fmt: skip
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on standard error.")]
