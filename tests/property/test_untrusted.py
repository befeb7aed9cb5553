"""Whatever the file of a stranger is or holds, it is read, or refused with its place."""

import functools
import gzip
import io
import json
import os
import random
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.calibrate.calibration import read_file
from weft.doctor.diagnose import diagnose
from weft.doctor.verdict import Verdict, exit_code
from weft.errors import SpecError, Unreadable
from weft.inventory.inventory import ALL_FILES
from weft.inventory.values import number, whole
from weft.lint.lint import lint, lint_texts
from weft.lint.text import Text
from weft.readers import read as reading
from weft.readers import untrusted
from weft.readers.document_kinds.flight_recorder import flight_recorder
from weft.readers.read import read
from weft.readers.untrusted import Malformed, json_value, opened, yaml_documents
from weft.report import show

ROOT = Path(__file__).parents[1]
SAMPLES = sorted((ROOT / "samples" / "rules").glob("*/*/*")) + sorted(
    (ROOT / "samples" / "benchmarks").glob("*/*/input*")
)
ODD = (
    "412..", "1e999", "²", "٣", "9" * 5000, "-", "", "NaN", "0x", "0x" + "f" * 400, "null",
    '{"a":', "[[[[", "\x1b[31m", "\u009b", "\u202e", "_" * 80, "-a_" * 40,
    "\\", '"', "%n", "\x00",
)  # fmt: skip
LINE = "modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument\n"


@functools.cache
def _texts():
    return tuple(one.read_text(errors="replace")[:20_000] for one in SAMPLES if one.is_file())


def _mutated(text, chance):
    """Cut, repeat and replace parts of a text, as damage and malice do."""
    for _ in range(chance.randrange(1, 8)):
        at, end = sorted(chance.randrange(len(text) + 1) for _ in "ab")
        other = chance.choice(
            (*ODD, chance.choice(_texts())[at : at + 200], text[at:end][:500])
        )
        text = text[:at] + other + text[min(end, at + chance.randrange(40)) :]
    return text


@given(st.integers(0, 2**32))
@settings(max_examples=150, deadline=None)
def test_a_mutated_sample_is_diagnosed(tmp_path_factory, seed):
    chance = random.Random(seed)  # noqa: S311 - no secret
    path = tmp_path_factory.mktemp("case", numbered=True) / "input.txt"
    path.write_text(_mutated(chance.choice(_texts()), chance), errors="replace")
    found = diagnose([path])
    assert not [one for one in found.files if one.file == ALL_FILES], found.files
    assert not [note for one in found.files for note in one.notes], found.files


@given(st.text() | st.floats().map(str) | st.integers().map(str) | st.sampled_from(ODD))
@settings(deadline=None)
def test_a_conversion_gives_a_finite_number_or_none(text):
    assert number(text) is None or abs(number(text)) < float("inf")
    assert whole(text) is None or str(whole(text)).lstrip("-") in text or text.strip()


def test_a_reader_that_fails_is_named_and_the_rest_is_diagnosed(tmp_path, monkeypatch):
    def fails(*_):
        raise KeyError("dst")

    monkeypatch.setattr(flight_recorder, "reads", fails)
    (tmp_path / "a.json").write_text('[{"ifname": "eth0"}]')
    (tmp_path / "b.txt").write_text(LINE)
    found = diagnose([tmp_path])
    (failed,) = [one for one in found.files if one.notes]
    assert failed.file == "a.json"
    assert failed.notes == ("line 1: the reader flight_recorder failed: KeyError: 'dst'",)
    assert any("peermem" in one.cause for one in found.findings)
    (tmp_path / "b.txt").unlink()
    alone = diagnose([tmp_path])
    assert exit_code(alone.verdict) == 5
    assert "1 of 1 files could not be read whole" in show(alone)


def test_a_check_that_fails_is_named_and_the_rest_is_checked(tmp_path, monkeypatch):
    def fails(*_):
        raise ValueError("odd")

    monkeypatch.setattr("weft.doctor.case.Case._attributes", fails)
    (tmp_path / "b.txt").write_text(LINE)
    found = diagnose([tmp_path])
    assert any("peermem" in one.cause for one in found.findings)
    assert any("failed: ValueError: odd" in one.skipped for one in found.files)


def test_what_the_deadline_leaves_out_is_named(tmp_path):
    for name in "abcd":
        (tmp_path / f"{name}.txt").write_text("healthy\n" * 3)
    now = iter(range(0, 10**9, 400))
    files = read(tmp_path, clock=lambda: float(next(now))).files
    assert [one.file for one in files if "took longer" in "".join(one.notes)]
    assert "what follows" in files[-1].skipped
    assert diagnose([tmp_path]).verdict is not None


