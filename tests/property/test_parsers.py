"""No text makes a parser fail: cut anywhere, mixed with any other, or made of anything."""

import random
import time
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.observe.parser import Source
from weft.observe.reading import all_parsers, read_text

ROOT = Path(__file__).parents[2]
CORPUS = ROOT.parent / "shared" / "corpus"
SAMPLES = sorted((ROOT / "tests" / "samples" / "parsers").glob("*/*/input.txt"))
EVERY_BYTES = 211
MOST_S = 5.0
"""Of processor time: an expression that tries every way takes minutes, not a second."""


def _corpus() -> list[Path]:
    files = CORPUS.glob("*/*") if CORPUS.is_dir() else ()
    return sorted(f for f in files if f.is_file() and f.name != "case.json")


needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="there is no corpus beside us")


@cache
def _lines() -> tuple[str, ...]:
    return tuple(line for path in SAMPLES for line in path.read_text().splitlines())


def _stays_within(text: str) -> None:
    lines = text.count("\n") + 1
    assert all(1 <= fact.evidence.line <= lines for fact in read_text(text, "cut.txt"))


@needs_corpus
def test_a_text_of_the_corpus_may_be_cut_at_any_line():
    for path in _corpus():
        lines = path.read_text(errors="replace").splitlines(keepends=True)
        for end in range(len(lines) + 1):
            _stays_within("".join(lines[:end]))


@needs_corpus
def test_a_text_of_the_corpus_may_be_cut_at_any_byte():
    """All bytes would take minutes: every 211th here, from another first byte each file."""
    chance = random.Random(4)  # noqa: S311 - no secret
    for path in _corpus():
        raw = path.read_bytes()
        for end in range(chance.randrange(EVERY_BYTES), len(raw), EVERY_BYTES):
            read_text(raw[:end].decode(errors="replace"), path.name)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: "/".join(p.parts[-3:-1]))
def test_a_sample_may_be_cut_at_any_byte(path):
    text = path.read_text()
    for end in range(0, len(text), 53):
        _stays_within(text[:end])


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_outputs_may_be_mixed_line_by_line(data):
    lines = data.draw(st.lists(st.sampled_from(_lines()), max_size=40))
    _stays_within("\n".join(lines))


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_a_line_may_be_damaged_anywhere(data):
    line = data.draw(st.sampled_from(_lines()))
    place = data.draw(st.integers(0, len(line)))
    other = data.draw(st.sampled_from(_lines()))
    junk = data.draw(st.text(max_size=20).filter(lambda text: "\n" not in text))
    read_text(
        f"{line[:place]}{junk}{line[place:]}\n{line[place:]}{other[:place]}\n", "junk.txt"
    )


@given(st.binary(max_size=2000))
@settings(max_examples=100, deadline=None)
def test_bytes_of_any_kind_are_read_or_skipped(raw):
    read_text(raw.decode("latin-1"), "noise.bin")


HOSTILE = (
    "a" * 60_000,
    " " * 60_000,
    "0" * 60_000,
    "[" * 5_000,
    '{"a":' * 3_000,
    '"' * 30_000,
    "\\" * 30_000,
    "x=1," * 15_000,
    "1 " * 30_000,
    "-- " * 20_000,
    "1/-1/-1->0->-1 " * 4_000,
)


@pytest.mark.parametrize("name", [name for name, _ in all_parsers()])
def test_no_line_takes_a_parser_long(name):
    """Each mark before and after text that expressions could try in too many ways."""
    parser = dict(all_parsers())[name]
    if parser.reader is None:
        return
    reader = parser.reader(Source("hostile.txt"))
    for mark in parser.marks[:8]:
        for one in HOSTILE:
            for line in (f"{mark}{one}", f"{one[:1000]}{mark}{one}"):
                began = time.process_time()
                reader.take(line[: parser.longest], 1)
                assert time.process_time() - began < MOST_S
    tuple(reader.end())
