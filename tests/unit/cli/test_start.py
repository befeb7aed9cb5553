"""The command line starts fast because it imports nothing that it does not need."""

import json
import subprocess
import sys

import pytest

from weft.cli import main

HEAVY = {"typer", "rich", "pydantic", "numpy", "altair", "ruamel.yaml", "pandas", "scipy"}


def _modules_after(*words: str) -> set[str]:
    program = (
        "import sys, json, io, contextlib\n"
        "from weft.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        f"    main({list(words)!r})\n"
        "print(json.dumps(sorted(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout))


def test_the_version_needs_no_library():
    assert not HEAVY & _modules_after("--version")


def test_help_imports_no_engine_and_no_chart_library():
    loaded = _modules_after("--help")
    assert not (HEAVY - {"typer", "pydantic"}) & loaded
    assert "weft.predict.training" not in loaded


def test_the_version_is_one_line(capsys):
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0
    out = capsys.readouterr().out
    assert out.startswith("weft ")
    assert out.count("\n") == 1
