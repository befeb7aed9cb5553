"""`weft need` (decide): how much network a target needs, and where more stops to pay."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from weft import api
from weft.cli import options
from weft.cli.exits import FAILED, PARTIAL
from weft.cli.watch import progress

if TYPE_CHECKING:
    from weft.advise.need import Target

METRICS: Final = ("mfu_of_max", "mfu", "tokens_per_s", "step_s")


def need(
    documents: list[Path] = [],
    *,
    given: options.CaseGiven,
    target: str | None = None,
    sweep: list[str] = [],
    fidelity: str = "analytic",
    shown: options.Drawn,
    quiet: bool = False,
) -> int:
    """Solve for the bandwidth, NICs, oversubscription and latency that a target needs.

    One thing at a time, the others as they are; then the cheapest network that reaches it,
    and the curve of speed against bandwidth with its knee. The exit code is 4 where the
    cluster as it is does not reach the target.

    \b
    Examples:
      weft need cluster.yaml job.yaml
      weft need --preset dgx_h200 --gpus 512 --model llama3_70b
      weft need both.yaml --target mfu=0.42 --chart knee.svg
      weft need both.yaml --target step_s=8 -o json
      weft need both.yaml --sweep hosts=16,64,256
    """
    from weft.cli.inputs import with_defaults
    from weft.cli.sweeps import swept_case
    from weft.study.measures import needed

    shown.check(kind="grid" if sweep else "need")
    wanted = None if target is None else _target(target)
    with progress("solving", quiet=quiet):
        if sweep:
            found = swept_case(
                "need", sweep, given, documents,
                run=lambda case: api.need(case.cluster, case.job, wanted, fidelity=fidelity),
                measures=needed,
            )  # fmt: skip
            shown.emit(found)
            return 0 if found.complete else PARTIAL
        case = given.case(documents)
        result = api.need(case.cluster, case.job, wanted, pins=case.pins, fidelity=fidelity)
    shown.emit(with_defaults(result, case.defaults))
    return 0 if result.reached else FAILED


def _target(text: str) -> "Target":
    from weft.advise.need import Target

    asked, _, value = text.partition("=")
    with suppress(ValueError):
        for metric in METRICS:
            if metric == asked:
                return Target(metric=metric, value=float(value))
    raise typer.BadParameter(
        f"{text!r}: write a metric ({', '.join(METRICS)}) and a number, as mfu=0.42",
        param_hint="--target",
    )
