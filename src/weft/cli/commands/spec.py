"""`weft spec` (design): check, show and describe cluster and job documents."""

import json
from pathlib import Path

import typer

from weft.errors import SpecError, UnknownName

spec = typer.Typer(
    help="Check, show and describe cluster and job documents.", no_args_is_help=True
)


@spec.command()
def validate(
    files: list[Path],
    output: str = "text",
) -> int:
    """Check documents: names, units, sizes that must divide; every mistake is reported at once.

    A cluster and a job given together are checked against each other.
    """
    from weft.spec.cluster import Cluster
    from weft.spec.load import load_case, load_documents
    from weft.spec.workload import Job

    _known(output, ("text", "json"))
    lines: list[str] = []
    found = []
    for file in files:
        try:
            found += [(file, part) for part in load_documents(file)]
        except SpecError as error:
            lines.append(str(error))
    if lines:
        raise SpecError("\n".join(lines))
    if [sum(isinstance(p, kind) for _, p in found) for kind in (Cluster, Job)] == [1, 1]:
        load_case(files)
    rows = [{"file": str(f), "kind": type(p).__name__, "name": p.name} for f, p in found]
    if output == "json":
        typer.echo(json.dumps({"success": True, "documents": rows}, indent=2))
        return 0
    for row in rows:
        typer.echo(f"{row['file']}: {row['kind']} {row['name']} is valid")
    return 0


@spec.command()
def show(
    files: list[Path],
    sets: list[str] = [],
    output: str = "yaml",
) -> int:
    """Show documents in full, with presets, models and overrides applied."""
    from weft.spec.load import load_documents
    from weft.spec.show import as_json, as_yaml

    _known(output, ("yaml", "json"))
    parts = [part for file in files for part in load_documents(file, sets)]
    typer.echo({"yaml": as_yaml, "json": as_json}[output](*parts).rstrip("\n"))
    return 0


@spec.command()
def schema(
    kind: str,
) -> int:
    """Print the JSON Schema of a kind of document, for editors."""
    from weft.spec.schema import schema as schema_of

    typer.echo(json.dumps(schema_of(kind), indent=2))
    return 0


def _known(output: str, formats: tuple[str, ...]) -> None:
    if output not in formats:
        raise UnknownName(
            f"no output format of this command is called {output!r}; "
            f"there are: {', '.join(formats)}"
        )
