"""`weft tune` (configure): search settings of switches and NICs for a fabric and traffic."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from weft.cli import options

PARTIAL = 5
"""Exit code where the search was interrupted and shows what it had."""
FilesArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...",
        help="Scenario documents, or one cluster: then typical traffic is generated for it.",
    ),
]
KnobOption = Annotated[
    list[str],
    typer.Option("--knob", metavar="NAME", help="Search this knob only; repeatable. "
                 "`--knob list` names all."),
]  # fmt: skip
ObjectiveOption = Annotated[
    list[str],
    typer.Option(
        "--objective", metavar="NAME",
        help="Rank by this objective, the first before the second; repeatable. "
        "`--objective list` names all.",
    ),
]  # fmt: skip


def tune(
    files: FilesArgument,
    *,
    sets: options.Sets = [],  # noqa: B006 - typer reads the default, nobody changes it
    trials: Annotated[
        int, typer.Option("--trials", metavar="COUNT", min=1, help="Settings to try in total.")
    ] = 64,
    seeds: Annotated[
        int,
        typer.Option(
            "--seeds", metavar="COUNT", min=1, help="Runs of each scenario per trial."
        ),
    ] = 2,
    knobs: KnobOption = [],  # noqa: B006 - as above
    judged_by: ObjectiveOption = [],  # noqa: B006 - as above
    over: Annotated[
        str,
        typer.Option("--over", metavar="HOW", help="mean or worst of scenarios and seeds."),
    ] = "mean",
    study: Annotated[
        Path | None,
        typer.Option(
            "--study",
            metavar="FILE",
            help="Keep the trials in a file; run again to go on after an interruption.",
        ),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option("--save", metavar="FILE", help="Write the settings as a document."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", metavar="COUNT", min=1, help="Threads; default: one per core."
        ),
    ] = None,
    output: options.OutputFormat = "text",
    full: options.Full = False,
    out: options.OutFile = None,
    chart: options.ChartFile = [],  # noqa: B006 - as above
    quiet: options.Quiet = False,
) -> int:
    """Tune congestion control, marking, pauses and buffers by simulation, packet by packet.

    The best settings are compared, on seeds that the search did not use, with the first
    settings and with the shipped ones; then each knob is reverted alone to measure its effect.
    Use the file of --save in a cluster (fabric.settings) or with weft plan --tuning.

    \b
    Examples:
      weft tune examples/scenarios/incast-32-to-1.yaml --save tuned.yaml
      weft tune cluster.yaml --trials 200 --study tune.db --chart front.svg
      weft tune ring.yaml incast.yaml --over worst --knob kmin_bytes --knob xoff_bytes
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.cli.inputs import scenarios_or_cluster  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, check_places, emit, write_file  # noqa: PLC0415 - as above
    from weft.cli.watch import Watcher, search_line  # noqa: PLC0415 - as above
    from weft.spec.show import tuning_yaml  # noqa: PLC0415 - as above
    from weft.tune.knob import all_knobs  # noqa: PLC0415 - as above
    from weft.tune.objective import OBJECTIVES  # noqa: PLC0415 - as above

    if "list" in {*knobs, *judged_by}:
        print("\n".join(all_knobs() if "list" in knobs else OBJECTIVES))
        return 0
    check_format(output)
    check_places(save, out, charts=chart, kind="tuned")
    scenarios, notes = scenarios_or_cluster(files, sets)
    with Watcher(quiet=quiet) as watcher:
        result = api.tune(
            scenarios, knobs=knobs, over=over, trials=trials, seeds=seeds, study=study,
            name="tuned" if save is None else save.stem, workers=workers, notes=notes,
            judged_by=judged_by, report=lambda progress: watcher.say(search_line(progress)),
        )  # fmt: skip
    if save is not None:
        head = "Written by weft tune: settings found by simulation; metadata.record says how."
        write_file(save, tuning_yaml(result.tuning, head).encode("utf-8"))
        result = replace(result, saved=str(save))
    emit(result, output, full=full, out=out, charts=chart)
    return 0 if result.complete else PARTIAL
