"""How GPUs and NICs of a host are joined."""

from weft.bench.check import Check

gpu_topology = Check(
    title="how GPUs, NICs and CPU sockets of a host are joined",
    command="nvidia-smi topo -m; nvidia-smi nvlink -s; numactl --show",
)
