"""`weft accuracy` (verify): how far the model is from published measurements."""

from pathlib import Path

from weft import api
from weft.cli import options
from weft.cli.exits import FAILED, PARTIAL
from weft.cli.watch import progress


def accuracy(
    *,
    data: Path | None = None,
    kind: list[str] = [],
    check: bool = False,
    doctor: Path | None = None,
    judge: bool = False,
    shown: options.Drawn,
    quiet: bool = False,
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
    """
    shown.check()
    if doctor is not None:
        from weft.accuracy.doctor import score as doctor_score

        shown.emit(doctor_score(doctor))
        return 0
    if judge:
        from weft.accuracy.judge import score as judge_score

        with progress("judging every sweep, with and without faults", quiet=quiet):
            judged = judge_score(data)
        shown.emit(judged)
        return 0
    with progress("predicting every measurement", quiet=quiet):
        result = api.accuracy(data, kind or None)
    shown.emit(result)
    if not check:
        return 0
    from weft.accuracy.aims import missed

    if not result.aims:
        return PARTIAL
    return FAILED if missed(result.aims) else 0
