"""GCM of Meta: its health check check-nccl, pairwise and on one node, by mean bandwidth."""

from typing import Final

from weft.generate.gate import MIB, Asked, Gate

_SMALLEST: Final = 32 * MIB
_LARGEST: Final = 1024 * MIB
_HOSTS: Final = {"single": 1, "pairwise": 2}


def _write(asked: Asked) -> str:
    lines = [
        "#!/bin/sh",
        "# The threshold is compared with the mean over the sizes 32 MiB to 1 GiB.",
        "# Usage: sh FILE CLUSTER NCCL_TESTS_DIR, and for pairs HOSTLIST",
        "set -e",
    ]
    for how, hosts in _HOSTS.items():
        if hosts > asked.cluster.hosts:
            continue
        found = asked.threshold(hosts=hosts, smallest_bytes=_SMALLEST, largest_bytes=_LARGEST)
        listed = ' --hostlist "$3"' if hosts > 1 else ""
        call = (
            f'health_checks check-nccl --{how}{listed} --nccl-tdir "$2" -p all_reduce '
            f'--nccl-topts "-g 1 -b 32M -e 1G -f 2" '
            f'--critical-threshold {found.least_gb_per_s:.1f} "$1" app'
        )
        lines += [f"# {found.derivation(asked.day)}", call]
    return "\n".join(lines) + "\n"


gcm = Gate(
    title="GCM: calls of check-nccl",
    source="https://facebookresearch.github.io/gcm/docs/GCM_Health_Checks/health_checks/check-nccl",
    write=_write,
)
