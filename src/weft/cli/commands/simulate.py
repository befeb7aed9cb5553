"""`weft simulate` (decide): run a scenario packet by packet, or as flows."""

from pathlib import Path
from typing import Annotated

import typer

from weft.cli import options

PARTIAL = 5
"""Exit code where the result is of a part of the scenario."""


def simulate(
    scenarios: Annotated[
        list[Path],
        typer.Argument(
            metavar="SCENARIO...",
            help="Scenario documents (YAML), several side by side; - is stdin.",
        ),
    ],
    *,
    sets: options.Sets = [],  # noqa: B006 - typer reads the default, nobody changes it
    seeds: Annotated[
        int | None,
        typer.Option("--seeds", metavar="COUNT", min=1, help="Run seeds 1 to COUNT instead."),
    ] = None,
    fidelity: Annotated[
        str,
        typer.Option(
            "--fidelity",
            metavar="ENGINE",
            help="packet; or flow: fair rates, no queues, in less time.",
        ),
    ] = "packet",
    output: options.OutputFormat = "text",
    full: options.Full = False,
    out: options.OutFile = None,
    chart: options.ChartFile = [],  # noqa: B006 - as above
    quiet: options.Quiet = False,
) -> int:
    """Simulate a scenario packet by packet, or as flows: completions, tails, queues, pauses.

    Every seed runs in a thread of its own, on all cores; the result does not depend on it.
    A scenario names a cluster, what is sent over it (collectives, jobs, incast, permutations,
    transfers, background), and how switches and NICs are set up. Progress and the time that is
    left go to standard error; Ctrl-C shows what happened until then (exit code 5).

    \b
    Examples:
      weft simulate examples/scenarios/incast-32-to-1.yaml
      weft simulate tuned.yaml default.yaml --seeds 8
      weft simulate scenario.yaml --set network.balancing=spray --seeds 5 -o json
      weft simulate two-jobs.yaml --fidelity flow --set faults=[leaf_link_down] --seeds 16
      weft simulate scenario.yaml --chart timeline=flows.svg --chart queue=queues.png
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.cli.output import check_format, check_places, emit  # noqa: PLC0415 - as above
    from weft.cli.watch import Watcher  # noqa: PLC0415 - as above
    from weft.spec.load import load_scenario  # noqa: PLC0415 - as above

    check_format(output)
    check_places(out, charts=chart, kind="sweep" if len(scenarios) > 1 else "simulation")
    more = [] if seeds is None else [f"seeds={list(range(1, seeds + 1))}"]
    asked = [load_scenario(scenario, [*sets, *more]) for scenario in scenarios]
    with Watcher(quiet=quiet) as watcher:
        found = api.sweep(asked, fidelity=fidelity, report=watcher.show)
    result = found if len(asked) > 1 else found.simulations[0]
    emit(result, output, full=full, out=out, charts=chart)
    return 0 if result.complete else PARTIAL
