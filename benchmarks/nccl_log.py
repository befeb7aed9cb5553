"""How fast a large NCCL log is diagnosed: python benchmarks/nccl_log.py [MIB] [RANKS]."""

import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import TextIO

MIB = 1 << 20
CHANNELS = 24


def write(stream: TextIO, size_bytes: int, ranks: int) -> None:
    """Write a log as NCCL 2.27 does with NCCL_DEBUG=INFO: most of its lines are channels."""
    hosts = ranks // 8
    for rank in range(ranks):
        front = f"node{rank // 8}:{9000 + rank}:{9900 + rank} [{rank % 8}] NCCL INFO"
        stream.write(
            f"{front} Bootstrap: Using eth0:10.{rank // 2048}.{rank // 8 % 256}.1<0>\n"
            f"{front} Using network IB\n"
            f"{front} comm 0x55d0 rank {rank} nRanks {ranks} nNodes {hosts} localRanks 8 "
            f"localRank {rank % 8} MNNVL 0\n"
        )
    channel = 0
    while stream.tell() < size_bytes:
        for rank in range(ranks):
            front = f"node{rank // 8}:{9000 + rank}:{9900 + rank} [{rank % 8}] NCCL INFO"
            to = (rank + 8) % ranks
            stream.write(
                f"{front} Channel {channel % CHANNELS:02d}/0 : {rank}[{rank % 8}] -> "
                f"{to}[{to % 8}] [send] via NET/IB/{rank % 8}/GDRDMA\n"
                f"{front} Channel {channel % CHANNELS:02d}/0 : {rank}[{rank % 8}] -> "
                f"{(rank + 1) % ranks}[{(rank + 1) % 8}] via P2P/CUMEM\n"
                f"{front} NCCL_IB_HCA set by environment to mlx5.\n"
            )
        channel += 1


def main() -> None:
    """Print the seconds and the memory that one log takes."""
    mib, ranks = (int(one) for one in (*sys.argv[1:], *("256", "4096")[len(sys.argv) - 1 :]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nccl.log"
        with path.open("w") as stream:
            write(stream, mib * MIB, ranks)
        from weft.doctor.diagnose import diagnose  # noqa: PLC0415 - its start is not counted

        begin = time.process_time()
        result = diagnose([path])
        took_s = time.process_time() - begin
        peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{mib} MiB, {ranks} ranks: {took_s:.1f} s, {mib / took_s:.0f} MiB/s, "
              f"peak {peak_mib:.0f} MiB, {result.verdict}")  # fmt: skip


if __name__ == "__main__":
    main()
