"""A collective operation, with the dependencies of its algorithm."""

from collections.abc import Sequence

import numpy as np

from weft import plugins
from weft.engines.packet.pattern import Pattern
from weft.engines.packet.rounds import add_collective
from weft.engines.packet.schedules import Ints, Work
from weft.spec.scenario import CollectiveStep, CollectiveTraffic
from weft.traffic import collectives
from weft.traffic.collective import Algorithm, Operation

USUAL = {Operation.ALL_TO_ALL: "pairwise", Operation.SEND_RECV: "send_recv"}


def _add(work: Work, one: CollectiveTraffic, rng: np.random.Generator) -> None:
    per_host = one.ranks_per_host or work.fabric.cluster.host.gpus
    add_one(work, one, _gpus(work, one, per_host, rng), per_host)


def add_one(work: Work, one: CollectiveStep, gpus: Sequence[int], per_host: int) -> None:
    """Add one collective over GPUs in rank order, ``per_host`` of them on each host."""
    operation = Operation(one.operation)
    name = one.algorithm or USUAL.get(operation, "ring")
    chosen = plugins.load(collectives, name, Algorithm)
    add_collective(
        work,
        chosen,
        operation,
        gpus,
        one.size_bytes,
        ranks_per_domain=per_host,
        channels=_channels(one, chosen, name, per_host, work.fabric.cluster.host.nics),
        concurrency=one.concurrency,
        pieces=one.pieces,
    )


def _channels(
    one: CollectiveStep, chosen: Algorithm, name: str, per_host: int, nics: int
) -> int:
    """Use every NIC where the ranks of a host do not do so by themselves."""
    if chosen.in_network:
        return 1
    spread = name in {"pairwise", "send_recv", "hierarchical"}
    return one.channels or (nics if per_host > 1 and not spread else 1)


def _gpus(
    work: Work, one: CollectiveTraffic, per_host: int, rng: np.random.Generator
) -> list[int]:
    """Return the GPUs in rank order, host by host."""
    cluster = work.fabric.cluster
    room = (cluster.hosts - one.first_host) * per_host
    ranks = one.ranks or room
    hosts = np.arange(one.first_host, one.first_host + -(-ranks // per_host))
    return placed(work, hosts, one.placement, per_host, rng)[:ranks]


def placed(
    work: Work, hosts: Ints, placement: str, per_host: int, rng: np.random.Generator
) -> list[int]:
    """Return the GPUs of hosts in rank order, the hosts placed as a scenario says."""
    if placement == "shuffled":
        rng.shuffle(hosts)
    elif placement == "scattered":
        network = work.fabric.graph
        leaf = network.leaf_of[hosts * network.layout.site.nics_per_host, 0]
        turn = [int((leaf[:at] == item).sum()) for at, item in enumerate(leaf)]
        hosts = hosts[np.lexsort((leaf, turn))]
    gpus = work.fabric.cluster.host.gpus
    return [host * gpus + gpu for host in hosts.tolist() for gpu in range(per_host)]


collective = Pattern(title="collective operation", add=_add)
