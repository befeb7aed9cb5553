"""`weft accuracy` (verify): how far the model is from published measurements."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from weft.cli import options

if TYPE_CHECKING:
    from weft.accuracy.scoreboard import Scoreboard

DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data", metavar="DIR",
        help="Folder of measurements (CSV files as those shipped); default: the shipped ones.",
    ),
]  # fmt: skip
KindOption = Annotated[
    list[str], typer.Option("--kind", metavar="NAME", help="Only this kind; repeatable.")
]
CheckOption = Annotated[
    bool, typer.Option("--check", help="Exit code 4 where an aim is missed, 5 without rows.")
]
DoctorOption = Annotated[
    Path | None,
    typer.Option(
        "--doctor", metavar="DIR",
        help="Score the doctor instead, over a folder of cases whose cause is known.",
    ),
]  # fmt: skip
JudgeOption = Annotated[
    bool,
    typer.Option(
        "--judge",
        help="Score weft bench judge instead: false alarms, and faults added to real sweeps.",
    ),
]
FAILED: Final = 4
INCONCLUSIVE: Final = 5


def accuracy(
    *,
    data: DataOption = None,
    kind: KindOption = [],  # noqa: B006 - typer reads the default, nobody changes it
    check: CheckOption = False,
    doctor: DoctorOption = None,
    judge: JudgeOption = False,
    output: options.OutputFormat = "text",
    full: options.Full = False,
    out: options.OutFile = None,
    chart: options.ChartFile = [],  # noqa: B006 - as above
    quiet: options.Quiet = False,
) -> int:
    """Predict every published measurement that the model covers, and print the errors.

    By collective, fabric, GPU, scale and size: rows, median and 90th percentile of the error,
    bias, and how many rows fall inside the 80 % band; which rows are left out and why. Broken
    systems are listed separately.

    \b
    Examples:
      weft accuracy
      weft accuracy --data my-measurements -o json
      weft accuracy --kind training_step --chart training_step=training.svg
      weft accuracy --doctor cases -o json
      weft accuracy --judge
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.cli.output import check_format, emit, progress  # noqa: PLC0415 - as above

    check_format(output)
    if doctor is not None:
        return _doctor(doctor, output, out, full=full)
    if judge:
        return _judge(data, output, out, full=full, quiet=quiet)
    with progress("predicting every measurement", quiet=quiet):
        result = api.accuracy(data, kind or None)
    emit(result, output, full=full, out=out, charts=chart)
    return _verdict(result) if check else 0


def _doctor(folder: Path, output: str, out: Path | None, *, full: bool) -> int:
    from weft.accuracy.doctor import score  # noqa: PLC0415 - as above
    from weft.cli.output import emit  # noqa: PLC0415 - as above

    emit(score(folder), output, full=full, out=out)
    return 0


def _judge(data: Path | None, output: str, out: Path | None, *, full: bool, quiet: bool) -> int:
    from weft.accuracy.judge import score  # noqa: PLC0415 - as above
    from weft.cli.output import emit, progress  # noqa: PLC0415 - as above

    with progress("judging every sweep, with and without faults", quiet=quiet):
        result = score(data)
    emit(result, output, full=full, out=out)
    return 0


def _verdict(result: "Scoreboard") -> int:
    from weft.accuracy.aims import missed  # noqa: PLC0415 - as above

    if not result.aims:
        return INCONCLUSIVE
    return FAILED if missed(result.aims) else 0
