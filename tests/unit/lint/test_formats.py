"""Findings in the forms that other programs read."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from jsonschema import Draft7Validator

from weft import api, report
from weft.cli import app
from weft.errors import UnknownName

SAMPLES = Path(__file__).parents[2] / "samples"
SCHEMA = SAMPLES / "schemas" / "sarif-2.1.0.json"
"""As OASIS publishes it (sarif-spec, Schemata/sarif-schema-2.1.0.json)."""


@pytest.fixture(scope="module")
def result():
    """Findings of every severity, in files of several formats."""
    names = ("nccl_forced_algorithm", "qos_cnp_class", "pod_ipc_lock", "host_unit")
    return api.lint([*(SAMPLES / "lint" / name / "fires" for name in names)])


def test_sarif_is_what_its_schema_says(result):
    log = json.loads(report.show(result, "sarif"))
    Draft7Validator(json.loads(SCHEMA.read_text("utf-8"))).validate(log)
    run = log["runs"][0]
    assert len(run["results"]) == len(result.findings)
    for found, one in zip(run["results"], result.findings, strict=True):
        assert run["tool"]["driver"]["rules"][found["ruleIndex"]]["id"] == one.rule
        place = found["locations"][0]["physicalLocation"]
        assert place["region"]["startLine"] == one.at.line


def test_junit_counts_findings_as_failures_and_names_clean_files(result):
    suites = ET.fromstring(report.show(result, "junit"))  # noqa: S314 - our own text
    suite = suites.find("testsuite")
    worse = [one for one in result.findings if one.severity.value != "info"]
    assert int(suite.get("failures")) == len(list(suite.iter("failure"))) == len(worse)
    assert int(suite.get("tests")) == len(list(suite.iter("testcase")))
    named = {case.get("classname") for case in suite.iter("testcase")}
    assert named == {file.name for file in result.files}


def test_github_has_one_escaped_command_a_finding(result):
    lines = report.show(result, "github").splitlines()
    assert len(lines) == len(result.findings)
    for line, one in zip(lines, result.findings, strict=True):
        assert line.startswith(("::error ", "::warning ", "::notice "))
        assert f"line={one.at.line}," in line
        assert f"title={one.rule}::" in line


def test_what_a_file_says_cannot_add_a_command_or_an_element(tmp_path):
    bad = tmp_path / "job,a:b.sh"
    bad.write_text('export NCCL_ALGO="]]><x>%0A::error::&"\nexport NCCL_PROTO=LL\n')
    result = api.lint([bad])
    assert len(report.show(result, "github").splitlines()) == len(result.findings)
    ET.fromstring(report.show(result, "junit"))  # noqa: S314 - as above
    json.loads(report.show(result, "sarif"))


def test_other_results_have_no_such_form():
    plan = api.plan(api.preset("dgx_h100", hosts=4))
    with pytest.raises(UnknownName, match="sarif cannot show a plan"):
        report.show(plan, "sarif")
    assert "sarif" in report.formats("linted")
    assert "sarif" not in report.formats()


@pytest.mark.parametrize(("kind", "code"), [("fires", 4), ("silent", 0)])
def test_the_exit_code_says_whether_anything_is_wrong(kind, code, capsys):
    folder = SAMPLES / "lint" / "nccl_forced_algorithm" / kind
    assert app.run(["lint", str(folder)]) == code
    shown = capsys.readouterr().out
    assert ("nccl_forced_algorithm" in shown) is bool(code)


def test_a_rule_can_be_left_out_and_a_wrong_name_is_refused(capsys):
    folder = SAMPLES / "lint" / "nccl_forced_algorithm" / "fires"
    assert app.run(["lint", str(folder), "--ignore", "nccl_forced_algorithm"]) == 0
    assert app.run(["lint", str(folder), "--ignore", "nccl_forced_algoritm"]) == 2
    assert "is nccl_forced_algorithm meant?" in capsys.readouterr().err


def test_the_version_of_nccl_decides_what_is_known(capsys):
    folder = SAMPLES / "lint" / "nccl_newer_variable" / "silent"
    assert app.run(["lint", str(folder), "--nccl", "2.27.3"]) == 0
    assert app.run(["lint", str(folder), "--nccl", "2.18.1"]) == 4
    assert "NCCL_RAS_ENABLE came with NCCL 2.24" in capsys.readouterr().out


def test_a_path_that_is_not_there_and_an_empty_folder_are_refused(tmp_path, capsys):
    assert app.run(["lint", str(tmp_path / "none")]) == 3
    assert app.run(["lint", str(tmp_path)]) == 3
    assert "no file" in capsys.readouterr().err


def test_files_that_nobody_can_read_are_no_pass(tmp_path, capsys):
    (tmp_path / "notes.txt").write_text("hello\n")
    assert app.run(["lint", str(tmp_path)]) == 2
    assert "Nothing was checked" in capsys.readouterr().out


def test_what_nobody_knows_is_listed_and_no_error(tmp_path):
    (tmp_path / "notes.txt").write_text("hello\n")
    (tmp_path / "image.bin").write_bytes(b"\0\1\2")
    result = api.lint([tmp_path])
    assert result.clean
    assert {one.reason for one in result.unread} == {
        "no reader knows this format", "is not text",
    }  # fmt: skip
