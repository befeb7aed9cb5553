import importlib.util
import tomllib
from pathlib import Path

from weft import plugins
from weft.accuracy import kinds, score

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
    assert set(reasons) <= set(plugins.names(kinds))


def test_an_unknown_page_is_refused(capsys):
    assert load().main(["weather"]) == 2
    assert "there are: accuracy" in capsys.readouterr().out
