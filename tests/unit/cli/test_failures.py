"""Every error says what is wrong, on the right stream, with the right exit code."""

import errno
import json

import pytest

from weft.cli import app
from weft.cli.failures import describe, wants_json
from weft.cli.output import write_file
from weft.errors import SpecError, Unreadable, WeftError


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (["expect", "--no-such-option"], 2, "usage"),
        (["no-such-command"], 2, "usage"),
        (["expect"], 2, "spec"),
        (["expect", "-f", "no-such-file.yaml"], 3, "unreadable"),
        (["expect", "-o", "xml"], 2, "unknown_name"),
        (["predict", "--sweep", "hosts=three"], 2, "usage"),
        (["predict", "--sweep", "gpus=8,0"], 2, "usage"),
    ],
)
def test_an_error_has_its_exit_code_and_leaves_standard_output_empty(
    words, status, code, capsys
):
    assert app.run(words) == status
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("weft: ")
    if "-o" not in words:
        assert app.run([*words, "-o", "json"]) == status
        document = json.loads(capsys.readouterr().out)
        assert document["success"] is False
        assert document["error"]["code"] == code
        assert document["error"].keys() == {
            "code", "message", "category", "transient", "suggestion",
        }  # fmt: skip


def test_an_error_of_the_system_is_no_mistake_of_weft(tmp_path):
    full = describe(OSError(errno.ENOSPC, "No space left on device"))
    assert (full.exit_status, full.message) == (3, "No space left on device")
    with pytest.raises(Unreadable, match=r"x: cannot be written"):
        write_file(tmp_path / ("x" * 300), b"")


def test_a_mistake_of_ours_is_told_without_a_traceback_unless_asked(capsys, monkeypatch):
    def broken(_words):
        raise ZeroDivisionError("half a rank")

    monkeypatch.setattr(app, "_root", lambda: type("Root", (), {"main": broken}))
    monkeypatch.delenv("WEFT_DEBUG", raising=False)
    assert app.run(["expect"]) == 1
    told = capsys.readouterr().err
    assert "Traceback" not in told
    assert "report" in told
    monkeypatch.setenv("WEFT_DEBUG", "1")
    assert app.run(["expect"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_reader_that_leaves_early_is_no_error(monkeypatch):
    def broken(*_words, **_settings):
        raise BrokenPipeError

    monkeypatch.setattr(app, "_root", lambda: type("Root", (), {"main": broken}))
    monkeypatch.setattr(app, "_let_go_of_standard_output", lambda: None)
    assert app.run(["expect"]) == 0


@pytest.mark.parametrize(
    ("error", "status"),
    [(WeftError("x"), 2), (SpecError("x"), 2), (Unreadable("x"), 3), (KeyError("x"), 1)],
)
def test_the_exit_code_follows_the_kind_of_error(error, status):
    assert describe(error).exit_status == status


def test_a_file_that_cannot_be_opened_is_not_our_mistake():
    error = PermissionError(13, "Permission denied", "cluster.yaml")
    assert describe(error).exit_status == 3
    assert "cluster.yaml" in describe(error).message


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["x", "-o", "json"], True),
        (["x", "-ojson"], True),
        (["x", "--output", "json"], True),
        (["x", "--output=json"], True),
        (["x", "-o", "text"], False),
        (["x", "--out", "json"], False),
        (["x"], False),
    ],
)
def test_json_is_recognised_before_the_words_are_parsed(words, wanted):
    assert wants_json(words) is wanted


@pytest.mark.parametrize(
    ("words", "command"),
    [(["render"], "weft render"), (["bench", "load"], "weft bench load"), (["--no"], "weft")],
)
def test_wrong_words_are_answered_with_the_help_of_their_own_command(words, command, capsys):
    assert app.run(words) == 2
    assert f"run `{command} --help`" in capsys.readouterr().err
