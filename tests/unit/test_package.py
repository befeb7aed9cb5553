"""`import weft` gives the verbs, and nothing heavy before one is used."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import weft
from weft import api

PACKAGE = Path(weft.__file__)


def test_the_package_gives_what_the_api_gives():
    assert set(weft.__all__) == set(api.__all__) - {"VERBS", "result_of"}
    for name in weft.__all__:
        assert getattr(weft, name) is getattr(api, name)


def test_type_checkers_are_told_the_same_names():
    stub = ast.parse(PACKAGE.with_suffix(".pyi").read_text("utf-8"))
    told = {
        alias.asname or alias.name
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert told == set(weft.__all__)


@pytest.mark.parametrize("name", ["predict", "accuracy", "calibrate"])
def test_a_verb_stays_a_verb_when_its_sub_package_is_imported(name):
    importlib.import_module(f"weft.{name}")
    assert callable(getattr(weft, name))


def test_importing_the_package_imports_no_library():
    program = "import sys, weft; print({'pydantic', 'typer', 'numpy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "set()"


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing"):
        _ = weft.nothing


@pytest.mark.parametrize("verb", api.VERBS)
def test_every_result_renders_in_a_notebook_and_as_a_frame(verb):
    getattr(weft, verb)
    result = api.result_of(verb)
    assert callable(result._repr_html_)
    assert callable(result.to_frame)
