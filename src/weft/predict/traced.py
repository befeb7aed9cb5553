"""A traced job as flows that wait for one another, and what a placement of several gives."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weft.engines.flow.solver import Ends, Flows, Uses, complete
from weft.network.graph import Floats, Ints
from weft.results import Estimate
from weft.spec.cluster import Cluster
from weft.traffic.collective import Group
from weft.traffic.recorded import Instance, Recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """The jobs under one placement; times are of one step, by job."""

    placement: str
    step_s: tuple[Estimate, ...]
    alone_s: tuple[Estimate, ...]
    """Without the other jobs."""
    gain_ratio: tuple[float, ...]
    """Of the step under the first placement: how much shorter it is here."""


@dataclass(frozen=True)
class Run:
    """A traced job as flows: one a span, one a collective, one where each rank leaves it."""

    job: Recorded

    @cached_property
    def instance_flows(self) -> Ints:
        """Number of the flow of every collective."""
        return len(self.job.nodes) + np.arange(len(self.job.instances))

    @cached_property
    def done(self) -> Ints:
        """By node: the flow whose end is its end."""
        found = np.arange(len(self.job.nodes))
        at = len(self.job.nodes) + len(self.job.instances)
        for instance in self.job.instances:
            for member in instance.members:
                found[member] = at
                at += 1
        return found

    @cached_property
    def flows(self) -> int:
        """All flows."""
        members = sum(len(instance.members) for instance in self.job.instances)
        return len(self.job.nodes) + len(self.job.instances) + members

    @cached_property
    def pairs(self) -> Ints:
        """Rows of (before, after)."""
        rows = [
            (self.done[before], at)
            for at, node in enumerate(self.job.nodes) for before in node.after
        ]  # fmt: skip
        for flow, instance in zip(self.instance_flows, self.job.instances, strict=True):
            rows += [(member, flow) for member in instance.starters]
            for member in instance.members:
                rows += [(flow, self.done[member]), (member, self.done[member])]
        return np.array(rows, np.int64).reshape(-1, 2)

    @cached_property
    def lasting_s(self) -> Floats:
        """By flow: what it takes on any network; collectives 0."""
        found = np.zeros(self.flows)
        for at, node in enumerate(self.job.nodes):
            found[at] = node.lag_s + (0.0 if node.span.call else node.span.length_s)
        for instance in self.job.instances:
            found[self.done[list(instance.members)]] = instance.later_s
        return found

    def replayed(self, collective_s: Floats) -> Ends:
        """Return when everything begins and ends if collectives take these times."""
        delay = self.lasting_s.copy()
        delay[self.instance_flows] = collective_s
        nothing = Uses(start=np.zeros(self.flows + 1, np.int64), links=np.zeros(0, np.int64))
        return complete(
            np.ones(1),
            Flows(uses=nothing, size_bytes=np.zeros(self.flows), delay_s=delay,
                  predecessor=self.pairs),
        )  # fmt: skip


def group_of(instance: Instance, job: Recorded, cluster: Cluster) -> Group:
    """Return where the ranks of a collective sit on a cluster that the job fills in order."""
    each = cluster.gpus_per_domain
    hosts = sorted({rank // each for rank in instance.ranks})
    inside = -(-len(instance.ranks) // len(hosts))
    return Group(
        ranks=len(instance.ranks), ranks_per_domain=inside,
        neighbours=max(1, min(each, job.ranks) // inside),
        stride=hosts[1] - hosts[0] if len(hosts) > 1 else 1,
    )  # fmt: skip
