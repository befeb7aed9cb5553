"""`weft runbook` (operate): what to do about each fault, with the names of this cluster."""

from typing import Annotated

import typer

from weft.cli import options

WordsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME|FILE", show_default=False,
        help="A runbook or a cause, as pfc-storm; and documents, as with --file.",
    ),
]  # fmt: skip


def runbook(
    words: WordsArgument = [],  # noqa: B006 - typer reads the default, nobody changes it
    *,
    given: options.ClusterGiven,
    output: options.OutputFormat = "text",
    full: options.Full = False,
    out: options.OutFile = None,
) -> None:
    """Write runbooks: what one sees, what to check, how to tell causes apart, what to do.

    Commands have the names and the expected values of your cluster. Causes, fixes and what
    follows from what are those of weft diagnose; alerts are those of weft render prometheus,
    whose links lead to the headings of the HTML.

    \b
    Examples:
      weft runbook cluster.yaml
      weft runbook pfc-storm cluster.yaml
      weft runbook cluster.yaml -o html --out runbook.html
      weft runbook ib-link-errors --preset dgx_h100 -o md
    """  # noqa: D301 - click's mark for text that is not to be wrapped
    from weft import api  # noqa: PLC0415 - after the words are understood
    from weft.cli.documents import words_and_documents  # noqa: PLC0415 - as above
    from weft.cli.inputs import cluster_of  # noqa: PLC0415 - as above
    from weft.cli.output import check_format, emit  # noqa: PLC0415 - as above

    check_format(output)
    names, documents = words_and_documents(words, ())
    if len(names) > 1:
        raise typer.BadParameter(f"{' and '.join(names)}: one runbook is written at a time")
    plan = api.plan(cluster_of(given, documents))
    emit(api.runbook(plan, names[0] if names else ""), output, full=full, out=out)
