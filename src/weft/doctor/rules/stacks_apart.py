"""The stacks of the ranks show which one did not come to the collective, and why.

What it checks: what the main threads of Python processes wait for: collectives, storage, the
next batch of data.
Why it matters: a hang looks alike on all ranks; the stack of the one that is elsewhere names
the cause.
What to do: take the stacks of all ranks at one moment, and look at those that differ.
References: py-spy dump; Python, faulthandler.
"""

from collections.abc import Iterator

from weft.doctor.rule import Facts, Finding, Rule, Suspect, Symptom, finding, suspected
from weft.observe.facts.programs import ThreadAt

_STACKS = "py-spy dump --pid <pid>   # of every rank, at one moment"


def _check(facts: Facts) -> Iterator[Finding]:
    threads = facts.of(ThreadAt)
    waiting = [one for one in threads if one.kind == "collective"]
    storage = [one for one in threads if one.kind == "storage"]
    loading = [one for one in threads if one.kind == "loader"]
    if waiting and storage:
        yield finding(
            "app-storage-stall",
            [*storage, *waiting],
            0.6,
            message=f"a rank is in {storage[0].function} (storage) while others wait for it",
            advice="look at the storage of that rank, and at what it reads or writes there",
            next_command="df -h; dmesg | grep -i -e nfs -e lustre -e 'blocked for more'",
            missing=("a second dump some minutes later: is it still there?",),
            explains=(Symptom.WATCHDOG,),
        )
        return
    calls = {one.function for one in waiting}
    if (waiting and loading) or len(calls) > 1:
        yield suspected(
            _loading() if loading else _calls(),
            [*loading, *waiting],
            symptom=Symptom.WATCHDOG,
            message="ranks wait in different places: "
            + ", ".join(sorted(calls | {one.function for one in loading})),
            advice="follow the ranks that are not in the collective most ranks are in",
        )


def _loading() -> tuple[Suspect, ...]:
    return (
        Suspect(
            cause="app-storage-stall",
            confidence_ratio=0.4,
            question="do the workers that load data wait for storage?",
            next_command="py-spy dump of the loader's workers; cat /proc/<pid>/stack",
        ),
        Suspect(
            cause="app-collective-mismatch",
            confidence_ratio=0.35,
            question="do all ranks have equally many batches?",
            next_command=_STACKS,
        ),
    )


def _calls() -> tuple[Suspect, ...]:
    return (
        Suspect(
            cause="app-collective-mismatch",
            confidence_ratio=0.45,
            question="are these calls of one group, and of the same place in the program?",
            next_command=_STACKS,
        ),
        Suspect(
            cause="fabric-path-unreachable",
            confidence_ratio=0.15,
            question="do the libraries' logs show errors of the network?",
            next_command="NCCL_DEBUG=INFO on all ranks",
        ),
    )


stacks_apart = Rule(causes=("app-storage-stall", "app-collective-mismatch"), check=_check)
