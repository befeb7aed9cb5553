"""What is wrong does not hang on how a text is handed in.

Every variation is tried on every sample of the rules and on a share of the words of programs,
another share for each. A few of the words need what some variations take: documents as a whole,
a prompt that names the host, the gaps of a table.
"""

from pathlib import Path

import pytest
from tests.samples.test_rules import FIRES, SILENT
from tests.varied_text import VARIATIONS

from weft.doctor.casebook import Kind, cases
from weft.doctor.diagnose import find
from weft.doctor.ranking import rank
from weft.doctor.rule import Severity
from weft.observe.reading import read_text

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
SHARE = 40
"""One of so many words is tried in each variation."""
SHARE_OF_FOLDERS = 3
"""One of so many sound samples and real cases is."""
LEAST_RATIO = 0.9
"""Of words and of real cases of which the same is said."""
PROSE = "README prose"
"""A stamp before each of its lines makes it what it tells of: a log."""


def _files(folder):
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return [
        (path.name, path.read_text())
        for path in found
        if path.name not in {"cause", "case.json"}
    ]


def _words():
    for case in cases(Kind.BY_RULE):
        title = f"{'/'.join(case.causes)} | {case.tool} | {case.shows}"
        if PROSE not in title:
            yield title, list(case.files)


def _share(all_of_them, how, share):
    """Return one of so many, others for each variation."""
    return all_of_them[list(VARIATIONS).index(how) % share :: share]


def _found(files):
    """Return the first cause, and whether anything is called an error."""
    facts = [fact for name, text in files for fact in read_text(text, name)[0]]
    ranked = rank(find(facts))
    named = [one.finding.cause for one in ranked if one.finding.decided]
    rest = [cause for one in ranked for cause in one.finding.causes]
    errors = any(one.finding.severity is Severity.ERROR for one in ranked)
    return next(iter([*named, *rest]), ""), errors


@pytest.fixture(scope="module")
def plain():
    """Answer for texts as they are, each asked once."""
    known = {}

    def answer(name, files):
        if name not in known:
            known[name] = _found(files)
        return known[name]

    return answer


@pytest.mark.parametrize("how", VARIATIONS)
def test_a_rule_names_the_same_cause_however_its_sample_is_handed_in(how, plain):
    changed = {
        f"{folder.parent.name}/{folder.name}": (before[0], after[0])
        for folder in FIRES
        if (before := plain(folder, _files(folder)))[0]  # the rest is known by its opening
        and before[0] != (after := _found(VARIATIONS[how](_files(folder))))[0]
    }
    assert not changed


@pytest.mark.parametrize("how", VARIATIONS)
def test_sound_outputs_raise_no_error_however_they_are_handed_in(how, plain):
    alarmed = [
        folder.parent.name
        for folder in _share(SILENT, how, SHARE_OF_FOLDERS)
        if not plain(folder, _files(folder))[1] and _found(VARIATIONS[how](_files(folder)))[1]
    ]
    assert not alarmed


@pytest.mark.parametrize("how", VARIATIONS)
def test_the_words_of_programs_mean_the_same_however_they_are_handed_in(how, plain):
    tried = _share(list(_words()), how, SHARE)
    changed = []
    for title, files in tried:
        before, after = plain(title, files), _found(VARIATIONS[how](files))
        causes = title.partition("|")[0].strip().split("/")
        same = after[1] <= before[1] if causes == ["-"] else after[0] in {before[0], *causes}
        changed += [] if same else [(title, before, after)]
    assert len(changed) <= (1 - LEAST_RATIO) * len(tried), changed


@pytest.mark.skipif(not CORPUS.is_dir(), reason="no ../shared/corpus beside this checkout")
@pytest.mark.parametrize("how", VARIATIONS)
def test_real_outputs_mean_the_same_however_they_are_handed_in(how, plain):
    every = [path.parent for path in sorted(CORPUS.glob("*/case.json"))]
    cases = _share(every, how, SHARE_OF_FOLDERS)
    changed = [
        (case.name, before, after)
        for case in cases
        if (before := plain(case, _files(case)))[0]
        != (after := _found(VARIATIONS[how](_files(case))))[0]
    ]
    assert len(changed) <= (1 - LEAST_RATIO) * len(cases), changed
