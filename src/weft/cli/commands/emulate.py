"""`weft emulate` (operate): outputs of a fabric that is not there, healthy or faulty."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from pathlib import Path

import typer

from weft import api
from weft.cli import options
from weft.cli.watch import progress
from weft.errors import UnknownName


def emulate(
    documents: list[Path] = [],
    *,
    given: options.ClusterGiven,
    folder: Path = Path("emulated"),
    fault: list[str] = [],
    collect: int = 4,
    seed: int = 0,
    extra: list[str] = [],
    answer: Path | None = None,
    score: Path | None = None,
    named: list[str] = [],
    metrics: Path | None = None,
    lasting: str = "1h",
    every: str = "30s",
    at: str = "0s",
    until: str | None = None,
    shown: options.Shown,
) -> int:
    """Emulate hosts of a cluster: what weft collect and the first run would bring.

    Values follow from the plan and the model, formats are those that the tools print. Use it to
    rehearse an incident: one person injects with --answer, the other finds the fault in the
    bundle, and --score says how much of it is right (exit 0: all, 4: not all). The same words
    and seed give the same bytes.

    \b
    Examples:
      weft emulate --preset dgx_h100 --hosts 64 --out healthy
      weft emulate --preset hgx_h100_roce --hosts 64 --fault pause-storm --out incident
      weft emulate cluster.yaml --fault port-down@host-0003/2 --collect 8 --out incident
      weft emulate cluster.yaml --fault any --seed 7 --answer answer.json --out incident
      weft emulate --score answer.json --named link-flap@host-0003/2
      weft emulate --preset dgx_h100 --hosts 64 --with subnet --with sysfs --out healthy
      weft emulate cluster.yaml --fault pause-storm --metrics day.prom --for 24h --at 20h
    """
    from weft.cli.output import write_lines
    from weft.emulate.bundle import FIRST_S, write
    from weft.emulate.bundle import answer as answer_of
    from weft.emulate.bundle import emulate as emulated
    from weft.emulate.metrics import Timeline, history
    from weft.emulate.ordinary import ordinary
    from weft.units import parse_time

    shown.check(answer, metrics)
    if named and score is None:
        raise typer.BadParameter("--named needs --score FILE", param_hint="--named")
    for word, time in (("--for", lasting), ("--every", every)):
        if parse_time(time) <= 0:
            raise typer.BadParameter(f"{time}: must be more than 0 s", param_hint=word)
    if score is not None:
        from weft.emulate.rehearse import score as scored

        _known(named)
        marks = scored(score, named)
        shown.emit(marks)
        return marks.exit_code
    plan = api.plan(given.cluster(documents))
    state = emulated(
        plan, fault, hosts=min(collect, plan.cluster.hosts), seed=seed, events=ordinary()
    )  # fmt: skip
    if metrics is not None:
        healthy = emulated(plan, (), hosts=len(state.hosts), seed=seed)
        timeline = Timeline(
            healthy=healthy, faulty=state, events=ordinary(), at_s=parse_time(at),
            until_s=parse_time(until) if until else inf,
        )  # fmt: skip
        lines = history(timeline, FIRST_S, parse_time(lasting), parse_time(every))
        with progress("writing metrics"):
            write_lines(metrics, (line.encode() for line in lines))
    result = write(state, folder, seed=seed, hidden=answer is not None, asked=extra)
    if answer is not None:
        answer.write_text(answer_of(state), "utf-8")
    shown.emit(replace(result, metrics=None if metrics is None else str(metrics)))
    return 0


def _known(named: Sequence[str]) -> None:
    """Raise UnknownName for a name that is neither a fault of emulate nor a cause."""
    from weft import plugins
    from weft.doctor.cause import causes
    from weft.emulate.state import faults

    known = sorted({*faults(), *(cause.name for cause in causes())})
    for word in named:
        kind = word.partition("@")[0]
        if kind not in known:
            raise UnknownName(plugins.unknown("fault or cause", kind, known))
