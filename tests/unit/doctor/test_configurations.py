"""Configurations beside outputs: their faults are findings, and what they set is expected."""

from pathlib import Path

import pytest

from rendered_fabrics import texts
from weft.doctor.diagnose import Diagnosis, diagnose
from weft.doctor.verdict import Verdict
from weft.lint.lint import all_rules
from weft.readers.read import read

SAMPLES = Path(__file__).parents[2] / "samples" / "lint"
NEEDS_MORE = frozenset({"cluster_differs", "nccl_cross_nic", "pod_gpu_and_rails"})
"""Rules that compare with a cluster document, which the command line takes apart."""
PRINTED = frozenset({"nccl_socket_absent"})
"""Rules about what a program printed, of which the doctor knows more."""
NAMES = [name for name, _ in all_rules() if name not in NEEDS_MORE | PRINTED]


def diagnosed(folder: Path, files: dict[str, str]) -> Diagnosis:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return diagnose([folder])


@pytest.mark.parametrize("name", NAMES)
def test_what_a_rule_of_lint_finds_is_a_finding_with_its_line_and_its_fix(name: str) -> None:
    found = [one for one in diagnose([SAMPLES / name / "fires"]).findings
             if one.cause == f"lint.{name}"]  # fmt: skip
    assert found
    assert found[0].evidence[0].line
    assert found[0].fix
    silent = diagnose([SAMPLES / name / "silent"])
    assert f"lint.{name}" not in [one.cause for one in silent.findings]


@pytest.mark.parametrize("fabric", ["roce", "infiniband", "roce_arista", "roce_cisco", "efa"])
def test_what_weft_renders_is_no_problem_and_all_of_it_is_read(
    tmp_path: Path, fabric: str
) -> None:
    result = diagnosed(tmp_path, texts(fabric))
    assert result.verdict is Verdict.NONE, result.findings
    assert not [one.cause for one in result.findings if one.severity != "info"]
    assert not [one for one in result.not_covered if one.startswith("most of")]


def test_a_folder_without_configurations_imports_no_reader_of_them(tmp_path: Path) -> None:
    (tmp_path / "nccl.log").write_text("n1:1:2 [0] NCCL INFO Using network IB\n")
    given = []
    read(tmp_path, configurations=lambda *one: given.append(one) or ())
    assert not given
