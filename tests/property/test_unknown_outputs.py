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


def by_shell(tool: str, rows: Rows) -> dict[str, str]:
    """One output of many hosts, as pdsh and clush write it."""
    first, *rest = rows[0]
    lines = [f"{row[first]}: {name} = {row[name]}\n" for row in rows for name in rest]
    return {f"{tool}.txt": "".join(lines)}


def in_settings(tool: str, rows: Rows) -> dict[str, str]:
    first, *rest = rows[0]
    lines = [
        " ".join([row[first], *(f"{name}={row[name].replace(' ', '_')}" for name in rest)])
        for row in rows
    ]
    return {f"{tool}.txt": "\n".join(lines) + "\n"}


def in_steps(tool: str, rows: Rows) -> dict[str, str]:
    """Several readings of every row in one table."""
    lines = [",".join(["step", *rows[0]])]
    lines += [",".join([f"{step}", *row.values()]) for step in range(3) for row in rows]
    return {f"{tool}.csv": "\n".join(lines) + "\n"}


WRITERS = (
    aligned, barred, with_commas, sections, documents, by_host, by_shell, in_settings, in_steps,
)  # fmt: skip
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
    assert result.verdict is not Verdict.NONE, (rows, result.findings)
    first = result.findings[0]
    assert label in " ".join((first.told, *first.entities)), (rows, first)
    assert first.confidence != "high"


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
    assert diagnose([tmp_path]).verdict in {Verdict.UNKNOWN, Verdict.PROBLEM}


@pytest.mark.parametrize("label", ["{}", "node-{}"])
@pytest.mark.parametrize("size", [3, 4, 8])
@settings(max_examples=20, deadline=None)
@given(odd=st.data(), usual=st.floats(20, 900))
def test_the_odd_cell_of_a_matrix_is_named_and_an_even_one_is_quiet(size, label, odd, usual):
    """All pairs by number or name, as nvbandwidth and scripts around ib_write_bw print them."""
    names = [label.format(number) for number in range(size)]
    pairs = [(a, b) for a in names for b in names if a != b]
    pair = odd.draw(st.sampled_from(pairs))

    def text(value):
        rows = [" ".join(f"{name:>8}" for name in names)]
        for a in names:
            cells = (2500.0 if a == b else value if (a, b) == pair else usual for b in names)
            rows.append(f"{a} " + " ".join(f"{cell:8.2f}" for cell in cells))
        return "Bandwidth matrix (GB/s)\n" + "\n".join(rows) + "\n"

    found = diagnosed({"p2p.txt": text(usual / 4)}).findings
    assert any(f"{pair[0]} to {pair[1]}/" in finding.told for finding in found)
    assert not diagnosed({"p2p.txt": text(usual)}).findings


@pytest.mark.parametrize("change", ["lost", "more"])
@settings(max_examples=12, deadline=None)
@given(word=LETTERS, kept=LETTERS, hosts=st.integers(4, 9), lines=st.integers(1, 4))
def test_lines_that_one_host_has_not_or_has_more_of(change, word, kept, hosts, lines):
    """As next hops of a route, members of a group, lines of a configuration."""

    def files(other):
        return {
            f"hosts/unit{host}/q{word}.txt": "".join(
                [f"q{kept} begins\n", *(f"  q{word} 10.{host}.{n}.2 via p{n}\n" for n in
                                       range(other if host == 1 else lines))]
            )
            for host in range(hosts)
        }  # fmt: skip

    found = diagnosed(files(lines - 1 if change == "lost" else lines + 1)).findings
    assert "unit1" in " ".join((found[0].told, *found[0].entities))
    assert not diagnosed(files(lines)).findings


@settings(max_examples=12, deadline=None)
@given(size=st.integers(5, 12), odd=st.data(), name=LETTERS)
def test_two_columns_that_are_equal_but_in_one_row(size, odd, name):
    """As the NUMA node of a GPU and of the processors that a rank is bound to."""
    row = odd.draw(st.integers(0, size - 1))

    def text(other):
        lines = [f"unit  q{name}a  q{name}b"]
        for n in range(size):
            left, right = n * 2 // size, other if n == row and other is not None else None
            lines.append(f"u{n}  w{left}  w{left if right is None else right}")
        return "\n".join(lines) + "\n"

    found = diagnosed({f"q{name}.txt": text(7)}).findings
    assert f"u{row}/" in " ".join((found[0].told, *found[0].entities))
    assert not diagnosed({f"q{name}.txt": text(None)}).findings
