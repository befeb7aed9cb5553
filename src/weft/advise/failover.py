"""Until traffic flows again after a link or a switch of the network fails, by fabric.

Switches, or senders that know several paths, need a time to take other links; what was sent
meanwhile is lost, and a sender that hears nothing of it waits for its timer. All ranks of a
collective wait with it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from weft.network import fabric
from weft.network.fabric import Fabric
from weft.network.network import resolve
from weft.results import Estimate
from weft.spec.cluster import Cluster

ACK_S: Final = 4.096e-6
"""Unit of the local ACK timeout, of which NCCL_IB_TIMEOUT is the logarithm. [IBTA]"""
NEVER: Final = 32
"""Logarithms from here on, and 0, switch the timer off."""
RETRIES: Final = 7
"""Of a packet before its connection ends in an error: NCCL_IB_RETRY_CNT."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailOver:
    """What a fabric needs to carry traffic again, and what is lost."""

    title: str
    reroutes_s: Estimate
    """Until packets take other links."""
    resends_s: Estimate
    """Until senders send again what was lost; 0 where that is in the above."""
    patience_s: float | None
    """Longer than that without an answer ends the job; none: nothing ends it so soon."""
    sources: tuple[str, ...]
    """Titles of what the times were read from."""

    @property
    def until_s(self) -> Estimate:
        """Until traffic flows again."""
        first, then = self.reroutes_s, self.resends_s
        return Estimate(first.value + then.value, first.low + then.low, first.high + then.high)

    @property
    def may_end_the_job(self) -> bool:
        """Whether other links may come later than senders wait."""
        return self.patience_s is not None and self.reroutes_s.high > self.patience_s


def fail_over(cluster: Cluster) -> FailOver | None:
    """Return the fail-over of a cluster's fabric, by its variables; none if not published."""
    return _fail_over(resolve(cluster).fabric, cluster.nccl.env)


def every_fail_over() -> Iterator[FailOver]:
    """Yield the fail-over of every fabric of which one is published, by NCCL's defaults."""
    for name in fabric.names():
        found = _fail_over(fabric.find(name), {})
        if found is not None:
            yield found


def _fail_over(kind: Fabric, env: Mapping[str, str]) -> FailOver | None:
    reroutes, resends = kind.fail_over_s, kind.resend_s
    if reroutes is None:
        return None
    keys = (*reroutes.sources, *(resends.sources if resends else ()))
    timer_s = _timer_s(kind, env)
    return FailOver(
        title=kind.title,
        reroutes_s=Estimate(reroutes.value, reroutes.low, reroutes.high),
        resends_s=timer_s,
        patience_s=timer_s.value * (RETRIES + 1) if resends and kind.rdma else None,
        sources=tuple(kind.source(key).title for key in keys),
    )


def _timer_s(kind: Fabric, env: Mapping[str, str]) -> Estimate:
    """Return what senders wait for answers; with verbs NCCL may be told the timer."""
    known = kind.resend_s
    if known is None:
        return Estimate(0.0, 0.0, 0.0)
    asked = env.get("NCCL_IB_TIMEOUT", "")
    times = 1.0
    if kind.rdma and asked.isdecimal() and 0 < int(asked) < NEVER:
        times = ACK_S * 2 ** int(asked) / known.value
    return Estimate(known.value * times, known.low * times, known.high * times)
