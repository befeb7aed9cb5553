"""What the drivers of all GPUs say alike."""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.gpus import GpuUnreachable
from weft.observe.parsers._values import is_prose
from weft.observe.parsers.kernel_log.lines import host_of
from weft.observe.patterns import Line


def off_bus(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that a GPU no longer answers on its bus."""
    if is_prose(line.text):
        return ()
    return (
        GpuUnreachable(
            bus_id=found["bus"], error=found["text"], host=host_of(line), evidence=line.evidence
        ),
    )
