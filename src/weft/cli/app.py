"""The group of commands: found by walking the folder, imported when one is called."""

import ast
import os
import sys
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import typer
from typer.core import TyperGroup

from weft import plugins
from weft.cli import commands
from weft.cli.failures import UsageError, report_failure
from weft.cli.grouped import Row, spread

STAGES: Final = (
    "decide", "design", "configure", "verify", "diagnose", "operate", "reference",
)  # fmt: skip
"""The stages of a cluster's life, in which order the help lists the commands."""
WIDEST_HELP: Final = 96
_CONTEXT: Final = {"help_option_names": ["-h", "--help"], "max_content_width": WIDEST_HELP}


def command_names() -> list[str]:
    """List the commands as they are typed, without importing one."""
    return [name.replace("_", "-") for name in plugins.names(commands)]


def described(name: str) -> tuple[str, str]:
    """Read the stage and the summary of a command without importing it.

    Both stand in the first line of its file, as in "`weft compare` (decide): what ...".
    """
    place = Path(commands.__path__[0]) / name.replace("-", "_")
    file = (
        place.with_suffix(".py")
        if place.with_suffix(".py").is_file()
        else place / "__init__.py"
    )
    line = (ast.get_docstring(ast.parse(file.read_text("utf-8"))) or "").partition("\n")[0]
    head, _, said = line.partition("): ")
    return head.partition(" (")[2], said.rstrip(".")


def summary(name: str) -> str:
    """Return what a command does, in one line."""
    return described(name)[1]


def load_command(name: str) -> Any:  # noqa: ANN401 - a click command; typer bundles its own
    """Import one command: the file exports a function, or a Typer with sub-commands."""
    module = import_module(f"{commands.__name__}.{name.replace('-', '_')}")
    exported = getattr(module, name.replace("-", "_"))
    if isinstance(exported, typer.Typer):
        exported.rich_markup_mode = None
        exported.info.context_settings = _CONTEXT
        exported.pretty_exceptions_enable = False
        for command in exported.registered_commands:
            assert command.callback is not None
            inner = command.callback.__name__
            command.callback = spread(command.callback, words_of(f"{name} {inner}"))
        return typer.main.get_group(exported)
    app = _plain_typer()
    app.command(name=name)(spread(exported, words_of(name)))
    return typer.main.get_command(app)


@cache
def every_word() -> dict[str, dict[str, Row]]:
    """Return the rows of ``words.toml``: by command, then by the name of the parameter."""
    return tomllib.loads((Path(commands.__path__[0]) / "words.toml").read_text("utf-8"))


def words_of(name: str) -> Mapping[str, Row]:
    """Return the rows of ``words.toml`` for one command, by the name of the parameter."""
    return every_word()["shared"] | every_word().get(name, {})


def _plain_typer(**settings: Any) -> typer.Typer:  # noqa: ANN401 - typer's own settings
    return typer.Typer(
        rich_markup_mode=None,  # plain help: it pipes, narrows and is the same everywhere
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings=_CONTEXT,
        **settings,
    )


class Commands(TyperGroup):
    """A group that knows its commands by name and imports only the one that is called."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - click's signature
        """List the commands."""
        return command_names()

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - as above
        """Import one command, or say which there are."""
        if cmd_name not in command_names():
            raise UsageError(plugins.unknown("command", cmd_name, command_names()))
        return load_command(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401, ARG002 - as above
        """Write one line per command into the help, by stage, still without importing any."""
        lines: dict[str, list[tuple[str, str]]] = {stage: [] for stage in STAGES}
        for name in command_names():
            stage, said = described(name)
            lines[stage].append((name, said))
        for stage, rows in lines.items():
            with formatter.section(stage.capitalize()):
                formatter.write_dl(rows)


def _root() -> Any:  # noqa: ANN401 - a click group
    app = _plain_typer(cls=Commands)
    app._add_completion = True  # noqa: SLF001 - typer takes it in the constructor alone

    def weft() -> None:
        """Predict what the network of an AI-training cluster should do.

        Describe the cluster and the job in two YAML files (weft init writes them), then ask:

        \b
          weft compare cluster.yaml job.yaml   which network to take
          weft expect cluster.yaml             what nccl-tests should show
          weft diagnose bundle/ cluster.yaml   what is wrong

        Exit codes: 0 ok, 1 internal error, 2 wrong input, 3 cannot read, 4 the verdict is a
        failure, 5 partial or inconclusive.
        """

    app.callback()(weft)
    return typer.main.get_command(app)


def run(words: Sequence[str]) -> int:
    """Run one command; return its exit code, whatever happens on the way."""
    try:
        status = _root().main(
            list(words) or ["--help"], prog_name="weft", standalone_mode=False
        )
        sys.stdout.flush()
    except BrokenPipeError:
        _let_go_of_standard_output()
        return 0
    except BaseException as failure:  # noqa: BLE001 - the one place where all errors end
        return report_failure(failure, words)
    return status if isinstance(status, int) else 0


def _let_go_of_standard_output() -> None:
    """Stop writing where the reader has seen enough (head); Python would complain at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
