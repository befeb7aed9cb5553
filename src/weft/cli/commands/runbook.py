"""`weft runbook` (operate): what to do about each fault, with the names of this cluster."""

import typer

from weft import api
from weft.cli import options
from weft.cli.documents import words_and_documents


def runbook(
    words: list[str] = [],
    *,
    given: options.ClusterGiven,
    shown: options.Written,
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
    """
    shown.check()
    names, documents = words_and_documents(words, ())
    if len(names) > 1:
        raise typer.BadParameter(f"{' and '.join(names)}: one runbook is written at a time")
    plan = api.plan(given.cluster(documents))
    shown.emit(api.runbook(plan, names[0] if names else ""))
