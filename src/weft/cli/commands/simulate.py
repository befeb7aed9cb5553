"""`weft simulate` (decide): run a scenario packet by packet, or as flows."""

from pathlib import Path

from weft import api
from weft.cli import options
from weft.cli.exits import PARTIAL
from weft.cli.watch import line, progress


def simulate(
    scenarios: list[Path],
    *,
    sets: list[str] = [],
    seeds: int | None = None,
    fidelity: str = "packet",
    shown: options.Drawn,
    quiet: bool = False,
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
    """
    from weft.spec.load import load_scenario

    shown.check(kind="sweep" if len(scenarios) > 1 else "simulation")
    more = [] if seeds is None else [f"seeds={list(range(1, seeds + 1))}"]
    asked = [load_scenario(scenario, [*sets, *more]) for scenario in scenarios]
    with progress("simulating", quiet=quiet) as say:
        found = api.sweep(asked, fidelity=fidelity, report=lambda now: say(line(now)))
    result = found if len(asked) > 1 else found.simulations[0]
    shown.emit(result)
    return 0 if result.complete else PARTIAL
