"""The kernel's log: ``dmesg``, ``/dev/kmsg``, syslog and ``journalctl -k``.

Only what bears on GPUs, adapters, PCI Express, memory and dead processes is stated. Each family
of messages, a driver's or a part of the kernel's, is a file of this folder.
"""

from weft.observe.parser import Parser
from weft.observe.parsers.kernel_log import (
    adapters,
    amd,
    links,
    memory,
    mlx5,
    modules,
    nvidia,
    pci,
    processes,
)
from weft.observe.parsers.kernel_log.rest import idle
from weft.observe.patterns import table

_FAMILIES = (nvidia, amd, modules, memory, processes, pci, mlx5, adapters, links)
"""The first that fits a line reads it: what names its driver comes before what any may say."""
_PATTERNS = tuple(one for family in _FAMILIES for one in family.PATTERNS)

kernel_log = Parser(
    tool="kernel log",
    marks=tuple(sorted({one.mark for one in _PATTERNS})),
    reader=table(*_PATTERNS),
    rank=20,
    rest=idle,
)
