"""A reader or a rule that fails costs its own result and nothing else."""

import re
from dataclasses import replace

import pytest

from weft.calibrate.calibration import read_file
from weft.cli import app
from weft.errors import SpecError
from weft.lint import lint as linting
from weft.lint.lint import all_readers, all_rules, lint


def _fails(*_):
    raise KeyError("nobody thought of it")
    yield


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "good").mkdir()
    (tmp_path / "good" / "nccl.conf").write_text("NCCL_ALGO=Ring\n")
    (tmp_path / "host.conf").write_text("net.ipv4.conf.all.rp_filter = 1\n")
    return tmp_path


def test_a_reader_that_fails_is_named_and_the_rest_is_checked(folder, monkeypatch):
    whole = lint([folder])
    known = dict(all_readers())
    known["nccl_conf"] = replace(known["nccl_conf"], read=_fails)
    monkeypatch.setattr(linting, "all_readers", lambda: known)
    found = lint([folder])
    assert found.partial
    assert not whole.partial
    reasons = {one.name.rpartition("/")[2]: one.reason for one in found.unread}
    assert "KeyError" in reasons["nccl.conf"]
    assert {one.name for one in found.files} < {one.name for one in whole.files}
    assert found.files


def test_a_rule_that_fails_is_named_and_the_others_are_asked(folder, monkeypatch):
    whole = lint([folder])
    assert whole.findings
    name = whole.findings[0].rule
    broken = tuple(
        (one, replace(rule, check=_fails) if one == name else rule) for one, rule in all_rules()
    )
    monkeypatch.setattr(linting, "all_rules", lambda: broken)
    found = lint([folder])
    assert found.partial
    assert [one.name for one in found.unread if one.failed] == [f"rule {name}"]
    assert name not in {one.rule for one in found.findings}


def test_the_exit_code_is_5_where_something_failed(folder, monkeypatch, capsys):
    known = {one: replace(reader, read=_fails) for one, reader in all_readers().items()}
    monkeypatch.setattr(linting, "all_readers", lambda: known)
    assert app.run(["lint", str(folder)]) == 5
    assert "failed" in capsys.readouterr().out


def test_values_out_of_form_are_an_error_of_the_file(tmp_path, monkeypatch):
    file = tmp_path / "write_bw.txt"
    file.write_text(" #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]\n")
    monkeypatch.setattr("weft.readers.rows.Row.read", lambda *_: next(_fails()))
    with pytest.raises(SpecError, match=re.escape(str(file))):
        read_file(file)
