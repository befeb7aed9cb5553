"""What a claim is: something that practitioners write, put to the test on one case."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from weft.advise.case import Case, Row
from weft.advise.consideration import Number
from weft.advise.flip import Flip
from weft.advise.spread import Spread

ARTICLES: Final = {
    "K": "InfiniBand vs Ethernet for AI on Kubernetes (Kubernetes Recipes, L. Berton)",
    "P": "InfiniBand vs RoCE v2 for AI training (engineering guide)",
    "C": "RoCE vs InfiniBand for AI Training Clusters: A Practical Comparison (2026-04-10)",
    "L": "InfiniBand vs Ethernet for AI (Lilly Tech Systems, AI Hardware track)",
    "E": "High-Performance Networking for GPU Clusters: InfiniBand vs. Ethernet (EPOKA)",
}


class Outcome(StrEnum):
    """What the test of a claim can say."""

    HOLDS = "holds"
    FAILS = "does not hold"
    WHEN = "holds only when"
    UNTESTED = "cannot be tested here"


class Evidence(StrEnum):
    """What stands behind a verdict."""

    COMPUTED = "computed by the analytic engine"
    ASSUMED = "assumption, not simulated"
    ARITHMETIC = "arithmetic"
    COUNTED = "counted in the catalogue"
    SIMULATED = "simulated packet by packet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What came of a test."""

    outcome: Outcome
    reasons: tuple[str, ...]
    condition: str = ""
    """When it holds, for "holds only when"."""
    numbers: tuple[Number, ...] = ()
    evidence: Evidence = Evidence.COMPUTED


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a claim is tested on."""

    case: Case
    flips: Mapping[str, Flip]
    spreads: Mapping[str, Spread]
    packets: bool = False
    """Whether the user asked for packets: what needs a simulation may take the time."""

    def spread(self, name: str) -> Spread:
        """Return what is unknown of a fabric; no width where it cannot be built here."""
        none = Spread(name=name, slow_ratio=1.0, fast_ratio=1.0)
        return self.spreads.get(name, none)


def simulated(*rows: Row) -> bool:
    """Say whether the networks of all these rows were simulated packet by packet."""
    return all(row.prediction.packets and row.prediction.packets.said for row in rows)


def told_by_packets(*rows: Row) -> tuple[str, ...]:
    """Return what was simulated for some rows, and what it gave."""
    found = (row.prediction.packets for row in rows)
    return tuple(dict.fromkeys(line for one in found if one for line in one.said))


NEEDS_PACKETS: Final = Verdict(
    outcome=Outcome.UNTESTED,
    reasons=("closed forms know no queues and no pauses; ask with --fidelity packet",),
    evidence=Evidence.ASSUMED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A rule or a claim of the articles, in our own words, and its test."""

    point: str
    """D1 .. P8, as our list of the articles' content numbers it."""
    articles: tuple[str, ...]
    text: str
    test: Callable[[Trial], Verdict]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """A claim with its verdict on this case."""

    claim: str
    point: str
    articles: tuple[str, ...]
    text: str
    verdict: Verdict
