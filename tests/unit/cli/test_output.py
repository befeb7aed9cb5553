"""Results reach standard output or a file, in one piece."""

from pathlib import Path

import pytest

from weft.cli import output, watch
from weft.errors import UnknownName, Unreadable


def test_a_file_is_replaced_in_one_piece_and_leaves_nothing_behind(tmp_path):
    target = tmp_path / "result.json"
    target.write_text("old", "utf-8")
    output.write_file(target, b"new")
    assert target.read_bytes() == b"new"
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


def test_a_failed_write_keeps_the_old_file(tmp_path):
    target = tmp_path / "result.json"
    target.write_text("old", "utf-8")
    with pytest.raises(TypeError):
        output.write_file(target, None)
    assert target.read_text("utf-8") == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_in_no_folder_is_named_in_the_message(tmp_path):
    with pytest.raises(Unreadable, match="nowhere"):
        output.write_file(tmp_path / "nowhere" / "x.json", b"")


def test_an_unknown_format_is_refused_with_the_ones_there_are():
    with pytest.raises(UnknownName, match="html, json, md, text, yaml"):
        output.check_format("xml")


def test_the_command_can_be_typed_again():
    assert output.command_line(["expect", "-f", "a b.yaml"]) == "weft expect -f 'a b.yaml'"


def test_there_is_no_progress_where_nobody_watches(capsys):
    with watch.progress("working"):
        pass
    assert capsys.readouterr() == ("", "")


def test_what_cannot_be_written_is_refused_before_the_work(tmp_path):
    good = tmp_path / "x.txt"
    output.check_places(None, good, charts=[tmp_path / "x.svg", Path(f"queue={good}.png")])
    with pytest.raises(Unreadable, match="does not exist"):
        output.check_places(tmp_path / "nowhere" / "x")
    with pytest.raises(Unreadable, match="does not exist"):
        output.check_places(charts=[Path(f"queue={tmp_path}/nowhere/x.svg")])
    with pytest.raises(Unreadable, match="is a folder"):
        output.check_places(tmp_path)
    with pytest.raises(UnknownName, match="cannot be a 'pdf' file; there are: svg, png"):
        output.check_places(charts=[Path("x.pdf")])
