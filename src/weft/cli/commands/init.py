"""`weft init` (design): write a cluster and a job to start from."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from weft.errors import SpecError, Unreadable

if TYPE_CHECKING:
    from weft.spec.interview import Outcome, Question

NAMES = ("cluster.yaml", "job.yaml")


def init(
    *,
    preset: str | None = None,
    model: str | None = None,
    gpus: int | None = None,
    source: Path | None = None,
    ask: bool = False,
    directory: Path = Path(),
    force: bool = False,
    list_names: bool = False,
) -> int:
    """Write cluster.yaml and job.yaml, every key explained.

    \b
    Examples:
      weft init --preset aws_p5 --gpus 512 --model llama3_405b
      weft init --ask
      weft init --from lstopo.xml --gpus 512
      weft init --from infragraph.yaml --preset hgx_h100_roce
    """
    from weft.spec import interview

    if list_names:
        return _list()
    if source is not None:
        return _from(source, preset, gpus, directory, force=force)
    given = {"preset": preset, "model": model, "gpus": None if gpus is None else str(gpus)}
    answers = {key: value for key, value in given.items() if value is not None}
    _refuse(directory, force=force)
    for question in interview.QUESTIONS:
        if question.key in answers:
            interview.check(question, answers[question.key])
        elif ask and question.applies(answers):
            answers[question.key] = _ask(question, _default(question, answers))
        elif question.key in {"preset", "model"}:
            answers[question.key] = question.default
    _write(directory, interview.outcome(answers), answers["preset"])
    return 0


def _from(
    source: Path, preset: str | None, gpus: int | None, directory: Path, *, force: bool
) -> int:
    """Write the cluster that another tool described; it says nothing of a job."""
    from weft.design.described import (
        described_cluster,
    )
    from weft.spec.show import explained

    _refuse(directory, force=force, names=NAMES[:1])
    made = described_cluster(source, preset, gpus)
    first = f"A cluster for weft, from {source.name} and the preset {made.base}."
    head = "\n".join([first, *made.notes, *made.near])
    text = explained(made.cluster, head, base=made.base)
    _save(directory, {NAMES[0]: text}, made.notes)
    return 0


def _default(question: "Question", answers: dict[str, str]) -> str:
    same = {"gpus_later": "gpus"}.get(question.key)
    return answers[same] if same else str(question.default)


def _ask(question: "Question", default: str) -> str:
    from weft.spec import interview

    while True:
        typer.echo(f"{question.words} [{default}] ", nl=False, err=True)
        line = sys.stdin.readline()
        try:
            return interview.check(question, line.strip() or default)
        except SpecError as error:
            if not sys.stdin.isatty():
                raise  # a pipe cannot think again, and the next line is another answer
            typer.echo(str(error), err=True)


def _refuse(directory: Path, *, force: bool, names: Sequence[str] = NAMES) -> None:
    there = [str(directory / name) for name in names if (directory / name).exists()]
    if there and not force:
        raise SpecError(
            f"{' and '.join(there)}: already there; use --force to overwrite, or --dir DIR"
        )


def _write(directory: Path, made: "Outcome", preset: str) -> None:
    from weft.spec.show import explained

    head = f"A cluster for weft, from the preset {preset}. Quantities have units.\n"
    texts = (
        explained(made.cluster, head + "\n".join(made.notes), base=preset),
        explained(
            made.job, "The work of the cluster, for weft.", replace={"model": made.model}
        ),
    )
    _save(directory, dict(zip(NAMES, texts, strict=True)), made.notes)


def _save(directory: Path, texts: Mapping[str, str], notes: Sequence[str]) -> None:
    from weft.cli.output import write_file

    try:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            write_file(directory / name, text.encode("utf-8"))
    except OSError as error:
        raise Unreadable(f"{directory}: cannot be written: {error.strerror}") from error
    for name in texts:
        typer.echo(str(directory / name))
    for note in notes:
        typer.echo(_with_folder(note, directory), err=True)


def _with_folder(note: str, directory: Path) -> str:
    """Return a note whose command finds the files from the current folder."""
    for name in NAMES:
        note = note.replace(f" {name}", f" {directory / name}")
    return note


def _list() -> int:
    from weft.spec.load import models, presets

    typer.echo("presets:\n" + "\n".join(f"  {name}" for name in presets()))
    typer.echo("models:\n" + "\n".join(f"  {name}" for name in models()))
    return 0
