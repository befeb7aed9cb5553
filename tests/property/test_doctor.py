"""No outputs make the doctor fail: cut anywhere, or mixed from any tools' lines."""

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.doctor.diagnose import find
from weft.doctor.ranking import rank
from weft.observe.reading import read_text

SAMPLES = Path(__file__).parents[1] / "samples"
CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
TEXTS = sorted(
    path
    for folder in ("parsers", "rules")
    for path in (SAMPLES / folder).glob("*/*/*")
    if path.is_file() and path.name not in {"expected.json", "cause"}
)


@cache
def _lines() -> tuple[str, ...]:
    return tuple(line for path in TEXTS for line in path.read_text().splitlines())


def _diagnosed(text: str) -> None:
    facts, _ = read_text(text, "cut.txt")
    for one in rank(find(facts)):
        assert 0 < one.finding.confidence_ratio < 1
        rivals = {s.cause: s.confidence_ratio for s in one.finding.suspects}
        rivals[one.finding.cause] = one.finding.confidence_ratio
        assert sum(rivals.values()) <= 1 + 1e-9
        assert one.finding.evidence
        assert one.finding.cause


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_a_sample_may_end_at_any_byte(data):
    raw = data.draw(st.sampled_from(TEXTS)).read_bytes()
    end = data.draw(st.integers(0, len(raw)))
    _diagnosed(raw[:end].decode(errors="replace"))


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_outputs_of_all_tools_may_be_mixed(data):
    lines = data.draw(st.lists(st.sampled_from(_lines()), max_size=60))
    _diagnosed("\n".join(lines))


@pytest.mark.skipif(not CORPUS.is_dir(), reason="there is no corpus beside us")
@given(st.data())
@settings(max_examples=60, deadline=None)
def test_a_text_of_the_corpus_may_end_at_any_byte(data):
    files = sorted(f for f in CORPUS.glob("*/*") if f.is_file() and f.name != "case.json")
    raw = data.draw(st.sampled_from(files)).read_bytes()
    start = data.draw(st.integers(0, len(raw)))
    end = data.draw(st.integers(start, len(raw)))
    _diagnosed(raw[start:end].decode(errors="replace"))
