"""The output of a tool that weft does not know: what deviates is shown, never "no problem".

Names of columns, of rows, of tools and of values are random; nothing here is the output of a
real program.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.doctor.diagnose import Diagnosis, diagnose
from weft.doctor.verdict import Verdict

BAD = ("failed", "Degraded", "ERROR", "unhealthy", "Faulty", "critical", "unreachable",
       "NOT READY", "mismatch", "timed out", "FAULT", "dead", "Not responding", "2 failed",
       "link_error", "stuck")  # fmt: skip
SOFT = ("down", "inactive", "Offline", "stopped", "disabled")
Rows = Sequence[Mapping[str, str]]
Write = Callable[[str, Rows], Mapping[str, str]]


def aligned(tool: str, rows: Rows) -> dict[str, str]:
    widths = [max(len(name), *(len(row[name]) for row in rows)) + 2 for name in rows[0]]
    listed = [list(rows[0]), *([*row.values()] for row in rows)]
    text = "\n".join(
        "".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in listed
    )
    return {f"{tool}.txt": text + "\n"}


def barred(tool: str, rows: Rows) -> dict[str, str]:
    listed = [list(rows[0]), *([*row.values()] for row in rows)]
    lines = [f"| {' | '.join(row)} |" for row in listed]
    rule = "+" + "-" * (len(lines[0]) - 2) + "+"
    return {f"{tool}.txt": "\n".join([rule, lines[0], rule, *lines[1:], rule]) + "\n"}


def with_commas(tool: str, rows: Rows) -> dict[str, str]:
    listed = [list(rows[0]), *([*row.values()] for row in rows)]
    return {f"{tool}.csv": "\n".join(",".join(row) for row in listed) + "\n"}


def sections(tool: str, rows: Rows) -> dict[str, str]:
    first, *rest = rows[0]
    text = "".join(
        f"{first} {row[first]}:\n" + "".join(f"    {name}: {row[name]}\n" for name in rest)
        for row in rows
    )
    return {f"{tool}.txt": text}


def documents(tool: str, rows: Rows) -> dict[str, str]:
    first, *rest = rows[0]
    whole = {row[first]: {name: row[name] for name in rest} for row in rows}
    return {f"{tool}.json": json.dumps(whole)}


def by_host(tool: str, rows: Rows) -> dict[str, str]:
    first, *rest = rows[0]
    return {
        f"hosts/{row[first]}/{tool}.txt": "".join(f"{name} = {row[name]}\n" for name in rest)
        for row in rows
    }


WRITERS = (aligned, barred, with_commas, sections, documents, by_host)
LETTERS = st.text("bcdfghjklmnpqrstvwxz", min_size=4, max_size=9)


@st.composite
def outputs(draw: st.DrawFn, odd: str) -> tuple[str, list[dict[str, str]], str]:
    """Draw a tool, its rows, and the label of the row that deviates."""
    names = draw(st.lists(LETTERS, min_size=4, max_size=6, unique=True))
    tool, first, *columns = [f"q{one}" for one in names]
    count = draw(st.integers(5, 12))
    words = {one: f"w{draw(LETTERS)}" for one in columns}
    rows = [
        {first: f"unit{number}"} | dict(words.items()) for number in range(count)
    ]  # fmt: skip
    which, column = draw(st.integers(0, count - 1)), columns[-1]
    if odd in {"number", "measured"}:
        base = draw(st.integers(100, 900))
        for number, row in enumerate(rows):
            row[column] = str(base + number % 3 if odd == "measured" else base)
        rows[which][column] = str(base // 3 if draw(st.booleans()) else base * 3)
    elif odd == "word":
        rows[which][column] = f"y{draw(LETTERS)}"
    elif odd == "soft":
        rows[which][column] = draw(st.sampled_from(SOFT))
    elif odd == "bad":
        rows[which][column] = draw(st.sampled_from(BAD))
    return tool, rows, rows[which][first]


def diagnosed(files: Mapping[str, str]) -> Diagnosis:
    with TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return diagnose([Path(folder)])


@pytest.mark.parametrize("write", WRITERS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("odd", ["bad", "soft", "word", "number", "measured"])
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_the_row_that_deviates_is_shown(write: Write, odd: str, data: st.DataObject) -> None:
    tool, rows, label = data.draw(outputs(odd))
    result = diagnosed(write(tool, rows))
    assert result.verdict in {Verdict.UNKNOWN, Verdict.POSSIBLE}, (rows, result.findings)
    first = result.findings[0]
    assert label in " ".join((first.title, *first.entities)), (rows, first)
    assert first.confidence == "low"


@pytest.mark.parametrize("write", WRITERS, ids=lambda one: one.__name__)
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_rows_that_agree_are_silence(write: Write, data: st.DataObject) -> None:
    tool, rows, _ = data.draw(outputs("none"))
    assert not diagnosed(write(tool, rows)).findings


@settings(max_examples=10, deadline=None)
@given(st.sampled_from(BAD), LETTERS, LETTERS)
def test_one_bad_word_is_never_no_problem(word: str, tool: str, name: str) -> None:
    result = diagnosed({f"q{tool}.txt": f"q{tool} 1.2.3\nq{name}: {word}\nversion: 1.2.3\n"})
    assert result.verdict is not Verdict.NONE


@pytest.mark.parametrize("line", [
    "2031-01-02T03:04:05Z frobd[77]: error: cannot open the widget",
    "E0102 03:04:05.000 77 widget.cc:12] request failed",
    "frobctl: FATAL: lease lost",
    "WidgetError: peer not reachable",
])  # fmt: skip
def test_an_error_line_of_an_unknown_tool_beside_a_known_output(
    tmp_path: Path, line: str
) -> None:
    (tmp_path / "uname.txt").write_text("Linux n1 6.8.0-40-generic #40 SMP x86_64 GNU/Linux\n")
    (tmp_path / "frobd.log").write_text(f"frobd starts\n{line}\n")
    assert diagnose([tmp_path]).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("size", [3, 4, 8])
@settings(max_examples=20, deadline=None)
@given(odd=st.data(), usual=st.floats(20, 900))
def test_the_odd_cell_of_a_matrix_is_named_and_an_even_one_is_quiet(size, odd, usual):
    """All pairs by number, as p2pBandwidthLatencyTest and nvbandwidth print them."""
    pairs = [(a, b) for a in range(size) for b in range(size) if a != b]
    one = odd.draw(st.sampled_from(pairs))

    def text(value):
        rows = [" ".join(f"{number:6d}" for number in range(size))]
        for a in range(size):
            cells = (
                2500.0 if a == b else value if (a, b) == one else usual for b in range(size)
            )
            rows.append(f"{a} " + " ".join(f"{cell:8.2f}" for cell in cells))
        return "Bandwidth matrix (GB/s)\n" + "\n".join(rows) + "\n"

    found = diagnosed({"p2p.txt": text(usual / 4)}).findings
    assert any(f"{one[0]} to {one[1]}/" in one_of.title for one_of in found)
    assert not diagnosed({"p2p.txt": text(usual)}).findings
