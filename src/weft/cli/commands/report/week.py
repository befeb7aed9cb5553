"""`weft report week`: goodput, cost of the faults, slowest links, what changed."""

from pathlib import Path

from weft import api
from weft.cli import options
from weft.cli.watch import progress


def week(
    documents: list[Path] = [],
    *,
    given: options.CaseGiven,
    server: str = "http://127.0.0.1:9090",
    lasting: str = "168h",
    until: str | None = None,
    history: str | None = None,
    shown: options.Written,
    quiet: bool = False,
) -> None:
    """Report a week: goodput, what each fault cost your job, the slowest links, what changed.

    It asks your Prometheus which alerts fired, when and where, and prices each one with the
    model for your job. With --history, benchmarks that were kept are compared as well.

    \b
    Examples:
      weft report week cluster.yaml job.yaml --prometheus http://prometheus:9090
      weft report week cluster.yaml job.yaml --for 24h -o html --out day.html
    """
    import time
    from datetime import UTC, datetime

    from weft.monitor.prometheus import Prometheus
    from weft.monitor.week import Asked
    from weft.monitor.week import week as report
    from weft.units import parse_time

    shown.check()
    case = given.case(documents)
    end = datetime.fromisoformat(until) if until else None
    if end is not None and end.tzinfo is None:
        end = end.replace(tzinfo=UTC)
    asked = Asked(
        server=Prometheus(url=server), plan=api.plan(case.cluster), job=case.job,
        end_s=end.timestamp() if end else time.time(), lasting_s=parse_time(lasting),
    )  # fmt: skip
    with progress("asking Prometheus", quiet=quiet):
        result = report(asked, history)
    shown.emit(result)
