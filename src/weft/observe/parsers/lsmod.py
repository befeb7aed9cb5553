"""``lsmod`` and ``/proc/modules``: the loaded kernel modules."""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.hosts import KernelModule
from weft.observe.parser import Parser
from weft.observe.patterns import Line, nothing, pattern, table


def _module(found: re.Match[str], line: Line) -> Sequence[Fact]:
    users = tuple((found["users"] or "").strip(",-").split(","))
    return (
        KernelModule(
            name=found["name"],
            used_by=tuple(user for user in users if user),
            host=line.host,
            evidence=line.evidence,
        ),
    )


lsmod = Parser(
    tool="lsmod",
    marks=(
        "lsmod",
        "Used by",
        "nvidia",
        "mlx5_",
        "ib_",
        "rdma_",
        "gdrdrv",
        "nv_peer_mem",
        "peermem",
    ),
    reader=table(
        pattern("Module", r"Module\s+Size\s+Used by", nothing),
        pattern(
            "",
            r"(?P<name>[A-Za-z]\w{1,55})\s+(?P<size>\d{3,9})\s+(?P<count>-?\d{1,6})"
            r"(?:\s+(?P<users>[\w,-]+))?(?:\s+Live 0x[0-9a-f]+.{0,20})?\s*$",
            _module,
        ),
    ),
    rank=40,
)
