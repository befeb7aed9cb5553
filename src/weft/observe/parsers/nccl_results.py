"""What programs print of the result of a call to NCCL or RCCL, each in its own frame.

nccl-tests, PyTorch, vLLM, Horovod, XLA, TensorFlow, PaddlePaddle, CuPy and others wrap the
same few sentences of the library, which say which sort of failure it was and not why.
"""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.programs import Message
from weft.observe.parser import Parser
from weft.observe.patterns import Line, words

_RESULT = re.compile(
    r"\b(?:NCCL|RCCL|Nccl|nccl|rccl)\w*\b.{0,160}?(?P<what>unhandled (?:system|cuda) error|"
    r"internal error|invalid usage|remote process exited|NCCL_ERROR_[A-Z_]+)",
)
_TALK = re.compile(r"\?|\bcould be\b|\busually\b|\bmay be\b", re.IGNORECASE)


_SYMBOL = re.compile(
    r"undefined symbol: p?nccl[A-Z]\w+|version `?NCCL_[\d.]+'? not found|"
    r"(?:cannot|could not) (?:find|resolve|load) (?:symbol )?p?nccl[A-Z]\w+",
)


def _symbol(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that a library was built for another version of NCCL than was loaded."""
    return (
        Message(
            software="dynamic loader", level="error", text=found[0], moment=line.moment,
            evidence=line.evidence,
        ),
    )  # fmt: skip


_EXCHANGE = re.compile(r"DeepEP .{0,40}timeout\b")


def _exchange(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that an exchange of DeepEP's kernels ended in a timeout."""
    return (
        Message(
            software="DeepEP", level="error", text=found[0], moment=line.moment,
            evidence=line.evidence,
        ),
    )  # fmt: skip


def _result(found: re.Match[str], line: Line) -> Sequence[Fact]:
    if _TALK.search(found[0]):
        return ()
    return (
        Message(
            software="NCCL result",
            level="error",
            text=found[0].strip()[:300],
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


nccl_results = Parser(
    tool="results of NCCL",
    marks=(
        "unhandled ",
        "internal error",
        "invalid usage",
        "remote process",
        "NCCL_ERROR_",
        "undefined symbol",
        "DeepEP",
        "not found",
        "nccl",
    ),
    reader=words((_SYMBOL, _symbol), (_EXCHANGE, _exchange), (_RESULT, _result)),
    rank=64,
    longest=1024,
)
