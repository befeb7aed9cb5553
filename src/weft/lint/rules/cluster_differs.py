"""The files are for another fabric than the cluster document says.

What it checks: the fabric of the document against what is configured: a subnet manager on
Ethernet, PFC on InfiniBand, networks of pods of the other kind; speeds of ports against the
rate of the NIC.
Why it matters: a file of another cluster came along; applying it changes what runs.
What to do: remove it, or correct the document.
References: weft, cluster document (fabric.kind, host.nic_bytes_per_s).
"""

from weft import units
from weft.lint.facts import Fact, Mark, Network, Partition, Pause, Port, Side
from weft.lint.rule import Case, Found, Layer, Rule, Severity, problem


def _check(case: Case) -> Found:
    if case.cluster is None:  # several documents: nobody can say whose files these are
        return
    kind = case.fabric
    if case.on_ethernet:
        alien: list[Fact] = [*case.options("opensm")[:1], *case.of(Partition)[:1]]
        alien += [n for n in case.of(Network) if n.kind in {"SriovIBNetwork", "IPoIBNetwork"}][
            :1
        ]
    elif kind == "infiniband":
        alien = [*[one for one in case.of(Pause) if one.priorities][:1]]
        alien += [n for n in case.of(Network) if n.kind in {"SriovNetwork", "MacvlanNetwork"}][
            :1
        ]
        alien += case.of(Mark)[:1]
    else:
        alien = []
    for one in alien:
        yield problem(
            [one, case.cluster],
            f"this is not for {kind}, which the cluster document says",
            "remove it, or correct fabric.kind",
        )
    rate = units.gbit_from_rate(case.cluster.cluster.host.nic_bytes_per_s)
    names = {switch.name for switch in case.switches} | case.absent
    slow = [
        one
        for switch in case.switches
        for one in switch.of(Port)
        if one.peer
        and one.peer not in names
        and one.speed_gbit
        and one.speed_gbit < rate
        and case.cluster.cluster.topology.planes == 1
    ]
    if slow:
        yield problem(
            [slow[0], case.cluster],
            f"{len(slow)} ports to hosts run at "
            f"{slow[0].speed_gbit:g} Gb/s, and the NICs at {rate:g}",
            "correct the one that is wrong",
            severity=Severity.WARNING,
        )


cluster_differs = Rule(
    layer=Layer.FILES,
    severity=Severity.ERROR,
    reference="https://github.com/linux-rdma/opensm",
    check=_check,
    needs=(Side.CLUSTER,),
)
