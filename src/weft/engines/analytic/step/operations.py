"""Memory-bound operations of a layer: bytes moved and kernels started, by way of running them.

An operation over n elements moves b n bytes and starts k kernels, whichever matrix products
surround it; b and k follow from its definition and from what is fused with it (the rows of
operations.toml)::

    t = sum over operations of (b n / (B r) + k t0)
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from weft.records import table
from weft.spec.workload import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """What one pass moves over one kind of elements."""

    bytes_each: float = 0.0
    """Read and written, per element."""
    kernels: float = 0.0

    def plus(self, other: "Moved") -> "Moved":
        """Add another operation over the same elements."""
        return Moved(
            bytes_each=self.bytes_each + other.bytes_each, kernels=self.kernels + other.kernels
        )


NOTHING: Final = Moved()


@dataclass(frozen=True, slots=True)
class Passes:
    """What the operations of a layer and of the head move, by what they run over."""

    forward: Mapping[str, Moved]
    backward: Mapping[str, Moved]

    def bytes_moved(self, elements: Mapping[str, float]) -> tuple[float, float]:
        """Return the bytes of forward and of backward for so many elements of each kind."""
        return (
            sum(self.forward[over].bytes_each * n for over, n in elements.items()),
            sum(self.backward[over].bytes_each * n for over, n in elements.items()),
        )

    def kernels(self, *overs: str) -> tuple[float, float]:
        """Return the kernels of forward and of backward over some kinds of elements."""
        return (
            sum(self.forward[over].kernels for over in overs),
            sum(self.backward[over].kernels for over in overs),
        )


def passes_of(job: Job, way: str) -> Passes:
    """Return what the operations of a job move when they are run fused, compiled or eager."""
    return _passes(way, is_gated=job.model.gated_ffn, has_fused_norm=job.fused_norm)


@cache
def _passes(way: str, *, is_gated: bool, has_fused_norm: bool) -> Passes:
    holds = {
        "gated" if is_gated else "plain",
        "fused norm" if has_fused_norm else "norm of operations",
    }
    rows: list[dict[str, Any]] = table(__package__, "operations")["operation"]
    forward = {row["over"]: NOTHING for row in rows}
    backward = dict(forward)
    for row in rows:
        if not holds.issuperset(row["when"]):
            continue
        for place, side in enumerate((forward, backward)):
            moved = Moved(
                bytes_each=row["times"] * row[way]["bytes"][place],
                kernels=row["times"] * row[way]["kernels"][place],
            )
            side[row["over"]] = side[row["over"]].plus(moved)
    return Passes(forward, backward)
