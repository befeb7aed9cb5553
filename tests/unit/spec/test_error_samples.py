"""A wrong spec and exactly what the user is told, one pair of files a case."""

from pathlib import Path

import pytest

from weft.errors import SpecError
from weft.spec import checks
from weft.spec.cluster import Cluster
from weft.spec.load import load_case, load_documents
from weft.spec.workload import Job

KNOWN = {
    ("host", "gpu"): ["a100_sxm_80", "h100_sxm", "l40s"],
    ("host", "nic"): ["connectx5", "connectx6", "connectx7", "pollara"],
    ("fabric", "kind"): ["infiniband", "roce", "tcp"],
    ("topology", "kind"): ["fat_tree", "leaf_spine", "rail_only", "rail_optimized"],
}
"""Names as they were; a new device must not change what these samples tell."""

FOLDER = Path(__file__).parents[2] / "samples" / "errors"
CASES = sorted(path.stem for path in FOLDER.glob("*.yaml"))


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_spec_is_told_what_is_wrong(case, monkeypatch):
    monkeypatch.chdir(FOLDER)
    monkeypatch.setattr(checks, "_names", lambda: KNOWN)
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
