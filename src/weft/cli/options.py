"""The options that verbs share, each written once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli.completion import complete_model, complete_preset, complete_set

if TYPE_CHECKING:
    from weft.cli.inputs import Case
    from weft.spec.cluster import Cluster


def option(words: str, text: str = "", **more: Any) -> Any:  # noqa: ANN401 - what typer takes
    """Return an option of these words, as a manual writes them: ``-b --begin SIZE``."""
    flags = [word for word in words.split() if word.startswith("-")]
    value = next((word for word in words.split() if word not in flags), None)
    return typer.Option(*flags, metavar=value, help=text or None, **more)


def argument(word: str, text: str, **more: Any) -> Any:  # noqa: ANN401 - what typer takes
    """Return an argument, as it is called in the help."""
    return typer.Argument(metavar=word, help=text, **more)


Files = Annotated[
    list[Path],
    option(
        "-f --file FILE",
        "Cluster and job documents (YAML); repeatable; - is standard input.",
    ),
]
Documents = Annotated[
    list[Path], argument("FILE", "The same as -f FILE.", show_default=False)
]  # fmt: skip
Sets = Annotated[
    list[str],
    option(
        "--set PATH=VALUE",
        "Change one key of a document, as fabric.kind=roce or hosts=64; repeatable.",
        autocompletion=complete_set,
    ),
]
ScenarioSets = Annotated[
    list[str],
    option(
        "--set PATH=VALUE",
        "Change one key of a scenario, as network.balancing=spray or cluster.hosts=64; "
        "repeatable.",
        autocompletion=complete_set,
    ),
]
TrafficSets = Annotated[
    list[str],
    option(
        "--set PATH=VALUE",
        "Change one key of a scenario, as network.balancing=spray, or of the cluster, as "
        "hosts=64; repeatable.",
        autocompletion=complete_set,
    ),
]
StudySets = Annotated[
    list[str],
    option(
        "--set PATH=VALUE",
        "Change one key of a study, as samples=100 or keys.hosts=[64,128]; repeatable.",
        autocompletion=complete_set,
    ),
]
PresetName = Annotated[
    str | None,
    option(
        "--preset NAME",
        "A shipped cluster instead of a file, as dgx_h200; weft init --list has all.",
        autocompletion=complete_preset,
    ),
]
HostCount = Annotated[int | None, option("--hosts N", "Hosts of the cluster.", min=1)]
GpuCount = Annotated[
    int | None, option("--gpus N", "GPUs of the cluster, in whole hosts.", min=1)
]
ModelName = Annotated[
    str | None,
    option(
        "--model NAME",
        "Model to train: llama3_70b, meta-llama/Llama-3.1-70B, or a Hugging Face "
        "config.json or its folder. Without a job file the rest has defaults, which the "
        "result states.",
        autocompletion=complete_model,
    ),
]
Sweep = Annotated[
    list[str],
    option(
        "--sweep KEY=V,V,...",
        "Repeat for each value of a key, as hosts=64,128 or fabric.kind=roce,tcp; given "
        "twice, every pair of values.",
        autocompletion=complete_set,
    ),
]
OverlayFile = Annotated[
    Path | None,
    option("--overlay FILE", "Your own measurements, as weft calibrate wrote them."),
]
Fidelity = Annotated[
    str,
    option(
        "--fidelity ENGINE",
        "analytic; flow or packet: the network's share is simulated, not looked up.",
    ),
]
Failed = Annotated[
    list[str],
    option(
        "--failed FAULT",
        "With --fidelity flow: while this fault lasts, as leaf_link_down or spine_down; "
        "repeatable.",
    ),
]
TuningFile = Annotated[
    Path | None,
    option(
        "--tuning FILE",
        "Settings of switches and NICs, as weft tune wrote them, for fabric.settings.",
    ),
]
HistoryUrl = Annotated[
    str | None,
    option(
        "--history URL",
        "Where runs are kept: sqlite:///FILE or postgresql://...; default: your own file.",
    ),
]
Hosts = Annotated[
    str, option("--hosts A,B", "Hosts, pods or namespaces; or NAME=ADDRESS,...")
]  # fmt: skip
Quiet = Annotated[bool, option("--quiet -q", "No progress on standard error.")]


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

    def cluster(
        self,
        documents: Sequence[Path] = (),
        *,
        overlay: Path | None = None,
        tuning: Path | None = None,
    ) -> "Cluster":
        """Load the cluster that the words of a command give."""
        from weft.cli.inputs import cluster_of

        return cluster_of(self, documents, overlay=overlay, tuning=tuning)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseGiven(ClusterGiven):
    """How a verb is told its cluster and its job."""

    model: ModelName = None
    overlay: OverlayFile = None

    def case(self, documents: Sequence[Path] = (), *, several: bool = False) -> "Case":
        """Load the cluster and the job that the words of a command give."""
        from weft.cli.inputs import case_of

        return case_of(self, documents, several=several)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """How a verb shows its result."""

    output: Annotated[str, option("-o --output FORMAT", "text, json, yaml, md or html.")] = (
        "text"
    )
    full: Annotated[
        bool,
        option(
            "--full", "Print everything, not the first screen alone; -o json always has it."
        ),
    ] = False

    def check(self, *files: Path | None, kind: str = "") -> None:
        """Refuse an unknown format, chart or place before any work is done.

        ``kind`` is that of the result to come, as its view is called, where it has formats or
        charts of its own; ``files`` are what the verb writes besides.
        """
        from weft.cli.output import check_format, check_places

        check_format(self.output, kind)
        out, charts = getattr(self, "out", None), getattr(self, "chart", ())
        check_places(*files, out, charts=charts, kind=kind or None)

    def emit(self, result: Any) -> None:  # noqa: ANN401 - any result that report can show
        """Show a result as the words of the command ask for it."""
        from weft.cli.output import emit

        out, charts = getattr(self, "out", None), getattr(self, "chart", ())
        emit(result, self.output, full=self.full, out=out, charts=charts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written(Shown):
    """How a verb shows its result, or writes it to a file."""

    out: Annotated[
        Path | None, option("--out FILE", "Write the result to a file instead.")
    ] = None  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn(Written):
    """How a verb shows, writes and draws its result."""

    chart: Annotated[
        list[Path],
        option(
            "--chart FILE.svg|png",
            "Draw the result as well; NAME=FILE.svg picks one chart; repeatable.",
        ),
    ] = field(default_factory=list)


def refuse(words: str, given: object, why: str) -> None:
    """Refuse an option that was given where it can have no effect."""
    if given:
        raise typer.BadParameter(why, param_hint=words)


def check_failed(failed: Sequence[str], fidelity: str) -> None:
    """Refuse faults where links are not simulated."""
    why = f"{fidelity!r} has no links that can fail; add --fidelity flow"
    refuse("--failed", failed and fidelity != "flow", why)


def check_service(fidelity: str) -> None:
    """Refuse what an inference service is not predicted with."""
    why = f"{fidelity!r}: inference is predicted with analytic alone"
    refuse("--fidelity", fidelity != "analytic", why)
