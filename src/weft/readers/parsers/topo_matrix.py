"""nvidia-smi topo -m: how each GPU reaches the others and its nearest adapter."""

from typing import Final

import re2

from weft.readers.line import Line  # noqa: TC001 - a type at run time
from weft.readers.parser import Lines, Parser
from weft.readers.scribe import Scribe

_DISTANCES: Final = {"PIX": 1.0, "PXB": 2.0, "PHB": 3.0, "NODE": 4.0, "SYS": 5.0}
_GPU: Final = re2.compile(r"^GPU(\d+)$")
_NIC: Final = re2.compile(r"^(?:NIC\d+|mlx5_\w+|ib\w*\d+|rocep\w+|bnxt_re\w+|rdmap\w+)$")
_BRIDGED: Final = 1
"""Peers of a GPU over a bridge; where one has more, switches or a mesh join all GPUs."""
_TABS: Final = re2.compile(r"\t| {2,}")


def _read(lines: Lines, scribe: Scribe) -> None:
    titles: list[str] = []
    rows: list[tuple[str, dict[str, str], Line]] = []
    for line in lines:
        cells = [part.strip() for part in _TABS.split(line.text)]
        cells = [cell for cell in cells if cell]
        if not titles:
            titles = [cell for cell in cells if _GPU.search(cell) or _NIC.search(cell)]
        elif cells and _GPU.search(cells[0]) and len(cells) > len(titles):
            paths = dict(zip(titles, cells[1:], strict=False))
            rows.append((cells[0].removeprefix("GPU"), paths, line))
    peers = {
        gpu: sum(path.startswith("NV") for path in paths.values()) for gpu, paths, _ in rows
    }
    is_switched = max(peers.values(), default=0) > _BRIDGED
    for gpu, paths, line in rows:
        key = {"gpu": gpu}
        adapters = [_DISTANCES[path] for to, path in paths.items()
                    if _NIC.search(to) and path in _DISTANCES]  # fmt: skip
        if adapters:
            scribe.state("gpu.nic_distance", min(adapters), line, key)
        if is_switched:
            scribe.state("gpu.nvlink_peers", float(peers[gpu]), line, key)


topo_matrix = Parser(
    "topo_matrix", opens=(r"^\s*GPU0\s+(?:GPU1\s+)?.*(?:CPU Affinity|NIC0|mlx5_)",), reads=_read
)
