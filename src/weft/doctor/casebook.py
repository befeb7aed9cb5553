"""What outputs a fault was seen in before, and which of those a text reads like.

The casebook (``doctor/cases``) holds outputs of which the cause is known, and sound ones, all
in words of our own. A text is held against each by the words that both have, and a word counts
as much as it tells of the cause: what is learned of the cause C from reading the word w
(Kullback and Leibler 1951), counts smoothed with ``PRIOR_CASES`` cases of the usual mixture::

    I(w) = sum over c of P(c|w) ln(P(c|w) / P(c)),  P(c|w) = (n_cw + a P(c)) / (n_w + a)
    likeness(t, s) = sum of I(w) over shared w / (|t| |s|),         |x|^2 = sum of I(w) over x

which is the cosine of the two sets of words, a word weighted with the root of I. The
``NEAREST`` cases vote for their causes with the square of their likeness (Dudani 1976,
distance-weighted nearest neighbours). The texts have half of the votes as wholes, and half by
their lines, of which often one alone decides. A cause's share of all votes is how probable it
is (how often that is so: ``docs/explanation/how-sure-the-doctor-is.md``).
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from heapq import nlargest
from importlib import resources
from statistics import fmean

SOUND = "-"
"""What stands for the cause of a text in which nothing is wrong."""
NEAREST = 20
PRIOR_CASES = 2.0
_WORD = re.compile(r"[a-z][a-z0-9]+|(?<![\w.:])\d{1,3}(?![\w.:])")


class Kind(StrEnum):
    """The folders of cases: a rule knows the cause, or only the cases that read alike."""

    BY_RULE = "by_rule"
    BY_LIKENESS = "by_likeness"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """An output of which the cause is known: what tool it is of, and what it shows.

    Where it cannot tell some causes apart, ``causes`` has all of them. In a file of cases each
    begins with ``### cause | tool | what it shows``; ``-`` stands for a sound one, ``a/b`` for
    causes not told apart, and a line ``@@ name`` begins another file of the same case.
    """

    causes: tuple[str, ...]
    tool: str
    shows: str
    files: tuple[tuple[str, str], ...]
    """Names and texts."""

    @property
    def words(self) -> frozenset[str]:
        """Return the words of all its files."""
        return frozenset[str]().union(*(words_of(text) for _, text in self.files))


@dataclass(frozen=True, slots=True, kw_only=True)
class Likeness:
    """How probable a cause is by the cases that read alike, the nearest of them first.

    ``nearest_ratio`` is the likeness of the nearest, 1 where it has the same words; ``words``
    are those shared with the cases, with what each counts.
    """

    cause: str
    share_ratio: float
    nearest_ratio: float
    cases: tuple[Case, ...]
    words: dict[str, float]

    def weight(self, line: str) -> float:
        """Return how much the words of a line speak for this cause, a long line the less."""
        words = words_of(line)
        told = math.fsum(self.words.get(word, 0.0) for word in words)
        return told / math.sqrt(1 + len(words))


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text that a case may be known by; long numbers are names.

    >>> sorted(words_of("mlx5_1:1 got status 12 at 10:00:00"))
    ['12', 'at', 'got', 'mlx5', 'status']
    """
    return frozenset(_WORD.findall(text.lower()))


