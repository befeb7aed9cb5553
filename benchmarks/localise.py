"""How many tests find the faulty part, against trying every pair.

    python benchmarks/localise.py [--trials N] [--large N]

One host, the uplinks of one leaf (8 hosts) or the path between two hosts are slow by a factor
drawn as localise assumes, noise of 5 % on every test. Pairs one after the other, pairs at once
(rounds), and groups. Then groups among 232 hosts: NVIDIA's NVCRE states 22 to 57 tests
of staged group testing there.
"""

import argparse
import itertools
import math
import random
from functools import partial
from statistics import fmean

from weft.bench.localise import LEAST_LEFT, MOST_LEFT, NOISE_RATIO, Layout, localise, search

LARGE = 232


def trial(
    draw: random.Random, hosts: int, *, at_once: bool, group: int, path: bool = False
) -> tuple[int, int, bool]:
    """Hide a fault, look for it; return tests, rounds, and whether the right part was named."""
    names = tuple(f"h{place}" for place in range(hosts))
    leaf_of = {name: f"leaf{place // 8}" for place, name in enumerate(names)}
    layout = Layout(hosts=names, leaf_of=leaf_of if hosts > 8 else {})  # noqa: PLR2004
    faulty = draw.choice(layout.parts)
    ends = draw.choice([*itertools.combinations(names, 2)]) if path else ()
    right = "path between {} and {}".format(*ends) if path else faulty
    left = math.exp(draw.uniform(math.log(LEAST_LEFT), math.log(MOST_LEFT * 0.9)))

    def measure(asked: tuple[str, ...]) -> float:
        slow = set(ends) <= set(asked) if path else faulty in layout.touches(asked)
        return (left if slow else 1.0) * math.exp(draw.gauss(0, NOISE_RATIO)) * 1e10

    plan = partial(
        localise, layout, expected_bytes_per_s=1e10, at_once=at_once, largest_group=group
    )
    found, rounds = search(plan, measure)
    return len(found.outcomes), rounds, found.named[:1] == (right,)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--large", type=int, default=20)
    asked = parser.parse_args()
    draw = random.Random(1)  # noqa: S311 - a study
    heads = ("one by one", "right", "at once", "rounds", "right", "groups", "right")
    print(f"{'hosts':>6} {'all pairs':>10}", *(f"{head:>10}" for head in heads))
    for hosts in (4, 8, 16, 32, 64):
        cells = []
        for at_once, group in ((False, 2), (True, 2), (False, hosts)):
            found = [
                trial(draw, hosts, at_once=at_once, group=group) for _ in range(asked.trials)
            ]
            cells.append([fmean(column) for column in zip(*found, strict=True)])
        one, many, groups = cells
        tests = f"{one[0]:>10.1f} {one[2]:>10.0%} {many[0]:>10.1f} {many[1]:>10.1f}"
        rest = f"{many[2]:>10.0%} {groups[0]:>10.1f} {groups[2]:>10.0%}"
        print(f"{hosts:>6} {hosts * (hosts - 1) // 2:>10}", tests, rest)
    for path in (False, True):
        found = [
            trial(draw, LARGE, at_once=False, group=LARGE, path=path)
            for _ in range(asked.large)
        ]
        tests = [one[0] for one in found]
        what = "one path" if path else "one host or leaf"
        print(f"{LARGE} hosts, {what}: {fmean(tests):.1f} tests, {max(tests)} at most,",
              f"right in {fmean(one[2] for one in found):.0%}")  # fmt: skip


if __name__ == "__main__":
    main()
