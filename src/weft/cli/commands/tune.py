"""`weft tune` (configure): search settings of switches and NICs for a fabric and traffic."""

from dataclasses import replace
from pathlib import Path

from weft import api
from weft.cli import options
from weft.cli.exits import PARTIAL
from weft.cli.watch import progress, search_line


def tune(
    files: list[Path] = [],
    *,
    sets: list[str] = [],
    trials: int = 64,
    seeds: int = 2,
    knobs: list[str] = [],
    judged_by: list[str] = [],
    over: str = "mean",
    study: Path | None = None,
    save: Path | None = None,
    workers: int | None = None,
    shown: options.Drawn,
    quiet: bool = False,
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
    """
    from weft.cli.inputs import scenarios_or_cluster
    from weft.cli.output import write_file
    from weft.spec.show import tuning_yaml
    from weft.tune.knob import all_knobs
    from weft.tune.objective import OBJECTIVES

    if "list" in {*knobs, *judged_by}:
        print("\n".join(all_knobs() if "list" in knobs else OBJECTIVES))
        return 0
    shown.check(save, kind="tuned")
    scenarios, notes = scenarios_or_cluster(files, sets)
    with progress("tuning", quiet=quiet) as say:
        result = api.tune(
            scenarios, knobs=knobs, over=over, trials=trials, seeds=seeds, study=study,
            name="tuned" if save is None else save.stem, workers=workers, notes=notes,
            judged_by=judged_by, report=lambda now: say(search_line(now)),
        )  # fmt: skip
    if save is not None:
        head = "Written by weft tune: settings found by simulation; metadata.record says how."
        write_file(save, tuning_yaml(result.tuning, head).encode("utf-8"))
        result = replace(result, saved=str(save))
    shown.emit(result)
    return 0 if result.complete else PARTIAL