class Casebook:
    """Cases, and an index of them by word."""

    def __init__(self, cases: Iterable[Case]) -> None:
        """Index the cases."""
        self.cases = tuple(cases)
        self._words = [case.words for case in self.cases]
        self._by_word: dict[str, list[int]] = {}
        for number, words in enumerate(self._words):
            for word in words:
                self._by_word.setdefault(word, []).append(number)
        self._counts = self._information()
        once = [self._counts[word] for word, of in self._by_word.items() if len(of) == 1]
        self._unknown = fmean(once) if once else 0.0
        self._lengths = [self._length(words) for words in self._words]

    def _information(self) -> dict[str, float]:
        """Return what each word tells of the cause, in nats."""
        with_word: dict[str, dict[str, float]] = {word: {} for word in self._by_word}
        usual: dict[str, float] = {}
        for case, words in zip(self.cases, self._words, strict=True):
            for cause in case.causes:
                part = 1 / len(case.causes)
                usual[cause] = usual.get(cause, 0.0) + part * len(words)
                for word in words:
                    counts = with_word[word]
                    counts[cause] = counts.get(cause, 0.0) + part
        total = sum(usual.values())
        usual = {cause: count / total for cause, count in usual.items()}
        return {word: _information(counts, usual) for word, counts in with_word.items()}

    def _length(self, words: Iterable[str]) -> float:
        """Return the length of a set of words; an unknown one counts as those of one case."""
        # fsum: words of a set come in another order in each run, and the sum must not show it.
        return math.sqrt(math.fsum(self._counts.get(word, self._unknown) for word in words))

    def alike(self, texts: Sequence[str], without: Case | None = None) -> tuple[Likeness, ...]:
        """Return the causes of the cases that texts read like, the likeliest first.

        A case is left out where the book shall not know it.
        """
        whole = [words_of(text) for text in texts]
        lines = {words_of(line) for text in texts for line in text.split("\n")}
        near: dict[int, float] = {}
        votes: dict[str, float] = defaultdict(float)
        for passages in (whole, sorted(lines, key=sorted)):
            for cause, share in self._shares(passages, near, without).items():
                votes[cause] += share / 2
        seen = frozenset[str]().union(*whole)
        return tuple(
            self._likeness(cause, share, near, seen)
            for cause, share in sorted(votes.items(), key=lambda item: -item[1])
        )

    def _shares(
        self,
        passages: Iterable[frozenset[str]],
        near: dict[int, float],
        without: Case | None,
    ) -> dict[str, float]:
        """Return each cause's share of the votes on passages, and note the nearest cases."""
        votes: dict[str, float] = defaultdict(float)
        for words in passages:
            for number, likeness in self._nearest(words, without):
                causes = self.cases[number].causes
                near[number] = max(near.get(number, 0.0), likeness)
                for cause in causes:
                    votes[cause] += likeness**2 / len(causes)
        total = sum(votes.values())
        return {cause: count / total for cause, count in votes.items()}

    def _nearest(self, words: frozenset[str], without: Case | None) -> list[tuple[int, float]]:
        """Return the cases nearest to a set of words, with their likeness."""
        shared: dict[int, float] = defaultdict(float)
        for word in sorted(words & self._by_word.keys()):
            told = self._counts[word]
            for number in self._by_word[word]:
                shared[number] += told
        length = self._length(words)
        alike = (
            (counts / (length * self._lengths[number]), -number)
            for number, counts in shared.items()
            if counts and self.cases[number] is not without
        )
        return [(-number, likeness) for likeness, number in nlargest(NEAREST, alike)]

    def _likeness(
        self, cause: str, share_ratio: float, near: dict[int, float], seen: frozenset[str]
    ) -> Likeness:
        own = [number for number in near if cause in self.cases[number].causes]
        own.sort(key=lambda number: -near[number])
        words: dict[str, float] = defaultdict(float)
        for number in own:
            for word in self._words[number] & seen:
                words[word] += near[number] * self._counts[word]
        return Likeness(
            cause=cause,
            share_ratio=share_ratio,
            nearest_ratio=near[own[0]],
            cases=tuple(self.cases[number] for number in own),
            words=dict(words),
        )


def _information(counts: Mapping[str, float], usual: Mapping[str, float]) -> float:
    """Return the information of a word seen so often with each cause, in nats.

    A cause that the word was not seen with has what the smoothing gives it.
    """
    whole = sum(counts.values()) + PRIOR_CASES
    unseen = PRIOR_CASES / whole
    rest = 1 - sum(usual[cause] for cause in counts)
    known = (
        (share := (count + PRIOR_CASES * usual[cause]) / whole) * math.log(share / usual[cause])
        for cause, count in counts.items()
    )
    return sum(known) + rest * unseen * math.log(unseen)


@cache
def casebook() -> Casebook:
    """Return all cases that weft comes with."""
    return Casebook(case for kind in Kind for case in cases(kind))


def cases(kind: Kind) -> Iterator[Case]:
    """Yield the cases of a kind, in the order of their files."""
    folder = resources.files("weft.doctor").joinpath("cases", kind)
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        yield from _cases(file.read_text(encoding="utf-8"))


def _cases(text: str) -> Iterator[Case]:
    for block in text.split("### ")[1:]:
        title, _, body = block.partition("\n")
        causes, tool, shows = title.split(" | ", 2)
        parts = (part.partition("\n") for part in f"\n@@ out.txt\n{body}".split("\n@@ ")[1:])
        files = tuple((name, text) for name, _, text in parts if text.strip())
        yield Case(causes=tuple(causes.split("/")), tool=tool, shows=shows, files=files)
