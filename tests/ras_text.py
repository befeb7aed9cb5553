"""What ``ncclras -f json`` prints, for tests."""

import json


def ras(launched: list[int], dead: tuple[int, ...] = ()) -> str:
    """Return the text of one communicator: what each rank launched, and who is dead."""
    ranks = [
        {"rank": rank, "host": f"10.1.0.{rank // 8}", "pid": 900 + rank,
         "collective_counts": {"AllReduce": count, "AllGather": 3}}
        for rank, count in enumerate(launched) if rank not in dead
    ]  # fmt: skip
    missing = [{"rank": rank, "status": {"considered_dead": True}} for rank in dead]
    communicator = {"hash": "0x9ab4", "size": len(launched), "ranks": ranks,
                    "missing_ranks": missing}  # fmt: skip
    return json.dumps({"nccl_version": "2.28.3", "communicators": [communicator]}, indent=1)
