"""One fault in the words of many tools, and the same words where they mean no harm.

A block begins with ``### cause | tool | what``; several causes are allowed with ``/``, and
``-`` stands for a text over which nothing may be called an error. ``@@ name`` begins another
file.
"""

from pathlib import Path

import pytest

from weft.doctor.diagnose import diagnose
from weft.doctor.rule import Severity
from weft.observe.observation import Observation
from weft.observe.reading import read_text

FILES = sorted((Path(__file__).parent / "words").glob("*.txt"))


def _blocks():
    for path in FILES:
        for block in path.read_text().split("### ")[1:]:
            title, _, text = block.partition("\n")
            cause, tool, what = (part.strip() for part in title.split("|"))
            yield pytest.param(cause, text, id=f"{cause}: {tool}: {what}")


def _diagnosed(text):
    read = [
        read_text(part.partition("\n")[2], part.partition("\n")[0])
        for part in f"\n@@ out.txt\n{text}".split("\n@@ ")[1:]
    ]
    facts = tuple(fact for found, _ in read for fact in found)
    return diagnose(Observation(facts=facts, files=tuple(file for _, file in read)))


@pytest.mark.parametrize(("cause", "text"), list(_blocks()))
def test_a_fault_is_known_by_the_words_of_any_tool(cause, text):
    diagnosis = _diagnosed(text)
    if cause == "-":
        errors = [
            one.finding.message
            for one in diagnosis.findings
            if one.finding.severity is Severity.ERROR
        ]
        assert not errors
    else:
        assert diagnosis.causes[:1]
        assert diagnosis.causes[0] in cause.split("/")
