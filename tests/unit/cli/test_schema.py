"""`weft schema` tells programs all that they need to call weft."""

import json

from jsonschema import Draft202012Validator

from weft.cli import app


def _document(capsys, *words):
    assert app.run(["schema", *words]) == 0
    return json.loads(capsys.readouterr().out)


def test_without_a_name_it_lists_commands_options_and_exit_codes(capsys):
    told = _document(capsys)
    assert told["commands"].keys() == set(app.command_names())
    expect = {one["name"]: one for one in told["commands"]["expect"]["parameters"]}
    assert expect["files"]["flags"] == ["-f", "--file"]
    assert expect["files"]["repeatable"]
    assert told["commands"]["spec"]["commands"].keys() >= {"validate", "show"}
    assert set(told["exitCodes"]) == set("012345")


def test_every_schema_that_it_names_is_one(capsys):
    for name in _document(capsys)["schemas"]:
        Draft202012Validator.check_schema(_document(capsys, name))


def test_an_error_fits_the_schema_of_errors(capsys):
    assert app.run(["expect", "-o", "json"]) == 2
    envelope = json.loads(capsys.readouterr().out)
    Draft202012Validator(_document(capsys, "error")).validate(envelope)


def test_a_schema_of_nothing_names_those_there_are(capsys):
    assert app.run(["schema", "nothing"]) == 2
    assert "expectation" in capsys.readouterr().err
