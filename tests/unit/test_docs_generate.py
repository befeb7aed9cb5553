import importlib.util
import shutil
import subprocess
import tomllib
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

from weft.accuracy import score
from weft.accuracy.kind import all_kinds
from weft.generate.target import target_names

SCRIPT = Path(__file__).parents[2] / "docs" / "generate.py"


def load():
    spec = importlib.util.spec_from_file_location("docs_generate", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_on_accuracy_states_aims_reasons_and_rows_left_out():
    result = score(kinds=["topology", "latency"])
    reasons = {"latency": [{"where": "A NIC", "reason": "it is\nslow"}]}
    page = "\n".join(load().accuracy(result, reasons))
    assert "| topology | all | median error | 12 | 0 % | 0 % to 0 % | reached |" in page
    assert "* **A NIC**: it is slow" in page
    assert "| topology | 115 |" in page
    assert "## Rows left out" in page


def test_every_reason_is_about_a_kind_that_is_scored():
    reasons = tomllib.loads((SCRIPT.parent / "accuracy_reasons.toml").read_text())
    assert set(reasons) <= set(all_kinds())


def test_an_unknown_page_is_refused(capsys):
    assert load().main(["weather"]) == 2
    assert "there are: accuracy" in capsys.readouterr().out


PROVEN_TOOLS = tomllib.loads((SCRIPT.parent / "proven_tools.toml").read_text("utf-8"))


def test_the_page_on_what_was_proven_is_current():
    """Made by `python docs/generate.py proven`."""
    page = (SCRIPT.parent / "reference" / "proven.md").read_text("utf-8")
    assert page == "\n".join(load().proven()) + "\n", "run python docs/generate.py proven"


def test_every_proof_names_a_target_and_a_tool_and_every_tool_proves_something():
    proofs = list(load().proofs())
    assert {target for target, *_ in proofs} <= set(target_names())
    assert {tool for _, _, tool, _ in proofs} == set(PROVEN_TOOLS)


@pytest.mark.parametrize("name", PROVEN_TOOLS)
def test_the_release_of_a_tool_is_the_one_that_is_asked(name):
    row = PROVEN_TOOLS[name]
    if "python" in row:
        found = version(row["python"]) if find_spec(row["python"].replace("-", "_")) else ""
    elif "debian" in row and shutil.which("dpkg-query"):
        words = ["dpkg-query", "-W", "-f", "${Version}", row["debian"]]
        found = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    else:
        found = ""
    if not found:
        pytest.skip(f"{row['title']} is no package that is installed here")
    assert found.startswith(row["release"]), f"{row['title']}: {found}"
