"""Node Health Check: links by rate, and the all-reduce of one node that Azure adds to it."""

from weft.generate.gate import Asked, Gate
from weft.generate.plan import plan

_RDMA = frozenset({"infiniband", "roce"})


def _write(asked: Asked) -> str:
    found = asked.threshold(hosts=1)
    lines = ["# nhc.conf"]
    if asked.cluster.fabric.kind in _RDMA:
        lines.append(f"# the plan has links of {asked.link_gbit} Gb/s on every host")
        lines += [
            f"* || check_hw_ib {asked.link_gbit} {device}:1"
            for device in plan(asked.cluster).names.device_list()
        ]
    lines += [
        f"# {found.derivation(asked.day)}",
        "# check_nccl_allreduce BANDWIDTH REPEATS SIZE is of azurehpc-health-checks",
        f"* || check_nccl_allreduce {found.least_gb_per_s:.1f} 1 8G",
    ]
    return "\n".join(lines) + "\n"


nhc = Gate(
    title="Node Health Check: nhc.conf",
    source="https://github.com/Azure/azurehpc-health-checks",
    write=_write,
)
