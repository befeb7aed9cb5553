"""Whatever stands in a file, the linter does not fall over, and shows lines that are there."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from weft.lint.lint import lint_texts
from weft.lint.text import Text
from weft.readers.untrusted import MOST_NODES

SAMPLES = Path(__file__).parents[1] / "samples" / "lint"
FILES = sorted(path for path in SAMPLES.rglob("*") if path.is_file())
JUNK = (
    "", "0", "-1", "9" * 30, "0-999999999", "[0-999999999]", "[]", "{}", "null", ":", '"', "'",
    "$X", "0x", "||", "{{x}}", "=", "^", "\t", "to", "::", "a,b",
)  # fmt: skip


@st.composite
def broken(draw):
    """Draw a sample file with some of its words and lines changed."""
    path = draw(st.sampled_from(FILES))
    lines = path.read_text("utf-8").splitlines()
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(lines) - 1))
        words = lines[place].split(" ")
        word = draw(st.integers(0, len(words) - 1))
        words[word] = draw(st.sampled_from(JUNK))
        change = draw(st.sampled_from(("word", "line", "twice", "cut")))
        if change == "word":
            lines[place] = " ".join(words)
        elif change == "line":
            lines[place] = draw(st.sampled_from(JUNK))
        elif change == "twice":
            lines.insert(place, lines[place])
        else:
            lines[place] = lines[place][: draw(st.integers(0, len(lines[place])))]
    return path.name, "\n".join(lines)


@given(broken())
@settings(max_examples=150, deadline=None)
def test_a_broken_file_is_read_and_findings_point_into_it(file):
    name, content = file
    result = lint_texts([Text(name=name, content=content)])
    count = max(1, len(content.splitlines()))
    for one in result.findings:
        assert all(1 <= place.line <= count for place in one.evidence)
        assert all(place.column >= 1 for place in one.evidence)


@given(st.text(max_size=200), st.sampled_from([path.name for path in FILES]))
@settings(max_examples=100, deadline=None)
def test_any_text_under_any_name_is_read(content, name):
    lint_texts([Text(name=name, content=content)])


def test_an_expansion_of_aliases_stops():
    """Each line ten times the one above it: 10^9 entries in ten lines."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    for number in range(1, 10):
        row = ", ".join([f"*a{number - 1}"] * 10)
        lines.append(f"a{number}: &a{number} [{row}]")
    result = lint_texts([Text(name="bomb.yaml", content="\n".join(lines))])
    assert [one.rule for one in result.findings] == ["broken_document"]
    assert MOST_NODES < 10**6


def test_a_topology_that_declares_entities_is_refused():
    text = '<!DOCTYPE x [<!ENTITY a "aaaa">]>\n<system version="1"><cpu numaid="0"/></system>\n'
    result = lint_texts([Text(name="topology.xml", content=text)])
    assert [one.rule for one in result.findings] == ["broken_document"]
