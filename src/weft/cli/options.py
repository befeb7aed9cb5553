"""The groups of options that verbs share: how a cluster is given, how a result is shown."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from weft.cli.inputs import Case
    from weft.spec.cluster import Cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterGiven:
    """How a verb is told its cluster: documents or a preset, and what differs from them.

    A parameter of this type becomes one option for each field (``weft.cli.grouped``).
    """

    files: list[Path] = field(default_factory=list)
    preset: str | None = None
    hosts: int | None = None
    gpus: int | None = None
    sets: list[str] = field(default_factory=list)

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

    model: str | None = None
    overlay: Path | None = None

    def case(self, documents: Sequence[Path] = (), *, several: bool = False) -> "Case":
        """Load the cluster and the job that the words of a command give."""
        from weft.cli.inputs import case_of

        return case_of(self, documents, several=several)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """How a verb shows its result."""

    output: str = "text"
    full: bool = False

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

    out: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn(Written):
    """How a verb shows, writes and draws its result."""

    chart: list[Path] = field(default_factory=list)


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
