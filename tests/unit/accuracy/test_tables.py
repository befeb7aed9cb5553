import pytest

from weft.accuracy import tables
from weft.errors import Unreadable


def test_every_shipped_row_names_its_source():
    found = tables.read(tables.SHIPPED)
    with_source = [name for name, rows in found.items() if "source" in rows[0]]
    assert len(with_source) == len(found) - 2  # points have the source of their run
    for name in with_source:
        assert all(row["source"] for row in found[name]), name


def test_a_short_row_has_empty_cells_and_a_long_one_loses_its_tail(tmp_path):
    path = tmp_path / "topology.csv"
    path.write_text("row_id,design,gpus\np1,small\n\np2,large,8,stray\n")
    assert tables.rows(path) == [
        {"row_id": "p1", "design": "small", "gpus": ""},
        {"row_id": "p2", "design": "large", "gpus": "8"},
    ]


def test_a_source_with_an_unquoted_comma_does_not_shift_the_cells_after_it(tmp_path):
    path = tmp_path / "train_runs.csv"
    path.write_text("row_id,source,confidence,notes\nt1,public file, index 7,3,one layer\n")
    assert tables.rows(path) == [
        {
            "row_id": "t1",
            "source": "public file, index 7",
            "confidence": "3",
            "notes": "one layer",
        }
    ]


def test_a_file_may_have_a_byte_order_mark_and_nul_bytes(tmp_path):
    path = tmp_path / "failures.csv"
    path.write_bytes(b"\xef\xbb\xbfrow_id,rate\nx1,\x005\n\xff,6\n")
    assert [row["rate"] for row in tables.rows(path)] == ["5", "6"]


def test_a_folder_that_is_not_there_cannot_be_read(tmp_path):
    with pytest.raises(Unreadable, match="no such folder"):
        tables.read(tmp_path / "missing")
