"""`weft compare` (decide): what other networks would do to this job, side by side."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from weft import api
from weft.cli import options
from weft.cli.exits import PARTIAL
from weft.cli.watch import watched


def compare(
    documents: list[Path] = [],
    *,
    given: options.CaseGiven,
    fabrics: str | None = None,
    years: float | None = None,
    same: str | None = None,
    sweep: list[str] = [],
    fidelity: str = "analytic",
    failed: list[str] = [],
    shown: options.Drawn,
    quiet: bool = False,
) -> int:
    """Compare networks for the same hosts and the same job, or the same inference service.

    Each network is at its best for the job: parallelism, topology, switch, NICs and
    oversubscription are searched within the keys that your files and --set state. Keys of a
    preset may change, except GPUs, hosts and what joins the GPUs of a host. Several jobs give
    one answer, each with its `weight` of the tokens; several clusters are compared as they are.

    \b
    Examples:
      weft compare cluster.yaml job.yaml
      weft compare --preset dgx_h200 --gpus 512 --model llama3_70b
      weft compare both.yaml --fabrics infiniband,roce_tuned,tcp --years 5
      weft compare cluster.yaml inference.yaml
      weft compare both.yaml --same parallelism,topology,nics
      weft compare both.yaml --fidelity packet
      weft compare both.yaml --fidelity flow --failed leaf_link_down
      weft compare both.yaml --sweep hosts=2,8,32 --sweep model=llama3_8b,llama3_70b
      weft compare both.yaml -o html --out report.html
      weft compare both.yaml --chart cost_bars=cost.svg --chart break_even=changes.png

    With --fabrics, if some of them cannot run the job, the exit code is 5.
    """
    from weft.cli.inputs import is_service, with_defaults
    from weft.cli.sweeps import swept_case
    from weft.study.measures import compared

    if fabrics == "list":
        print("\n".join(api.fabrics()))
        return 0
    options.check_failed(failed, fidelity)
    names = None if fabrics is None else _listed(fabrics)
    if is_service(given, documents):
        why = "networks are swept for training jobs alone; run once for each --set"
        options.refuse("--sweep", sweep, why)
        why = "rows of an inference service are searched apart; state keys with --set instead"
        options.refuse("--same", same is not None, why)
        options.check_service(fidelity)
        return _compare_services(documents, given, names, years, shown)
    shown.check(kind="grid" if sweep else "comparison")
    with watched("comparing networks", fidelity, quiet=quiet) as report:
        run = partial(
            api.compare, fabrics=names, years=years, same=_listed(same), fidelity=fidelity,
            failed=failed, report=report,
        )  # fmt: skip
        if sweep:
            found = swept_case(
                "compare", sweep, given, documents,
                run=lambda case: run(case.cluster, case.job, pins=case.pins),
                measures=compared,
            )  # fmt: skip
            shown.emit(found)
            return 0 if found.complete else PARTIAL
        case = given.case(documents, several=True)
        result = run(case.clusters, case.jobs, pins=case.pins)
    shown.emit(with_defaults(result, case.defaults))
    missing = result.left_out and fabrics is not None
    return PARTIAL if missing or not result.complete else 0


def _compare_services(
    documents: Sequence[Path],
    given: options.CaseGiven,
    names: list[str] | None,
    years: float | None,
    shown: options.Drawn,
) -> int:
    from weft.cli.inputs import service_of

    shown.check(kind="service_comparison")
    asked = service_of(given, documents)
    result = api.compare_service(
        asked.cluster, asked.service, names, years=years, pins=asked.pins
    )
    shown.emit(result)
    return PARTIAL if result.left_out and names is not None else 0


def _listed(text: str | None) -> list[str]:
    return [name.strip() for name in text.split(",")] if text else []
