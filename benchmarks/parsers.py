"""How fast a debug log of thousands of ranks is read, and in how much memory.

Run: ``python benchmarks/parsers.py [MIB]`` (1024 by default). The log is generated first:
4,096 ranks on 512 hosts, their lines mixed as a shared file mixes them, with the settings,
adapters, topology, rings, trees, channels and traces that ranks print.
"""

import random
import resource
import sys
import tempfile
import time
from pathlib import Path

from weft.observe.bundle import observe

RANKS = 4096
PER_HOST = 8
MIB = 1 << 20
_ONCE = (
    "NCCL version 2.27.3+cuda12.9",
    "Bootstrap: Using bond0:10.4.{high}.{low}<0>",
    "NCCL_IB_HCA set by environment to mlx5_0,mlx5_1,mlx5_2,mlx5_3",
    "NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin.",
    (
        "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [2]mlx5_2:1/IB [3]mlx5_3:1/IB [RO]; "
        "OOB bond0:10.4.{high}.{low}<0>"
    ),
    "Using network IB",
    (
        "ncclCommInitRankConfig comm 0x55{rank:08x} rank {rank} nranks 4096 cudaDev {gpu} "
        "nvmlDev {gpu} busId {gpu}b000 commId 0x9c1d0f2a7b3e5d61 - Init START"
    ),
    (
        "comm 0x55{rank:08x} rank {rank} nRanks 4096 nNodes 512 localRanks 8 localRank {gpu} "
        "MNNVL 0"
    ),
    "NET/IB : GPU Direct RDMA Enabled for HCA {gpu} 'mlx5_{gpu}'",
    "=== System : maxBw 48.0 totalBw 480.0 ===",
    "CPU/0-0 (1/2/-1)",
    "+ PCI[48.0] - PCI/0-1a000 (15b3197b15b31979)",
    "              + PCI[48.0] - NIC/0-1b000",
    "                            + NET[50.0] - NET/0-0 (b03c4a0003f4ce00/1/50.0)",
    "              + PCI[48.0] - GPU/0-19000 ({rank})",
    (
        "24 coll channels, 24 collnet channels, 16 nvls channels, 32 p2p channels, "
        "2 p2p channels per peer"
    ),
)
_MANY = (
    "Channel {channel:02d}/0 : {rank}[{gpu}] -> {next}[{gpu}] [send] via NET/IB/{gpu}/GDRDMA",
    (
        "Channel {channel:02d}/0 : {before}[{gpu}] -> {rank}[{gpu}] [receive] via "
        "NET/IB/{gpu}/GDRDMA"
    ),
    "Channel {channel:02d}/0 : {rank}[{gpu}] -> {near}[{other}] via P2P/CUMEM",
    "Trees [0] {near}/-1/-1->{rank}->{before} [1] {near}/{next}/-1->{rank}->-1",
    "proxy.cc:1458 -> 3",
    "Connected to proxy localRank {gpu} -> connection 0x7f{rank:010x}",
    "transport/net.cc:{channel} -> 6 [Progress Thread]",
)


def generate(path: Path, size_bytes: int) -> None:
    """Write a log of about this size."""
    chance = random.Random(1)  # noqa: S311 - a shuffle, no secret
    written = 0
    with path.open("w") as log:
        rounds = 0
        while written < size_bytes:
            ranks = list(range(RANKS))
            chance.shuffle(ranks)
            for rank in ranks:
                written += log.write(_lines(rank, rounds))
            rounds += 1


def _lines(rank: int, rounds: int) -> str:
    host, gpu = divmod(rank, PER_HOST)
    head = f"gpu-node-{host:04d}:{20000 + gpu}:{31000 + gpu} [{gpu}] NCCL INFO "
    fields = {
        "rank": rank,
        "gpu": gpu,
        "high": host // 250,
        "low": host % 250,
        "channel": rounds % 24,
        "next": (rank + PER_HOST) % RANKS,
        "before": (rank - PER_HOST) % RANKS,
        "near": host * PER_HOST + (gpu + 1) % PER_HOST,
        "other": (gpu + 1) % PER_HOST,
    }
    lines = _ONCE if rounds == 0 else _MANY
    return "".join(f"{head}{line.format(**fields)}\n" for line in lines)


def main() -> None:
    """Generate, read, and print seconds and memory."""
    size_mib = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nccl.log"
        generate(path, size_mib * MIB)
        started = time.process_time()
        seen = observe(path)
        took_s = time.process_time() - started
        read_bytes = path.stat().st_size
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    (file,) = seen.files
    print(
        f"{read_bytes / MIB:.0f} MiB, {file.lines} lines in {took_s:.1f} s of one core "
        f"({took_s * 1024 * MIB / read_bytes:.1f} s a GiB), peak {peak_mib:.0f} MiB, "
        f"{len(seen.facts)} facts, {file.unread} lines unread, {file.left_out} left out"
    )


if __name__ == "__main__":
    main()
