"""What must hold of the time of any collective on any cluster."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from weft.catalogue.fitting import switches_for
from weft.engines.analytic.collective import collective_time
from weft.network import fabric
from weft.spec.cluster import Cluster, FabricChoice, Host, Nccl, ScaleUp
from weft.traffic.collective import Group, Operation

GPUS = {
    "a100_sxm_80": (300e9, False), "h100_sxm": (450e9, True), "b200": (900e9, True),
    "mi300x": (448e9, False),
}  # fmt: skip


@st.composite
def situations(draw):
    gpu = draw(st.sampled_from(sorted(GPUS)))
    up, reduces = GPUS[gpu]
    hosts = draw(st.sampled_from([1, 2, 3, 4, 8, 33, 256, 2048]))
    per_host = draw(st.sampled_from([1, 2, 4, 8])) if hosts > 1 else 8
    neighbours = draw(st.sampled_from([1, 8 // per_host]))
    kind = draw(st.sampled_from(fabric.names()))
    fastest = max(fabric.find(kind).usual_switches)
    rates = [rate for rate in (12.5e9, 25e9, 50e9) if rate <= fastest]
    cluster = Cluster.model_construct(
        hosts=hosts,
        host=Host.model_construct(
            gpu=gpu, gpus=8, nic="", nics=draw(st.sampled_from([1, 4, 8])),
            nic_bytes_per_s=draw(st.sampled_from(rates)),
            scale_up=ScaleUp.model_construct(
                kind="xgmi" if gpu == "mi300x" else "nvlink", gpus=8, bytes_per_s=up,
                in_network_reduction=reduces,
            ),
        ),
        fabric=FabricChoice(kind=kind),
        nccl=Nccl(version=draw(st.sampled_from(["2.18.3", "2.23.4", "2.27.3", "2.30.7"]))),
    )  # fmt: skip
    group = Group(ranks=hosts * per_host, ranks_per_domain=per_host, neighbours=neighbours)
    return cluster, draw(st.sampled_from(sorted(Operation))), group


def bound_bytes_per_s(cluster: Cluster, operation: Operation, group: Group) -> float:
    """Return a bus bandwidth that no algorithm can exceed."""
    inside = 2 * cluster.host.scale_up.bytes_per_s
    if group.domains == 1:
        return inside
    local = group.ranks_per_domain
    net = cluster.host.nics * cluster.host.nic_bytes_per_s
    if operation is Operation.ALL_TO_ALL:
        return net / local * (group.ranks - 1) / (group.ranks - local)
    return 2 * net


@settings(deadline=None, max_examples=150)
@given(situations(), st.integers(3, 34))
def test_busbw_never_exceeds_the_physical_bound(situation, power):
    cluster, operation, group = situation
    answer = collective_time(cluster, operation, 2**power, group)
    assert answer.busbw_bytes_per_s <= 1.0001 * bound_bytes_per_s(cluster, operation, group)
    assert answer.time_s.low <= answer.time_s.value <= answer.time_s.high


@settings(deadline=None, max_examples=100)
@given(situations(), st.integers(3, 33))
def test_twice_the_size_never_takes_less_time(situation, power):
    cluster, operation, group = situation
    small, large = (
        collective_time(cluster, operation, size, group).time_s.value
        for size in (2**power, 2 ** (power + 1))
    )
    assert large >= small * (1 - 1e-9)


@settings(deadline=None, max_examples=100)
@given(situations(), st.integers(20, 33))
def test_faster_nics_are_never_slower_for_one_algorithm(situation, power):
    """The library may choose worse on better NICs; what it runs may not grow slower."""
    cluster, operation, group = situation
    assume(cluster.hosts <= 8)  # Faster ports are fewer, so many hosts get further apart.
    env = {"NCCL_ALGO": "Ring", "NCCL_PROTO": "Simple"}
    cluster = cluster.with_(nccl=Nccl(env=env))
    rate = cluster.host.nic_bytes_per_s
    assume(switches_for(cluster.fabric.kind, 2 * rate))
    better = cluster.with_(host=cluster.host.with_(nic_bytes_per_s=2 * rate))
    before, after = (
        collective_time(c, operation, 2**power, group).time_s.value for c in (cluster, better)
    )
    assert after <= before * (1 + 1e-9)
