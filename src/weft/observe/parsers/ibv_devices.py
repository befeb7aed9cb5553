"""``ibv_devices``: the adapters that the verbs library sees."""

import re
from collections.abc import Sequence

from weft.observe.facts.adapters import AdapterSeen
from weft.observe.facts.base import Fact
from weft.observe.parser import Parser
from weft.observe.patterns import Line, nothing, pattern, table


def _device(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        AdapterSeen(
            adapter=found["name"], guid=found["guid"], host=line.host, evidence=line.evidence
        ),
    )


ibv_devices = Parser(
    tool="ibv_devices",
    marks=("node GUID", "mlx", "roce", "ibp", "rxe", "rdma", "efa", "bnxt", "irdma"),
    reader=table(
        pattern("device", r"device\s+node GUID", nothing),
        pattern("------ ", r"------\s+-{8,}", nothing),
        pattern("", r"\s+(?P<name>[a-z]\w{2,30})\s+(?P<guid>[0-9a-f]{16})\s*$", _device),
    ),
    rank=45,
)
