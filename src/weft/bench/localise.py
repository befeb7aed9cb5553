"""Which part is slow: the next tests that tell most, and what the results say.

A part is a host (its NIC, slot and cable), the uplinks of a leaf, or the path between two
hosts. A test runs between some hosts, a pair as a rule, and is slow if it touches a faulty
part: a path where both of its hosts take part, so tests of groups send from each host to each.
At most two parts are faulty, or one path; the prior of a part is the same for all of its kind.
With r the rate of a test over that of a healthy one::

    healthy: log r ~ N(0, noise)        faulty: log r ~ U(log LEAST_LEFT, log MOST_LEFT)

Where nobody says what a sound test shows, every rate from the best one seen upwards is as
likely: one test alone says nothing. Nor do tests that are alike and all go through one part,
which may leave the same of each.

The next test is the one whose outcome is least foreseen, so that it removes most doubt: with p
the chance that it is slow and e that it misleads, the gain is H(p(1-e) + (1-p)e) - H(e) bits.
"""

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from weft.errors import SpecError

Floats = NDArray[np.float64]
NOISE_RATIO: Final = 0.05
"""Spread of healthy pair tests. Published perftest runs of one machine lie within 2 %, TCP
within 5 %: the wider is taken."""
LEAST_LEFT: Final = 0.02
MOST_LEFT: Final = 0.9
"""What a faulty part leaves of the rate: between a fiftieth and nine tenths."""
SURE: Final = 0.95
"""Probability at which a part is named and tests end."""
_NONE, _ONE, _TWO, _PATH = 0.2, 0.7, 0.05, 0.05
"""Prior of no faulty part, one, two, and one path: somebody looks as a collective was slow."""
_LEAF_WEIGHT: Final = 0.5
"""Uplinks of a leaf against a host: it has spare uplinks, a host's NIC has none."""
_MISLED: Final = 0.02
"""Chance that one outcome misleads, for the gain."""
_MOST_FOR_TWO: Final = 96
"""Parts up to which pairs of faulty parts are looked at."""
_FEWEST_FOR_PATHS, _MOST_FOR_PATHS = 3, 256
"""Hosts from which on, and up to which, paths are looked at: 32,640 of them at most."""
_SHOWN_PATH: Final = 0.02
"""Probability from which on a path is listed."""
_RANDOM_GROUPS: Final = 64
_RANDOM_SHARES: Final = (0.3, 0.5, 0.7, 0.85)
"""Shares of the suspects in groups drawn at random: a path is in half of those of 0.7."""
_LEAST_GAIN: Final = 1e-3
_MOST_TESTS: Final = 200
_MOST_HOSTS_IN_PAIRS: Final = 64
_TAIL: Final = 3.0
_STEPS_PER_NOISE: Final = 2.0
"""How finely the unknown rate of a sound test is looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The hosts, and the leaf of each where it is known."""

    hosts: tuple[str, ...]
    leaf_of: Mapping[str, str] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[str, ...]:
        """Hosts, then uplinks of leaves where there are several."""
        leaves = tuple(dict.fromkeys(self.leaf_of.values()))
        uplinks = tuple(f"uplinks of {leaf}" for leaf in leaves) if len(leaves) > 1 else ()
        return (*self.hosts, *uplinks)

    def touches(self, hosts: Sequence[str]) -> frozenset[str]:
        """Return the parts that a test between hosts goes through."""
        leaves = {self.leaf_of[host] for host in hosts if host in self.leaf_of}
        far = {f"uplinks of {leaf}" for leaf in leaves} if len(leaves) > 1 else set()
        return frozenset((*hosts, *far))


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One test that was run."""

    hosts: tuple[str, ...]
    bytes_per_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect:
    """A part, and how probable it is that it is faulty."""

    part: str
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NextTest:
    """A test that would tell much."""

    hosts: tuple[str, ...]
    gain_bits: float
    slow_probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Localisation:
    """What is known of where the fault is, and what to test next."""

    layout: Layout
    outcomes: tuple[Outcome, ...]
    expected_bytes_per_s: float | None
    """Of a sound test: as given, or the best that was seen."""
    expected_given: bool
    suspects: tuple[Suspect, ...]
    """Every part, the most probable first; of paths the probable ones alone."""
    none_probability: float
    named: tuple[str, ...]
    """Parts that are faulty with SURE or more."""
    settled: bool
    next: tuple[NextTest, ...]
    commands: tuple[str, ...] = ()
    all_pairs: int
    """Tests that trying every pair would take."""


@dataclass(frozen=True, slots=True)
class _Belief:
    """Hypotheses as rows of truth about the parts, and the probability of each."""

    parts: tuple[str, ...]
    faulty: NDArray[np.bool_]
    paths: NDArray[np.int64]
    """Places of the two hosts of each path; these hypotheses follow those of parts."""
    weights: Floats

    def slow(self, layout: Layout, hosts: Sequence[str]) -> NDArray[np.bool_]:
        """Tell under which hypotheses a test is slow."""
        touches = self._touches(layout, [hosts])[0]
        of_parts = np.any(self.faulty[:, touches], axis=1)
        return np.concatenate((of_parts, touches[self.paths].all(axis=1)))

    def chances(self, layout: Layout, tests: Sequence[Sequence[str]]) -> Floats:
        """Return how probable it is that each of many tests is slow."""
        touches = self._touches(layout, tests).astype(float)
        between = np.zeros((len(self.parts), len(self.parts)))
        between[self.paths[:, 0], self.paths[:, 1]] = self.of_paths
        by_part = self.weights[: len(self.faulty)] @ (self.faulty @ touches.T > 0)
        by_path = ((touches @ between) * touches).sum(axis=1)
        found: Floats = np.clip(by_part + by_path, 0.0, 1.0)
        return found

    def _touches(self, layout: Layout, tests: Sequence[Sequence[str]]) -> NDArray[np.bool_]:
        """Return which parts each test goes through: a row a test."""
        place = {part: number for number, part in enumerate(self.parts)}
        found = np.zeros((len(tests), len(self.parts)), dtype=bool)
        for row, hosts in enumerate(tests):
            found[row, [place[part] for part in layout.touches(hosts)]] = True
        return found

    @property
    def of_parts(self) -> Floats:
        """Return how probable it is that each part is faulty."""
        return self.weights[: len(self.faulty)] @ self.faulty

    @property
    def of_paths(self) -> Floats:
        """Return how probable it is that each path is faulty."""
        return self.weights[len(self.faulty) :]

    @property
    def doubts(self) -> Floats:
        """Return how probable it is that each part, or a path that ends there, is faulty."""
        ends = np.bincount(
            self.paths.ravel(), np.repeat(self.of_paths, 2), minlength=len(self.parts)
        )
        return self.of_parts + ends

    def suspects(self) -> Iterator[Suspect]:
        """Yield every part and the probable paths."""
        for part, probability in zip(self.parts, self.of_parts, strict=True):
            yield Suspect(part=part, probability=float(probability))
        for place in (self.of_paths > _SHOWN_PATH).nonzero()[0]:
            one, two = (self.parts[end] for end in self.paths[place])
            name = f"path between {one} and {two}"
            yield Suspect(part=name, probability=float(self.of_paths[place]))


def localise(
    layout: Layout,
    outcomes: Sequence[Outcome] = (),
    *,
    expected_bytes_per_s: float | None = None,
    at_once: bool = False,
    largest_group: int = 2,
    noise_ratio: float = NOISE_RATIO,
) -> Localisation:
    """Say which part is faulty, how probably, and which tests to run next.

    With ``at_once`` as many tests as have no host in common are planned for one round; a group
    larger than 2 allows tests of more hosts at a time (a collective), which halve the suspects.
    """
    _check(layout, outcomes)
    best = expected_bytes_per_s or max(
        (outcome.bytes_per_s for outcome in outcomes), default=None
    )
    sound = _sound_logs(expected_bytes_per_s, outcomes, noise_ratio)
    belief = _after(_prior(layout), layout, outcomes, sound, noise_ratio)
    suspects = tuple(sorted(belief.suspects(), key=lambda suspect: -suspect.probability))
    none = float(belief.weights[0])
    named = tuple(suspect.part for suspect in suspects if suspect.probability >= SURE)
    settled = bool(named) or none >= SURE
    tests = () if settled else _next(layout, belief, outcomes, at_once, largest_group)
    return Localisation(
        layout=layout, outcomes=tuple(outcomes), expected_bytes_per_s=best,
        expected_given=expected_bytes_per_s is not None, suspects=suspects,
        none_probability=none, named=named, settled=settled or not tests, next=tests,
        all_pairs=len(layout.hosts) * (len(layout.hosts) - 1) // 2,
    )  # fmt: skip


def _check(layout: Layout, outcomes: Iterable[Outcome]) -> None:
    if len(layout.hosts) < 2:  # noqa: PLR2004 - a pair
        raise SpecError("two hosts or more are needed; name them with --hosts")
    if len(set(layout.hosts)) != len(layout.hosts):
        raise SpecError("a host is named twice")
    strange = {host for outcome in outcomes for host in outcome.hosts} - set(layout.hosts)
    if strange:
        raise SpecError(f"results name {', '.join(sorted(strange))}, which is not among hosts")


def _prior(layout: Layout) -> _Belief:
    parts = layout.parts
    own = np.array([1.0 if part in layout.hosts else _LEAF_WEIGHT for part in parts])
    own /= own.sum()
    count = len(parts)
    identity = np.eye(count, dtype=bool)
    rows = [np.zeros((1, count), dtype=bool), identity]
    weights = [np.array([_NONE]), _ONE * own]
    if count <= _MOST_FOR_TWO:
        first, second = np.triu_indices(count, 1)
        joint = own[first] * own[second]
        rows.append(identity[first] | identity[second])
        weights.append(_TWO * joint / joint.sum())
    hosts = len(layout.hosts)
    known = _FEWEST_FOR_PATHS <= hosts <= _MOST_FOR_PATHS
    paths = np.array([*itertools.combinations(range(hosts), 2)] if known else [], dtype=int)
    weights.append(np.full(len(paths), _PATH / max(1, len(paths))))
    whole = np.concatenate(weights)
    return _Belief(parts, np.concatenate(rows), paths.reshape(-1, 2), whole / whole.sum())


def _sound_logs(
    given: float | None, outcomes: Sequence[Outcome], noise_ratio: float
) -> tuple[float, ...]:
    """Return the logarithms that the rate of a sound test may have, all as likely."""
    if given is not None:
        return (math.log(given),)
    best = math.log(max((_rate(outcome) for outcome in outcomes), default=1.0))
    lowest, highest = best - _TAIL * noise_ratio, best - math.log(LEAST_LEFT)
    steps = math.ceil((highest - lowest) / noise_ratio * _STEPS_PER_NOISE)
    return tuple(lowest + (highest - lowest) * step / steps for step in range(steps + 1))


def _rate(one: Outcome) -> float:
    return max(one.bytes_per_s, 1e-9)


def _after(
    belief: _Belief,
    layout: Layout,
    outcomes: Sequence[Outcome],
    sound: Sequence[float],
    noise_ratio: float,
) -> _Belief:
    """Weigh the hypotheses by the outcomes, over every rate that a sound test may have."""
    if not outcomes:
        return belief
    slow = np.stack([belief.slow(layout, outcome.hosts) for outcome in outcomes], axis=1)
    ratios = [[math.log(_rate(outcome)) - log for log in sound] for outcome in outcomes]
    if_slow = np.array([[_log_slow(ratio, noise_ratio) for ratio in row] for row in ratios])
    if_sound = np.array([[_log_sound(ratio, noise_ratio) for ratio in row] for row in ratios])
    logs = slow @ (if_slow - if_sound) + if_sound.sum(axis=0)
    if len(sound) > 1:
        is_one = np.concatenate(
            (belief.faulty.sum(axis=1) == 1, np.ones(len(belief.paths), dtype=bool))
        )
        through_one = slow.all(axis=1) & is_one
        alike = np.logaddexp(logs, if_sound.sum(axis=0)) - math.log(2)
        logs = np.where(through_one[:, None], alike, logs)
    logs += np.log(belief.weights)[:, None]
    weights = np.exp(logs - logs.max()).sum(axis=1)
    return replace(belief, weights=weights / weights.sum())


def _log_sound(ratio: float, noise: float) -> float:
    return -0.5 * (ratio / noise) ** 2 - math.log(noise * math.sqrt(2 * math.pi))


def _log_slow(ratio: float, noise: float) -> float:
    """Return the log density of a rate under a fault: even, with ends blurred by noise."""
    low, high = math.log(LEAST_LEFT), math.log(MOST_LEFT)
    inside = _normal((ratio - low) / noise) - _normal((ratio - high) / noise)
    return math.log(max(inside / (high - low), 1e-12))


def _normal(value: float) -> float:
    return 0.5 * math.erfc(-value / math.sqrt(2))


def _next(
    layout: Layout,
    belief: _Belief,
    outcomes: Sequence[Outcome],
    at_once: bool,  # noqa: FBT001 - private
    largest_group: int,
) -> tuple[NextTest, ...]:
    done = Counter(frozenset(outcome.hosts) for outcome in outcomes)
    tests = [*_possible(layout, belief, largest_group)]
    chances = belief.chances(layout, tests).tolist() if tests else []
    # The same test again tells less: part of what misled it is still there.
    found = [
        NextTest(
            hosts=hosts, gain_bits=0.5 ** done[frozenset(hosts)] * gain_bits(slow),
            slow_probability=slow,
        )
        for hosts, slow in zip(tests, chances, strict=True)
    ]  # fmt: skip
    chosen: list[NextTest] = []
    taken: set[str] = set()
    for next_test in sorted(found, key=lambda test: (-round(test.gain_bits, 9), test.hosts)):
        if next_test.gain_bits < _LEAST_GAIN or (chosen and not at_once):
            break
        if taken.isdisjoint(next_test.hosts):
            chosen.append(next_test)
            taken |= set(next_test.hosts)
    return tuple(chosen)


def gain_bits(slow: float) -> float:
    """Return the doubt that a test removes, by the chance that it is slow.

    >>> gain_bits(0.5) > gain_bits(0.1) > gain_bits(0.0) == 0.0
    True
    """
    seen = slow * (1 - _MISLED) + (1 - slow) * _MISLED
    return max(0.0, _entropy(seen) - _entropy(_MISLED))


def _entropy(p: float) -> float:
    return 0.0 if p in (0.0, 1.0) else -p * math.log2(p) - (1 - p) * math.log2(1 - p)


def _possible(layout: Layout, belief: _Belief, largest_group: int) -> Iterable[tuple[str, ...]]:
    """Yield the tests to choose from: pairs, and where allowed halves of the suspects."""
    doubts = dict(zip(belief.parts, belief.doubts.tolist(), strict=True))
    by_doubt = sorted(layout.hosts, key=lambda host: -doubts[host])
    shown = by_doubt
    if len(by_doubt) > _MOST_HOSTS_IN_PAIRS:  # the least suspected are alike: a few will do
        shown = [*by_doubt[: _MOST_HOSTS_IN_PAIRS - 8], *by_doubt[-8:]]
        yield from zip(by_doubt[::2], by_doubt[1::2], strict=False)
    yield from itertools.combinations(shown, 2)
    largest = min(largest_group, len(by_doubt))
    for size in range(3, largest + 1, 1 + largest // _MOST_HOSTS_IN_PAIRS):
        yield tuple(by_doubt[:size])
        yield tuple(by_doubt[: 2 * size : 2])
    if largest_group > 2:  # noqa: PLR2004 - more than pairs
        suspected = [text for text in by_doubt if doubts[text] > _LEAST_GAIN / len(by_doubt)]
        yield from _drawn(suspected, largest_group)


def _drawn(suspected: Sequence[str], largest: int) -> Iterator[tuple[str, ...]]:
    """Yield groups of suspects at random: they part the paths, which no order does."""
    chance = random.Random(len(suspected))  # noqa: S311 - choice of tests, no secret
    for share in _RANDOM_SHARES:
        size = min(largest, round(share * len(suspected)))
        for _ in range(_RANDOM_GROUPS // len(_RANDOM_SHARES)):
            if size >= 2:  # noqa: PLR2004 - a pair
                yield tuple(sorted(chance.sample(suspected, size)))


Measure = Callable[[tuple[str, ...]], float]
"""Runs one test between hosts and returns its rate in bytes per second."""


def search(
    plan: Callable[[Sequence[Outcome]], Localisation], measure: Measure
) -> tuple[Localisation, int]:
    """Plan, measure and plan again until a part is named; return the rounds as well.

    ``plan`` is ``localise`` on a layout.
    """
    outcomes: list[Outcome] = []
    for rounds in itertools.count():
        found = plan(outcomes)
        if found.settled or len(outcomes) >= _MOST_TESTS:
            return found, rounds
        outcomes += [
            Outcome(hosts=test.hosts, bytes_per_s=measure(test.hosts)) for test in found.next
        ]
    raise AssertionError
