"""States in the formats of tools: the doctor names each, and is quiet on healthy ones.

The files of `tests/samples/states` were written before the doctor was tried on them. A state
marked `unsure` is named without certainty, one marked `missed` is not named yet.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from weft.doctor.diagnose import diagnose
from weft.doctor.verdict import Verdict

FOLDER = Path(__file__).parents[2] / "samples" / "states"


def states() -> Iterator[Any]:
    for path in sorted(FOLDER.glob("*.yaml")):
        for one in yaml.safe_load(path.read_text()):
            missed = pytest.mark.xfail(reason="written down as missed", strict=True)
            marks = [missed] if one.get("missed") else []
            yield pytest.param(one, id=one["state"], marks=marks)


@pytest.mark.parametrize("state", list(states()))
def test_a_state_is_named_and_a_healthy_one_is_quiet(
    tmp_path: Path, state: dict[str, Any]
) -> None:
    for name, text in state["files"].items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = diagnose([tmp_path])
    if "says" not in state:
        assert found.verdict in {Verdict.NONE, Verdict.UNKNOWN}, found.findings
        assert not [one.title for one in found.findings if one.severity != "info"]
        return
    assert found.verdict is Verdict.PROBLEM or state.get("unsure"), found.findings
    first = found.findings[0]
    assert re.search(state["says"], f"{first.cause} {first.told}", re.IGNORECASE), first
    places = " ".join((first.told, *first.entities))
    assert re.search(state.get("names", ""), places), places
