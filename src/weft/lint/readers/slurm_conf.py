"""``slurm.conf``: plug-ins, limits that are passed on, the nodes."""

from collections.abc import Iterator

import re2

from weft.lint.facts import Fact, Nodes, option
from weft.lint.hostlist import expand
from weft.lint.reader import File, Reader

_PAIR = re2.compile(r"(\w+)=(\S+)")


def _read(file: File) -> Iterator[Fact]:
    for number, line in file.lines():
        text = line.partition("#")[0].strip()
        if not text:
            continue
        pairs = _PAIR.findall(text)
        if pairs and pairs[0][0] == "NodeName":
            names = expand(pairs[0][1])
            if names != ("DEFAULT",):
                yield Nodes(at=file.at(number), names=names)
        for name, value in pairs:
            yield option(file.at(number), "slurm", name, value)


slurm_conf = Reader(title="slurm.conf", read=_read)
