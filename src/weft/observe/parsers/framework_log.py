"""What frameworks print when ranks die, wait or differ: DeepSpeed, Horovod, Accelerate."""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact
from weft.observe.facts.collectives import CollectiveMismatch
from weft.observe.facts.programs import Message, ProcessEnded
from weft.observe.parser import Parser
from weft.observe.patterns import Line, nothing, pattern, table

_SEGFAULT, _KILLED = 11, 9


def _ended(found: re.Match[str], line: Line) -> Sequence[Fact]:
    code = int(found["code"])
    signal = -code if code < 0 else None
    return (
        ProcessEnded(
            how="segfault" if signal == _SEGFAULT else "signal" if signal else "exit",
            signal=signal,
            exit_code=None if signal else code,
            host=line.host,
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _killed(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State what a shell says of a program that it started, alone on its line."""
    del found
    if line.before.strip():
        return ()
    return (ProcessEnded(how="signal", signal=_KILLED, host=line.host, evidence=line.evidence),)


def _waiting(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        Message(
            software="Horovod",
            level="warning",
            text=found[0].strip()[:300],
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


def _unlike(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that a framework compared what ranks submit, and found it unlike."""
    del found
    return (CollectiveMismatch(evidence=line.evidence),)


framework_log = Parser(
    tool="DeepSpeed, Horovod and Accelerate",
    marks=(
        "exits with return code",
        "Killing subprocess",
        "One or more tensors",
        "Missing ranks",
        "Mismatched ",
        "mismatching ",
        "shape mismatches",
        "Horovod has been shut down",
        "Killed",
        "sigquit",
    ),
    reader=table(
        pattern(
            "exits with return code",
            r"exits with return code = (?P<code>-?\d{1,3})",
            _ended,
        ),
        pattern("Killing subprocess", r"Killing subprocess \d+", nothing),
        pattern("One or more tensors", r"One or more tensors .{0,80}subset of ranks", _waiting),
        pattern("Killed", r"(?P<code>)Killed\s*$", _killed),
        pattern("sigquit", r"sigquit from a child process", nothing),
        pattern(
            "Mismatched ",
            r"Mismatched (?:\w+ tensor shapes|\w+(?: root)? ranks|data types|"
            r"(?:MPI )?operations|reduction operation|prescale|process sets?)\b",
            _unlike,
        ),
        pattern("mismatching ", r"mismatching (?:size|values?) on different ranks", _unlike),
        pattern("mismatching ", r"mismatching process sets", _unlike),
        pattern("due to shape mismatches", r"due to shape mismatches", _unlike),
        pattern(
            "Horovod has been shut down",
            r"Horovod has been shut down\. This was caused by an exception on one.*",
            _waiting,
        ),
        pattern("Missing ranks", r"Missing ranks:", nothing),
        pattern("Stalled ranks", r"Stalled ranks:", nothing),
    ),
    rank=62,
)
