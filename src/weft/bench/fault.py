"""What a fault is to the judge: a change of the cluster or the library that makes a curve."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from weft import plugins
from weft.bench import faults
from weft.bench.expected import Setting
from weft.sources import Kind, Source, Sourced
from weft.spec.cluster import Cluster

_AMOUNTS: Final = 9
"""Of a fault that comes in every amount; the error of its cost covers what lies between."""
SOURCES: Final = {
    "threads": Source(
        key="threads",
        kind=Kind.ESTIMATE,
        title=(
            "Judgement from what public threads on slow nccl-tests name as their cause; only "
            "the order of the weights is meant"
        ),
        url="https://github.com/NVIDIA/nccl/issues",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One form of a fault: how much of it, and the cluster that has it."""

    label: str
    """In words, as ``4 of 8 NICs``."""
    cluster: Cluster
    factors: Mapping[str, float] = field(default_factory=dict)
    """Fitted constants of the model that it multiplies, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One fault that the judge knows the shape of."""

    title: str
    weight: Sourced
    """How often it is the cause beside the other faults, before the curve is looked at."""
    check: str
    """What to look at, to be sure."""
    variants: Callable[[Setting], Iterable[Variant]] = lambda _: ()
    """Its forms on a setting; none where it cannot be there."""
    amount: Callable[[Setting, float], Variant | None] | None = None
    """Its form of an amount from 0 (slight) to 1 (heavy), where it comes in every amount."""
    command: str = ""
    """The next command to run."""
    likeness: str = ""
    """What else looks like it in a sweep, and how to tell them apart."""
    shows: Mapping[str, str] = field(default_factory=dict)
    """What each check of checks/ finds under it; nothing odd where it is not named."""
    causes: frozenset[str] = frozenset()
    """Causes of the doctor's that are this fault."""

    def forms(self, setting: Setting) -> Iterator[Variant]:
        """Yield its forms on a setting: those there are, or amounts evenly apart."""
        yield from self.variants(setting)
        if self.amount is not None:
            found = (self.amount(setting, place / (_AMOUNTS - 1)) for place in range(_AMOUNTS))
            yield from (one for one in found if one is not None)


@cache
def all_faults() -> tuple[tuple[str, Fault], ...]:
    """Return every fault by name."""
    return tuple((name, plugins.load(faults, name, Fault)) for name in plugins.names(faults))


def crosses(setting: Setting) -> bool:
    """Tell whether a sweep leaves the scale-up domain, so that NICs matter."""
    return setting.group.domains > 1


def with_env(cluster: Cluster, **values: str) -> Cluster:
    """Return a cluster with variables of the library set."""
    return cluster.with_(nccl=cluster.nccl.with_(env={**cluster.nccl.env, **values}))
