"""A wrong spec and exactly what the user is told, one pair of files a case."""

from pathlib import Path

import pytest

from weft.errors import SpecError
from weft.spec.cluster import Cluster
from weft.spec.load import load_case, load_documents
from weft.spec.workload import Job

FOLDER = Path(__file__).parents[2] / "samples" / "errors"
CASES = sorted(path.stem for path in FOLDER.glob("*.yaml"))


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_spec_is_told_what_is_wrong(case, monkeypatch):
    monkeypatch.chdir(FOLDER)
    expected = FOLDER / f"{case}.txt"
    with pytest.raises(SpecError) as failure:
        _validate(f"{case}.yaml")
    told = f"{failure.value}\n"
    if not expected.exists():
        expected.write_text(told)
        pytest.fail(f"{expected} is new: read it, then commit it")
    assert told == expected.read_text()


def _validate(path: str) -> None:
    kinds = [type(part) for part in load_documents(path)]
    if Cluster in kinds and Job in kinds:
        load_case([path])
