"""`weft report week`: goodput, cost of the faults, slowest links, what changed."""

from typing import Annotated

import typer

from weft.cli import options

ServerOption = Annotated[
    str,
    typer.Option("--prometheus", metavar="URL",
                 help="Server with the rules of weft render prometheus."),
]  # fmt: skip
LastingOption = Annotated[
    str, typer.Option("--for", metavar="TIME", help="How far back: 168h is a week.")
]
UntilOption = Annotated[
    str | None,
    typer.Option("--until", metavar="TIME", help="End, as 2026-03-01T06:00Z; else now."),
]
HistoryOption = Annotated[
    str | None,
    typer.Option("--history", metavar="URL",
                 help="Kept benchmarks to compare: sqlite:///FILE or postgresql://..."),
]  # fmt: skip


def week(
    documents: options.Documents = [],  # noqa: B006 - typer reads the default, nobody changes it
    *,
    given: options.CaseGiven,
    server: ServerOption = "http://127.0.0.1:9090",
    lasting: LastingOption = "168h",
    until: UntilOption = None,
    history: HistoryOption = None,
    output: options.OutputFormat = "text",
    full: options.Full = False,
    out: options.OutFile = None,
    quiet: options.Quiet = False,
) -> None:
    """Report a week: goodput, what each fault cost your job, the slowest links, what changed.

    It asks your Prometheus which alerts fired, when and where, and prices each one with the
    model for your job. With --history, benchmarks that were kept are compared as well.

    \b
    Examples:
      weft report week cluster.yaml job.yaml --prometheus http://prometheus:9090
      weft report week cluster.yaml job.yaml --for 24h -o html --out day.html
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    import time  # noqa: PLC0415 - after the words are understood
    from datetime import UTC, datetime  # noqa: PLC0415 - as above

    from weft import api  # noqa: PLC0415 - as above
    from weft.cli.inputs import case_of  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, check_places, emit, progress  # noqa: PLC0415
    from weft.monitor.prometheus import Prometheus  # noqa: PLC0415 - as above
    from weft.monitor.week import Asked  # noqa: PLC0415 - as above
    from weft.monitor.week import week as report  # noqa: PLC0415 - as above
    from weft.units import parse_time  # noqa: PLC0415 - as above

    check_format(output)
    check_places(out)
    case = case_of(given, documents)
    end = datetime.fromisoformat(until) if until else None
    if end is not None and end.tzinfo is None:
        end = end.replace(tzinfo=UTC)
    asked = Asked(
        server=Prometheus(url=server), plan=api.plan(case.cluster), job=case.job,
        end_s=end.timestamp() if end else time.time(), lasting_s=parse_time(lasting),
    )  # fmt: skip
    with progress("asking Prometheus", quiet=quiet):
        result = report(asked, history)
    emit(result, output, full=full, out=out)
