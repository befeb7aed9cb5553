"""The options that verbs share, each written once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from weft.cli.completion import complete_model, complete_preset, complete_set

Files = Annotated[
    list[Path],
    typer.Option(
        "-f", "--file", metavar="FILE",
        help="Cluster and job documents (YAML); repeatable; - is standard input.",
    ),
]  # fmt: skip
Documents = Annotated[
    list[Path],
    typer.Argument(metavar="FILE", help="The same as -f FILE.", show_default=False),
]
Sets = Annotated[
    list[str],
    typer.Option(
        "--set", metavar="PATH=VALUE", autocompletion=complete_set,
        help="Change one key of a document, as fabric.kind=roce or hosts=64; repeatable.",
    ),
]  # fmt: skip
PresetName = Annotated[
    str | None,
    typer.Option(
        "--preset", metavar="NAME", autocompletion=complete_preset,
        help="A shipped cluster instead of a file, as dgx_h200; weft init --list has all.",
    ),
]  # fmt: skip
HostCount = Annotated[
    int | None, typer.Option("--hosts", metavar="N", min=1, help="Hosts of the cluster.")
]
GpuCount = Annotated[
    int | None,
    typer.Option("--gpus", metavar="N", min=1, help="GPUs of the cluster, in whole hosts."),
]
ModelName = Annotated[
    str | None,
    typer.Option(
        "--model", metavar="NAME", autocompletion=complete_model,
        help="Model to train: llama3_70b, meta-llama/Llama-3.1-70B, or a Hugging Face "
        "config.json or its folder. Without a job file the rest has defaults, which the "
        "result states.",
    ),
]  # fmt: skip
Sweep = Annotated[
    list[str],
    typer.Option(
        "--sweep", metavar="KEY=V,V,...", autocompletion=complete_set,
        help="Repeat for each value of a key, as hosts=64,128 or fabric.kind=roce,tcp; given "
        "twice, every pair of values.",
    ),
]  # fmt: skip
OutputFormat = Annotated[
    str, typer.Option("-o", "--output", metavar="FORMAT", help="text, json, yaml, md or html.")
]
OutFile = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="Write the result to a file instead."),
]
Full = Annotated[
    bool,
    typer.Option(
        "--full", help="Print everything, not the first screen alone; -o json always has it."
    ),
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
        help="analytic; flow or packet: the network's share is simulated, not looked up.",
    ),
]  # fmt: skip
Failed = Annotated[
    list[str],
    typer.Option(
        "--failed", metavar="FAULT",
        help="With --fidelity flow: while this fault lasts, as leaf_link_down or spine_down; "
        "repeatable.",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterGiven:
    """How a verb is told its cluster: documents or a preset, and what differs from them.

    A parameter of this type becomes one option for each field (``weft.cli.grouped``).
    """

    files: Files = field(default_factory=list)
    preset: PresetName = None
    hosts: HostCount = None
    gpus: GpuCount = None
    sets: Sets = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseGiven(ClusterGiven):
    """How a verb is told its cluster and its job."""

    model: ModelName = None
    overlay: OverlayFile = None


def check_failed(failed: Sequence[str], fidelity: str) -> None:
    """Refuse faults where links are not simulated."""
    if failed and fidelity != "flow":
        raise typer.BadParameter(
            f"{fidelity!r} has no links that can fail; add --fidelity flow",
            param_hint="--failed",
        )
