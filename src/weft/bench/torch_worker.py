"""One rank of a benchmark of torch.distributed; it needs PyTorch and nothing of weft.

    python3 torch_worker.py OPERATION BACKEND SMALLEST LARGEST FACTOR ITERATIONS WARMUP HOST

MASTER_ADDR and MASTER_PORT are in the environment, and RANK, WORLD_SIZE and LOCAL_RANK or what
Slurm and Open MPI call them; an empty HOST is asked of the system. Rank 0 writes one JSON
document: for each size the time of every iteration, on the slowest rank.
"""

import json
import os
import socket
import sys
import time
from collections.abc import Mapping
from typing import Any

FLOAT_BYTES = 4


PLACES = {
    "RANK": ("SLURM_PROCID", "OMPI_COMM_WORLD_RANK"),
    "WORLD_SIZE": ("SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE"),
    "LOCAL_RANK": ("SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK"),
}


def place(environment: Mapping[str, str]) -> dict[str, str]:
    """Return which rank this is, as PyTorch wants it, from what a launcher says.

    >>> place({"OMPI_COMM_WORLD_RANK": "3"})
    {'RANK': '3'}
    """
    found: dict[str, str] = {}
    for name, others in PLACES.items():
        said = [environment[text] for text in (name, *others[::-1]) if text in environment]
        found |= {name: said[0]} if said else {}
    return found


def sizes(smallest: int, largest: int, factor: float) -> list[int]:
    """Return the sizes of a sweep: whole floats, a constant factor apart."""
    found, size = [], float(max(smallest, FLOAT_BYTES))
    while size <= largest:
        found.append(int(size) // FLOAT_BYTES * FLOAT_BYTES)
        size *= max(factor, 1.01)
    return found


def call(torch: Any, operation: str, size: int, ranks: int, device: Any) -> Any:  # noqa: ANN401
    """Return a function that runs one collective on buffers made beforehand."""
    dist = torch.distributed
    count = max(1, size // FLOAT_BYTES)
    whole = torch.zeros(count, device=device)
    part = torch.zeros(max(1, count // ranks), device=device)
    rank = dist.get_rank()
    if operation == "all_gather":
        parts = [torch.zeros_like(part) for _ in range(ranks)]
        return lambda: dist.all_gather(parts, part)
    if operation == "reduce_scatter":
        return lambda: dist.reduce_scatter_tensor(part, whole[: part.numel() * ranks])
    if operation == "alltoall":
        target = torch.zeros(part.numel() * ranks, device=device)
        return lambda: dist.all_to_all_single(target, whole[: part.numel() * ranks])
    if operation == "broadcast":
        return lambda: dist.broadcast(whole, 0)
    if operation == "sendrecv":
        into = torch.zeros_like(whole)
        return lambda: [
            work.wait()
            for work in dist.batch_isend_irecv([
                dist.P2POp(dist.isend, whole, (rank + 1) % ranks),
                dist.P2POp(dist.irecv, into, (rank - 1) % ranks),
            ])
        ]  # fmt: skip
    return lambda: dist.all_reduce(whole)


def measure(torch: Any, run: Any, rounds: tuple[int, int], device: Any) -> list[float]:  # noqa: ANN401
    """Return the time of every iteration on the slowest rank."""
    iterations, warmup = rounds
    dist = torch.distributed
    taken = []
    for place in range(warmup + iterations):
        dist.barrier()
        began = time.perf_counter()
        run()
        if device.type == "cuda":
            torch.cuda.synchronize()
        if place >= warmup:
            taken.append(time.perf_counter() - began)
    slowest = torch.tensor(taken, dtype=torch.float64, device=device)
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
    return [float(item) for item in slowest]


def main() -> None:
    """Run the sweep; rank 0 prints what was measured."""
    import torch  # noqa: PLC0415 - the far host has it

    operation, backend, smallest, largest, factor, iterations, warmup, host = sys.argv[1:9]
    os.environ.update(place(os.environ))
    host = host or socket.gethostname()
    torch.set_num_threads(1)
    local = int(os.environ.get("LOCAL_RANK", "0"))
    device = torch.device("cuda", local) if backend == "nccl" else torch.device("cpu")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    dist = torch.distributed
    dist.init_process_group(backend)
    ranks = dist.get_world_size()
    hosts: list[Any] = [None] * ranks
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
    dist.all_gather_object(hosts, (host, name))
    results = []
    for size in sizes(int(smallest), int(largest), float(factor)):
        run = call(torch, operation, size, ranks, device)
        times = measure(torch, run, (int(iterations), int(warmup)), device)
        results.append({"size_bytes": size, "times_s": times})
        if dist.get_rank() == 0:
            sys.stderr.write(f"weft-progress {size} of {largest}\n")
            sys.stderr.flush()
    if dist.get_rank() == 0:
        document = {
            "weft_bench": 1, "benchmark": "torch.distributed", "backend": backend,
            "version": torch.__version__, "operation": operation, "ranks": ranks,
            "nccl": ".".join(map(str, torch.cuda.nccl.version())) if backend == "nccl" else "",
            "devices": [{"rank": r, "host": h, "gpu": g} for r, (h, g) in enumerate(hosts)],
            "results": results,
        }  # fmt: skip
        sys.stdout.write(json.dumps(document) + "\n")
        sys.stdout.flush()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
