"""Slurm: topology.conf, so that jobs are placed on neighbouring hosts."""

from collections.abc import Iterator

from weft.generate import names
from weft.generate.plan import Feature, Plan
from weft.generate.target import Files, Proof, Target, header
from weft.network.network import layout


def _files(plan: Plan) -> Files:
    yield "topology.conf", "\n".join([header(plan, "topology.conf"), *_lines(plan)]) + "\n"


def _lines(plan: Plan) -> Iterator[str]:
    """Yield units of hosts on the same leaves, pods of units, and what joins the pods."""
    network, hosts = layout(plan.cluster), plan.cluster.hosts
    units = _ranges(0, hosts, network.hosts_per_unit)
    yield "# a unit is the hosts that hang on the same leaves, one leaf a rail"
    for number, (first, stop) in enumerate(units):
        yield f"SwitchName={_one('unit', number)} Nodes={names.hosts_list(first, stop, hosts)}"
    if len(units) == 1:
        return
    pods = _pods(units, network.hosts_per_pod)
    for number, (first, stop) in enumerate(pods):
        yield f"SwitchName={_one('pod', number)} Switches={_listed('unit', first, stop)}"
    if len(pods) > 1:
        yield f"SwitchName=fabric Switches={_listed('pod', 0, len(pods))}"


def _ranges(first: int, stop: int, size: int) -> list[tuple[int, int]]:
    return [(start, min(start + size, stop)) for start in range(first, stop, size)]


def _pods(units: list[tuple[int, int]], hosts_per_pod: int) -> list[tuple[int, int]]:
    """Return the ranges of units that make a pod."""
    per_pod = max(1, hosts_per_pod // (units[0][1] - units[0][0]))
    return _ranges(0, len(units), per_pod)


def _listed(stem: str, first: int, stop: int) -> str:
    """Return a range of switches as Slurm writes it."""
    return _one(stem, first) if stop - first == 1 else f"{stem}[{first:04d}-{stop - 1:04d}]"


def _one(stem: str, number: int) -> str:
    return f"{stem}{number:04d}"


slurm = Target(
    title="Slurm: topology.conf for topology/tree",
    supports=frozenset(Feature) - {Feature.RACK},
    files=_files,
    proofs={"topology.conf": Proof.SOFTWARE},
)