def test_a_file_out_of_time_is_not_called_healthy(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MOST_S_OF_FILE", -1.0)
    (tmp_path / "a.txt").write_text("link mlx5_0/1 state ACTIVE physical_state LINK_UP\n" * 9)
    found = diagnose([tmp_path])
    assert found.verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_a_device_is_refused(device):
    with pytest.raises(Unreadable, match="it is a device"):
        read(Path(device))
    with pytest.raises(Unreadable, match="it is a device"):
        lint([Path(device)])


def test_a_pipe_that_gives_nothing_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(untrusted, "PATIENCE_S", 0.05)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(Unreadable, match="is a pipe"):
        read(tmp_path / "pipe")
    assert read(tmp_path).files == []


def test_a_pipe_is_read_as_a_file():
    out, into = os.pipe()
    os.write(into, LINE.encode())
    os.close(into)
    with opened(Path(f"/dev/fd/{out}")) as stream:
        assert stream.read(1000) == LINE.encode()
        assert stream.read(1000) == b""
    os.close(out)


def test_folders_may_be_deep(tmp_path):
    place = tmp_path
    for _ in range(900):
        place /= "d"
        os.mkdir(place)  # noqa: PTH102 - Path.mkdir takes as long as the path
    (tmp_path / "a.txt").write_text(LINE)
    files = read(tmp_path).files
    assert [one.file for one in files if not one.skipped] == ["a.txt"]
    assert any("nested" in one.skipped for one in files)
    lint([tmp_path])


def test_a_name_need_not_be_utf8(tmp_path):
    name = os.fsdecode(b"log\xff\x1b[31m\n::error::x.txt")
    (tmp_path / name).write_text(LINE)
    (one,) = read(tmp_path).files
    assert one.file == "log\ufffd?[31m?::error::x.txt"
    one.file.encode()
    for text in lint([tmp_path]).files:
        text.name.encode()


@pytest.mark.parametrize(
    "text",
    ["[" * 28_000, "{a: " * 28_000, "- " * 28_000, "{" * 28_000, "a:\n" + " - - -" * 9000],
)
def test_deep_yaml_is_refused(text, tmp_path):
    with pytest.raises(Malformed):
        yaml_documents(text)
    (tmp_path / "a.yaml").write_text(text)
    lint([tmp_path])


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 100_000, "[" * 300 + "]" * 300, "[" + "9" * 5000 + "]"]
)
def test_deep_json_and_endless_digits_are_refused(text, tmp_path):
    with pytest.raises(Malformed):
        json_value(text)
    (tmp_path / "a.json").write_text(text)
    lint([tmp_path])
    read(tmp_path)


@given(
    st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists, max_leaves=40)
)
@settings(max_examples=50, deadline=None)
def test_json_within_the_bounds_is_read_as_it_is(value):
    assert json_value(json.dumps(value)) == value


BLANK_SAFE = (
    "frr.conf",
    "eos.conf",
    "nxos.cfg",
    "startup.yaml",
    "partitions.conf",
    "rails.tsv",
)


@pytest.mark.parametrize("name", BLANK_SAFE)
def test_a_file_of_empty_lines_is_checked_in_linear_time(name):
    """Backtracking over 64 Ki empty lines takes minutes: the test would not end."""
    lint_texts([Text(name=name, content="a b\n" + "\n" * (1 << 16))])


LINES = (" " * 60_000, "#" + " size time" * 6000, "9" * 60_000, "\n" * 60_000)


OPENING = "ClusterName=a\nSwitchName=b\nbgpd=yes\n"


@pytest.mark.parametrize("name", ["slurm.conf", "topology.conf", "daemons"])
def test_a_line_of_one_word_is_checked_in_linear_time(name):
    """As above: a word of 128 KiB that no "=" follows."""
    lint_texts([Text(name=name, content=OPENING + "a" * (1 << 17))])


@pytest.mark.parametrize("line", LINES, ids=["spaces", "titles", "digits", "empty"])
def test_hostile_text_is_no_benchmark(line, tmp_path):
    path = tmp_path / "run.txt"
    path.write_text(f"# nThread 1\n# size time algbw\n{line}\n")
    with pytest.raises(SpecError):
        read_file(path)


def test_members_that_overlap_are_refused(tmp_path):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for one in ("a.txt", "b.txt"):
            archive.writestr(one, "a" * 100_000)
        archive.filelist[1].header_offset = archive.filelist[0].header_offset
    (tmp_path / "a.zip").write_bytes(data.getvalue())
    assert "overlap" in read(tmp_path / "a.zip").files[-1].skipped


def test_a_zip_that_unpacks_to_far_more_than_it_holds_is_refused(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for one in range(5):
            archive.writestr(f"{one}.txt", b"0" * (60 << 20))
    (one,) = read(path).files
    assert "times its size" in one.skipped


def test_an_archive_within_an_archive_cannot_name_its_way_out(tmp_path):
    inner = io.BytesIO()
    with tarfile.open(fileobj=inner, mode="w") as archive:
        info = tarfile.TarInfo("../../etc/passwd")
        info.size = len(LINE)
        archive.addfile(info, io.BytesIO(LINE.encode()))
    (tmp_path / "a.tar.gz").write_bytes(gzip.compress(inner.getvalue()))
    (one,) = read(tmp_path / "a.tar.gz").files
    assert one.file.endswith("etc/passwd")
    assert ".." not in one.file
