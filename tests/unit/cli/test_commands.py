"""Every verb has a command, every command has help, and help stays as it was read."""

import shlex
from pathlib import Path

import pytest

from weft import api
from weft.cli import app

SAMPLES = Path(__file__).parents[2] / "samples" / "cli"
COMMANDS = app.command_names()


@pytest.mark.parametrize("verb", api.VERBS)
def test_every_verb_of_the_api_has_a_command(verb):
    assert api.VERBS[verb] in COMMANDS
    assert callable(getattr(api, verb))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_summary_and_a_sample_of_its_help(name):
    assert app.summary(name)
    assert (SAMPLES / f"help-{name}.cmd").is_file(), (
        f"write {name} --help into tests/samples/cli/help-{name}.cmd"
    )


def test_the_help_names_every_command_with_its_summary(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert app.run(["--help"]) == 0
    shown = capsys.readouterr().out
    for name in COMMANDS:
        assert name in shown
        assert app.summary(name)[:60] in shown
    assert app.run([]) == 0
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize("command", sorted(SAMPLES.glob("*.cmd")), ids=lambda path: path.stem)
def test_the_output_is_the_sample(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "96")
    monkeypatch.chdir(SAMPLES)
    assert app.run(shlex.split(command.read_text("utf-8"))) == 0
    out = capsys.readouterr().out
    expected = command.with_suffix(".out")
    if not expected.exists():
        expected.write_text(out, "utf-8")
        pytest.fail(f"{expected.name} was written: read it, then commit it")
    assert out == expected.read_text("utf-8")
