"""All ways to spread a job over a machine, prepared once and timed on any network.

What a network changes of a step are the times of the collectives that leave a domain. The
rest is worked out once for each way; the step with nothing but collectives inside the domain
is a bound from below, so on a good network few ways have to be timed at all.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf

from weft.engines.analytic.collective import collective_time
from weft.engines.analytic.step.model import Collective, Prepared, prepare
from weft.spec.cluster import Cluster, FabricChoice, Prices, Reliability, TopologyChoice
from weft.spec.workload import Job
from weft.traffic.collective import Group, Operation
from weft.traffic.demand import Demand


@dataclass(frozen=True, slots=True, kw_only=True)
class Timed:
    """A way to run a job, and its step on one network."""

    job: Job
    step_s: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ways:
    """Ways to run one job on one machine."""

    prepared: tuple[Prepared, ...]
    floors_s: tuple[float, ...]
    """The step of each if the network between domains took no time."""
    inside_s: dict[tuple[Operation, float, Group], float]
    """Collectives that stay in a domain, which no network changes."""

    def fastest(
        self,
        cluster: Cluster,
        *,
        collective: Collective = collective_time,
        floors_s: Sequence[float] = (),
    ) -> Timed:
        """Return the fastest way on a network.

        ``floors_s`` are the steps of the same ways on a network that is no slower: ways whose
        floor is above the best found are not timed.
        """
        floors = floors_s or self.floors_s
        best_s, found = inf, 0
        for place in sorted(range(len(self.prepared)), key=lambda i: floors[i]):
            if floors[place] > best_s:
                break
            step_s = self._step_s(self.prepared[place], cluster, collective)
            if step_s < best_s or (step_s == best_s and place < found):
                best_s, found = step_s, place
        return Timed(job=self.prepared[found].job, step_s=best_s)

    def steps_s(
        self, cluster: Cluster, collective: Collective = collective_time
    ) -> tuple[float, ...]:
        """Return the step of every way on a network."""
        return tuple(self._step_s(way, cluster, collective) for way in self.prepared)

    def floor_s(self, way: Prepared, cluster: Cluster) -> float:
        """Return the step of a way if nothing that leaves a domain took any time."""
        times = [
            0.0 if demand.group.domains > 1 else self._total_s(demand, cluster, collective_time)
            for demand in way.wanted
        ]
        return sum(way.parts_s(times).values())

    def _step_s(self, way: Prepared, cluster: Cluster, collective: Collective) -> float:
        times = [self._total_s(demand, cluster, collective) for demand in way.wanted]
        return sum(way.parts_s(times).values())

    def _total_s(self, demand: Demand, cluster: Cluster, collective: Collective) -> float:
        key = demand.operation, demand.size_bytes, demand.group
        if demand.group.domains > 1:
            return collective(cluster, *key).time_s.value * demand.calls
        if key not in self.inside_s:
            self.inside_s[key] = collective(cluster, *key).time_s.value
        return self.inside_s[key] * demand.calls


class Machine:
    """A cluster that compares by all that no network changes: a key of caches."""

    def __init__(self, cluster: Cluster) -> None:
        """Keep the cluster, and what it is compared by."""
        self.cluster, self._key = cluster, _without_network(cluster)
        self._hash = hash(self._key)

    def __hash__(self) -> int:
        """Hash the machine."""
        return self._hash

    def __eq__(self, other: object) -> bool:
        """Compare the machine."""
        return isinstance(other, Machine) and other._key == self._key


def _without_network(cluster: Cluster) -> Cluster:
    host = cluster.host.with_(
        server="", nic="", nics=0, nic_bytes_per_s=1.0, pcie_bytes_per_s=None, gpudirect=True
    )
    return cluster.with_(
        name="", host=host, fabric=FabricChoice(kind=""), storage_fabric=None,
        topology=TopologyChoice(), prices=Prices(), reliability=Reliability(),
        kubernetes=None, site_power_limit_w=None,
    )  # fmt: skip


def ways_of(cluster: Cluster, jobs: Iterable[Job]) -> Ways:
    """Prepare some resolved jobs on the machine of a cluster."""
    inside: dict[tuple[Operation, float, Group], float] = {}
    prepared = tuple(prepare(cluster, job) for job in jobs)
    without = Ways(prepared=prepared, floors_s=(), inside_s=inside)
    return replace(without, floors_s=tuple(without.floor_s(way, cluster) for way in prepared))
