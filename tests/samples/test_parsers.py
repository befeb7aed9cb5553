"""Every folder of samples is a test: input.txt goes in, expected.json must come out.

All parsers are at work, so a sample shows too that no other tool's parser claims its lines.
"""

import dataclasses
import json
from pathlib import Path

import pytest

from weft import plugins
from weft.observe import parsers
from weft.observe.reading import read_text

SAMPLES = Path(__file__).parent / "parsers"
CASES = sorted(SAMPLES.glob("*/*/input.txt"))


def _without_defaults(fact) -> dict:
    """Return what a fact says, which is short enough to be read."""
    told = {"fact": type(fact).__name__}
    for one in dataclasses.fields(fact):
        value = getattr(fact, one.name)
        if one.name == "evidence":
            told["line"] = value.line
        elif value not in (one.default, "", None):
            told[one.name] = value
    return json.loads(json.dumps(told, default=_plain))


def _plain(value) -> dict:
    fields = dataclasses.fields(value)
    return {
        f.name: getattr(value, f.name) for f in fields if getattr(value, f.name) is not None
    }


@pytest.mark.parametrize("path", CASES, ids=lambda p: "/".join(p.parts[-3:-1]))
def test_a_sample_states_what_is_expected(path):
    told = [*map(_without_defaults, read_text(path.read_text(), path.name))]
    expected = path.with_name("expected.json")
    if not expected.exists():
        lines = ",\n ".join(json.dumps(fact, ensure_ascii=False) for fact in told)
        expected.write_text(f"[{lines}]\n")
        pytest.fail(f"wrote {expected}; read it, then commit it")
    assert told == json.loads(expected.read_text())


@pytest.mark.parametrize("name", plugins.names(parsers))
def test_every_parser_has_a_sample(name):
    assert any((SAMPLES / name).glob("*/input.txt")), (
        f"add tests/samples/parsers/{name}/<case>/input.txt"
    )
