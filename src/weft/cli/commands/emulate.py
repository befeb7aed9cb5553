"""`weft emulate` (operate): outputs of a fabric that is not there, healthy or faulty."""

from math import inf
from pathlib import Path
from typing import Annotated

import typer

from weft.cli import options

FolderOption = Annotated[
    Path, typer.Option("--out", metavar="DIR", help="Folder of the bundle; new or empty.")
]
FaultOption = Annotated[
    list[str],
    typer.Option("--fault", metavar="KIND[@HOST/N]",
                 help="Inject a fault; any: the seed chooses it; repeatable."),
]  # fmt: skip
CollectOption = Annotated[
    int, typer.Option("--collect", min=1, metavar="COUNT", help="Hosts whose outputs to write.")
]
SeedOption = Annotated[
    int, typer.Option("--seed", metavar="NUMBER", help="Chooses places and noise.")
]
AnswerOption = Annotated[
    Path | None,
    typer.Option("--answer", metavar="FILE", help="Name the faults in this file alone."),
]
WithOption = Annotated[
    list[str],
    typer.Option("--with", metavar="NAME",
                 help="Write too: sysfs, lldp-json, subnet, sonic, nvue, eos; repeatable."),
]  # fmt: skip
ScoreOption = Annotated[
    Path | None,
    typer.Option(
        "--score", metavar="FILE", help="Score --named against this answer, then end."
    ),
]
NamedOption = Annotated[
    list[str],
    typer.Option("--named", metavar="KIND@HOST/N", help="A fault that you found; repeatable."),
]
MetricsOption = Annotated[
    Path | None,
    typer.Option("--metrics", metavar="FILE",
                 help="Write what exporters would have shown (OpenMetrics)."),
]  # fmt: skip
ForOption = Annotated[
    str, typer.Option("--for", metavar="TIME", help="Time that --metrics covers.")
]
EveryOption = Annotated[
    str, typer.Option("--every", metavar="TIME", help="Between two scrapes of --metrics.")
]
AtOption = Annotated[
    str, typer.Option("--at", metavar="TIME", help="When the faults begin in --metrics.")
]
UntilOption = Annotated[
    str | None, typer.Option("--until", metavar="TIME", help="When they are removed again.")
]


def emulate(
    documents: options.Documents = [],  # noqa: B006 - typer reads the default, nobody changes it
    *,
    given: options.ClusterGiven,
    folder: FolderOption = Path("emulated"),
    fault: FaultOption = [],  # noqa: B006 - as above
    collect: CollectOption = 4,
    seed: SeedOption = 0,
    extra: WithOption = [],  # noqa: B006 - as above
    answer: AnswerOption = None,
    score: ScoreOption = None,
    named: NamedOption = [],  # noqa: B006 - as above
    metrics: MetricsOption = None,
    lasting: ForOption = "1h",
    every: EveryOption = "30s",
    at: AtOption = "0s",
    until: UntilOption = None,
    output: options.OutputFormat = "text",
    full: options.Full = False,
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
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.cli.inputs import cluster_of  # noqa: PLC0415 - as above
    from weft.cli.output import (  # noqa: PLC0415 - as above
        check_format,
        check_places,
        emit,
        progress,
        write_lines,
    )
    from weft.emulate.bundle import FIRST_S, write  # noqa: PLC0415 - as above
    from weft.emulate.bundle import answer as answer_of  # noqa: PLC0415 - as above
    from weft.emulate.bundle import emulate as emulated  # noqa: PLC0415 - as above
    from weft.emulate.metrics import Timeline, history  # noqa: PLC0415 - as above
    from weft.emulate.ordinary import ordinary  # noqa: PLC0415 - as above
    from weft.units import parse_time  # noqa: PLC0415 - as above

    check_format(output)
    if named and score is None:
        raise typer.BadParameter("--named needs --score FILE", param_hint="--named")
    for option, time in (("--for", lasting), ("--every", every)):
        if parse_time(time) <= 0:
            raise typer.BadParameter(f"{time}: must be more than 0 s", param_hint=option)
    if score is not None:
        from weft.emulate.rehearse import score as scored  # noqa: PLC0415 - as above

        marks = scored(score, named)
        emit(marks, output, full=full)
        return marks.exit_code
    check_places(answer, metrics)
    plan = api.plan(cluster_of(given, documents))
    state = emulated(
        plan, fault, hosts=min(collect, plan.cluster.hosts), seed=seed, events=ordinary()
    )  # fmt: skip
    if metrics is not None:
        sound = emulated(plan, (), hosts=len(state.hosts), seed=seed)
        timeline = Timeline(healthy=sound, faulty=state, events=ordinary(), at_s=parse_time(at),
                            until_s=parse_time(until) if until else inf)  # fmt: skip
        lines = history(timeline, FIRST_S, parse_time(lasting), parse_time(every))
        with progress("writing metrics"):
            write_lines(metrics, (line.encode() for line in lines))
    result = write(state, folder, seed=seed, hidden=answer is not None, asked=extra)
    if answer is not None:
        answer.write_text(answer_of(state), "utf-8")
    emit(result, output, full=full)
    return 0
