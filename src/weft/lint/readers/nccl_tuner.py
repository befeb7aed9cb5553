"""Tables of NCCL's example tuner: a choice of algorithm and protocol a line."""

from collections.abc import Iterator
from typing import Final

from weft.lint.document import whole
from weft.lint.facts import Fact, option
from weft.lint.flaws import flaw
from weft.lint.reader import File, Reader

_COLLECTIVES: Final = frozenset(
    {"broadcast", "reduce", "allgather", "reducescatter", "allreduce"}
)
_ALGORITHMS: Final = frozenset(
    {"tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"}
)
_PROTOCOLS: Final = frozenset({"ll", "ll128", "simple"})
_FEWEST: Final = 8


def _read(file: File) -> Iterator[Fact]:
    for number, line in file.lines():
        fields = [part.strip().lower() for part in line.split(",")]
        if not line.strip() or line.startswith("#") or fields[0] == "collective_type":
            continue
        wrong = _wrong(fields)
        if wrong:
            yield flaw(file.at(number), "tuner_line", wrong=wrong)
        else:
            yield option(file.at(number), "nccl-tuner", fields[0], line)


def _wrong(fields: list[str]) -> str:
    if len(fields) < _FEWEST:
        return f"{len(fields)} columns"
    for value, known in ((fields[0], _COLLECTIVES), (fields[3], _ALGORITHMS),
                         (fields[4], _PROTOCOLS)):  # fmt: skip
        if value not in known:
            return f"{value!r} is none of {', '.join(sorted(known))}"
    least, most = whole(fields[1]), whole(fields[2])
    if least is None or most is None or least > most:
        return f"sizes from {fields[1]} to {fields[2]}"
    return ""


nccl_tuner = Reader(title="tables of NCCL's example tuner", read=_read)
