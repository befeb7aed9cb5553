"""Text of strangers is matched in linear time: with re2, not with Python's ``re``."""

import ast
from pathlib import Path

import pytest

import weft

ROOT = Path(weft.__file__).parent
ALLOWED = {
    "accuracy": "tables of the project",
    "bench/command.py": "names that the user types",
    "bench/good.py": "numbers of runs that the user types",
    "bench/store.py": "an address that the user types",
    "catalogue": "files of the project",
    "cli/documents.py": "the head of a document of the user, one plain pattern",
    "collect": "names that the user types and rows of the project",
    "emulate": "formats of the project",
    "engines": "a table of the user's own tuner",
    "generate": "names and values of the user's documents, each bounded in length",
    "inventory/inventory.py": "digits of one name",
    "network/forwarding.py": "dumps of the subnet, by patterns without nested repetition",
    "plugins.py": "names of files of the project",
    "readers/archives.py": "names of members, bounded in length",
    "readers/layouts.py": "names of files, bounded in length",
    "readers/untrusted.py": "one pattern without a repetition inside a repetition",
    "report": "the text of weft's own reports, by patterns without nested repetition",
    "spec": "values of the user's documents, each bounded in length",
    "units.py": "one quantity",
}
"""Where ``re`` is imported, and why that is safe. A new place needs a reason, or re2."""


def _importing():
    for path in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        names = {
            one.name
            for node in ast.walk(tree)
            if isinstance(node, ast.Import)
            for one in node.names
        }
        modules = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        if "re" in names | modules:
            yield path.relative_to(ROOT).as_posix()


def _reason(place):
    return next((key for key in ALLOWED if place == key or place.startswith(f"{key}/")), None)


def test_python_matches_only_what_is_harmless():
    assert [place for place in _importing() if _reason(place) is None] == []


@pytest.mark.parametrize("key", ALLOWED)
def test_every_reason_is_still_needed(key):
    assert key in {_reason(place) for place in _importing()}
