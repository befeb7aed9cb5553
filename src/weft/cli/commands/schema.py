"""`weft schema` (reference): commands, options and JSON Schemas, for programs."""

import json
from typing import Any


def schema(
    name: str | None = None,
) -> None:
    """Print the JSON Schema of what a verb writes with -o json.

    Without a name: all commands with their arguments and options, and the names of the
    schemas, as one JSON document.

    \b
    Examples:
      weft schema
      weft schema expect
      weft schema error
    """
    from weft.report.schema import schema as schema_of

    found = _everything() if name is None else schema_of(name)
    print(json.dumps(found, indent=2))


def _everything() -> dict[str, Any]:
    from weft.cli.app import command_names, load_command, summary
    from weft.cli.failures import SCHEMA_VERSION
    from weft.report.schema import kinds

    return {
        "schemaVersion": SCHEMA_VERSION,
        "commands": {
            name: {"summary": summary(name), **_describe(load_command(name))}
            for name in command_names()
        },
        "schemas": {"error": "", **kinds()},
        "exitCodes": {
            "0": "ok",
            "1": "internal error",
            "2": "wrong input",
            "3": "cannot read",
            "4": "the verdict is a failure",
            "5": "partial or inconclusive",
        },
    }


def _describe(command: Any) -> dict[str, Any]:  # noqa: ANN401 - a click command
    below = getattr(command, "commands", {})
    described: dict[str, Any] = {"parameters": list(map(_parameter, command.params))}
    if below:
        described["commands"] = {
            name: {"summary": verb.get_short_help_str(200), **_describe(verb)}
            for name, verb in below.items()
        }
    return described


def _parameter(parameter: Any) -> dict[str, Any]:  # noqa: ANN401 - a click parameter
    default = parameter.default
    return {
        "name": parameter.name,
        "flags": list(parameter.opts) if parameter.param_type_name == "option" else [],
        "metavar": parameter.metavar,
        "required": bool(parameter.required),
        "repeatable": bool(getattr(parameter, "multiple", False)) or parameter.nargs == -1,
        "default": default if isinstance(default, str | int | float | bool) else None,
        "help": getattr(parameter, "help", None),
    }
