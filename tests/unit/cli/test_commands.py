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


def test_every_row_of_words_is_of_a_parameter():
    known = {"shared": set()}
    for name in COMMANDS:
        command = app.load_command(name)
        below = getattr(command, "commands", None)
        verbs = {f"{name} {k}": v for k, v in below.items()} if below else {name: command}
        known |= {verb: {one.name for one in found.params} for verb, found in verbs.items()}
    known["shared"] = set().union(*known.values())
    for verb, rows in app.every_word().items():
        assert rows.keys() <= known[verb], verb


def test_every_parameter_says_what_it_is():
    for name in COMMANDS:
        command = app.load_command(name)
        for found in (command, *getattr(command, "commands", {}).values()):
            for one in found.params:
                assert getattr(one, "help", None) or one.hidden or one.name == "port", one.name


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
