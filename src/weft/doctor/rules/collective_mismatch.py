"""Ranks run different collectives, so they wait for one another for ever.

What it checks: reported mismatches; ranks that stand at the same sequence number with another
operation or size; ranks that are at different places of the program.
Why it matters: the watchdog says timeout, which reads like a network fault and is a program's.
What to do: find the branch in which ranks differ: unequal data, keys, or a condition on a rank.
References: PyTorch, TORCH_DISTRIBUTED_DEBUG=DETAIL and the flight recorder.
"""

from collections.abc import Iterator

from weft.doctor import job
from weft.doctor.rule import Facts, Finding, Rule, Suspect, Symptom, finding, suspect, suspected
from weft.observe.facts.base import Fact, Process
from weft.observe.facts.collectives import CollectiveCall, CollectiveMismatch, CollectiveTimeout
from weft.observe.facts.verbs import CompletionError

_LOOK = "TORCH_DISTRIBUTED_DEBUG=DETAIL for one run; compare the dumps of the flight recorder"


_PAIRED = frozenset({"Send", "Recv"})
"""Calls that two ranks make, each its own."""
_OF_WAITING = (
    suspect("app-collective-mismatch", 0.6),
    Suspect(
        cause="peer-process-died",
        confidence_ratio=0.3,
        question="are the ranks that are missing alive?",
        next_command="the logs of the missing ranks; dmesg of their hosts",
    ),
)


def _check(facts: Facts) -> Iterator[Finding]:
    said: list[Fact] = [
        *facts.of(CollectiveMismatch),
        *job.said(
            facts,
            r"(collective_type|size_or_syntax|collective_dtype)_mismatch|mismatch(ed)?"
            r" (between )?collective|"
            r"collectives? .{0,20}mismatch(?! error, local size)",
        ),
    ]
    unlike = job.said(facts, r"appears not to match sizes of the same param|"
                      r"expects same model across all ranks")  # fmt: skip
    if unlike and not said:
        yield _differ(unlike, 0.8, "ranks hold different models")
        return
    unused = job.said(facts, r"finished reduction in the prior iteration")
    if unused and not said:
        yield _differ(unused, 0.65, "a rank left out parameters that others reduce")
        return
    waiting = job.said(facts, r"one or more tensors .{0,80}subset of ranks")
    if waiting and not said and job.worked_after(facts, waiting):
        return  # the rank that was waited for came
    if waiting and not said:
        yield suspected(
            _OF_WAITING,
            waiting,
            symptom=Symptom.WATCHDOG,
            message="some ranks submitted tensors that others did not",
            advice="look at the ranks named as missing: are they alive, and call they the same",
        )
        return
    if said:
        # What a broken transfer delivered fits no more than another collective would.
        compared = facts.any_of(CollectiveMismatch) or not facts.any_of(CompletionError)
        message = "ranks called different collectives at the same place"
        yield _differ(said, 0.95 if compared else 0.7, message)
        return
    apart = _apart(facts)
    if apart:
        # Sequence numbers count within a group: without its name they may be of two groups.
        named = any(getattr(one, "group", "") for one in apart)
        message = "ranks wait at one place for different collectives"
        yield _differ(apart, 0.8 if named else 0.6, message)


def _apart(facts: Facts) -> list[Fact]:
    """Return the calls and timeouts of one place that do not agree among the ranks."""
    places: dict[tuple[str, int], list[CollectiveTimeout]] = {}
    for one in facts.of(CollectiveTimeout):
        if one.sequence is not None:
            places.setdefault((one.group, one.sequence), []).append(one)
    for timeouts in places.values():
        if len({(one.operation, one.elements_in, one.elements_out) for one in timeouts}) > 1:
            return [*timeouts]
    calls: dict[tuple[str, int], list[CollectiveCall]] = {}
    for call in facts.of(CollectiveCall):
        calls.setdefault((call.group or call.communicator, call.sequence), []).append(call)
    for same in calls.values():
        ranks = {one.process.rank for one in same}
        if (
            len(ranks) > 1
            and len({(one.operation, one.elements, one.shape) for one in same}) > 1
        ):
            return [*same]
    return _last_calls_differ(facts) or _different_operations(facts)


def _last_calls_differ(facts: Facts) -> list[Fact]:
    """Return the last calls of processes that have one communicator, where they do not agree.

    Each process has an address of its own for it, so its size must do, and all must be seen.
    """
    own: dict[Process, list[CollectiveCall]] = {}
    for one in facts.of(CollectiveCall):
        if one.ranks and one.process.pid is not None:
            own.setdefault(one.process, []).append(one)
    last = [calls[0] for calls in own.values() if len(calls) == 1]
    alike = {(one.ranks, one.sequence) for one in last}
    whole = len(last) == len(own) and len(alike) == 1 and alike.pop()[0] == len(last)
    told = {(one.operation, one.elements) for one in last}
    paired = any(one.operation in _PAIRED for one in last)
    return [*last] if whole and len(told) > 1 and not paired else []


def _different_operations(facts: Facts) -> list[Fact]:
    """Return timeouts in which the ranks gave up different operations of one group."""
    groups: dict[str, list[CollectiveTimeout]] = {}
    for one in facts.of(CollectiveTimeout):
        groups.setdefault(one.group, []).append(one)
    for timeouts in groups.values():
        by_rank = {one.process.rank: (one.operation, one.elements_in) for one in timeouts}
        if len(by_rank) > 1 and len(set(by_rank.values())) > 1:
            return [*timeouts]
    return []


def _differ(seen: list[Fact], confidence_ratio: float, message: str) -> Finding:
    return finding(
        "app-collective-mismatch",
        seen,
        confidence_ratio,
        message=message,
        advice="find where ranks branch: unequal batches, keys, shapes, or a rank-only call",
        next_command=_LOOK,
        explains=(Symptom.WATCHDOG, Symptom.LENGTH_ERROR, "peer-process-died"),
    )


collective_mismatch = Rule(causes=("app-collective-mismatch",), check=_check)
