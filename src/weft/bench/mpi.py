"""What MPI carried is held against what it says of the fabric, and no more.

A message of MPI costs what its library adds, which no model here has: a range of small
messages that is too slow is no failure of the link. A collective of MPI has algorithms of its
own, on the memory of GPUs or of hosts: if it is as fast as NCCL's should be the fabric is
sound, and if it is not nothing is known.
"""

from collections.abc import Sequence
from dataclasses import replace

from weft.bench.sweep import Sweep
from weft.bench.verdict import Outcome, RangeVerdict
from weft.engines.analytic.collective.spread import bucket

_COST = "what MPI adds to a message is not modelled; perftest measures the link without it"
_CHOICE = "MPI chooses its own algorithms, whose curve is not that of NCCL"
COLLECTIVE = (
    "how MPI carries this collective (its algorithms, and whether its buffers are on GPUs): it "
    "is slower than NCCL should be; nccl-tests decides, or an own good run (--good RUN)"
)


def allowed(sweep: Sweep, ranges: Sequence[RangeVerdict]) -> list[RangeVerdict]:
    """Return the verdicts by range, where what MPI itself costs is no failure."""
    if not sweep.by_mpi:
        return list(ranges)
    collective = sweep.what == "collective"
    reason = _CHOICE if collective else _COST
    return [
        replace(verdict, outcome=Outcome.INCONCLUSIVE, reason=reason, repeats=None)
        if verdict.outcome is not Outcome.PASS and (collective or verdict.name == "small")
        else verdict
        for verdict in ranges
    ]


def explained(sweep: Sweep) -> Sweep:
    """Return the part of a sweep whose shape says something of the fabric."""
    if not sweep.by_mpi:
        return sweep
    large = tuple(timing for timing in sweep.timings if bucket(timing.size_bytes) != "small")
    return replace(sweep, timings=large if sweep.what != "collective" else ())


def unknown(sweep: Sweep, ranges: Sequence[RangeVerdict]) -> tuple[str, ...]:
    """Say what a verdict on a collective of MPI hangs on."""
    slow = any(verdict.outcome is not Outcome.PASS for verdict in ranges)
    return (COLLECTIVE,) if sweep.by_mpi and sweep.what == "collective" and slow else ()
