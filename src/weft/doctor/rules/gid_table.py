"""The GID table of a port begins late, and the search for an index stops at the hole.

What it checks: tables whose first entry is not at index 0 (as in pods), together with a failure
to read the type or version of a GID.
Why it matters: NCCL up to 2.24 or so stops at an empty entry and uses a wrong one or fails.
What to do: update NCCL, or set NCCL_IB_GID_INDEX to the entry of the pod.
References: NCCL user guide, NCCL_IB_GID_INDEX; Linux sysfs gid_attrs/types.
"""

import errno
import re
from collections.abc import Iterator
from dataclasses import replace

from weft.doctor import job, links
from weft.doctor.rule import Facts, Finding, Rule, Severity, Symptom, finding
from weft.observe.facts.adapters import Gid
from weft.observe.facts.base import Fact
from weft.observe.facts.programs import Command, ProcessEnded
from weft.observe.facts.verbs import CallFailed, CompletionError

_PICKS = re.compile(r"\|\s*(?:grep|e?grep|awk|sed|tail|head)\b")
_WITHOUT_EMPTY = re.compile(r"\|\s*grep -\w*v\w* \S*0000:0000:\S*")
"""Leaves out entries that hold nothing; those left are the whole table."""
_FIRST_USUAL = 4
_STOPS = re.compile(
    r"^.{0,120}\b(?:hangs?|hung|stuck|segfaults?|segmentation fault|crash(?:es|ed)?)\b.{0,80}",
    re.IGNORECASE | re.MULTILINE,
)
_LOOKED_AT = re.compile(r"\s*(?:cat|head|grep|more|less|tail): \S*/[1-9]\d*: ")
_SEARCHES_RIGHT = (2, 25)


def _check(facts: Facts) -> Iterator[Finding]:
    first: dict[tuple[str, str, int], Gid] = {}
    for gid in facts.of(Gid):
        key = (gid.host, gid.adapter, gid.port)
        if key not in first or gid.index < first[key].index:
            first[key] = gid
    late = [
        gid for gid in first.values()
        if gid.index >= _FIRST_USUAL and not _picked_out(facts, gid)
    ]  # fmt: skip
    lookup = job.said(facts, r"(gid|roce).{0,40}(type|version)|gid_attrs/types|roce.?version")
    lookup = [one for one in lookup if _unreadable(one) and not _is_a_hole(one)]
    other = [one for one in facts.of(CallFailed) if "modify_qp" in one.call]
    if not late and not lookup:
        return
    before = _before_the_first(facts, late)
    if before:
        yield replace(
            _begins_late([*before, *late], 0.88),
            explains=frozenset({Symptom.VERBS_CALL, "gid-index-wrong", "k8s-no-roce-gid"}),
        )
        return
    chooses = _chooses_by_version(facts) if late else []
    crashed: list[Fact] = [one for one in facts.of(ProcessEnded) if one.how == "segfault"]
    crashed = crashed or (job.told(facts, _STOPS) if chooses else [])
    sure = 0.85 if late and lookup else 0.65 if chooses and crashed else 0.6 if lookup else 0.3
    failing = bool(lookup or facts.of(CompletionError) or (chooses and crashed))
    if other and (not lookup or (job.gid_indices(facts) and not late)):
        return
    yield finding(
        "gid-table-sparse",
        [*lookup, *chooses, *(crashed if chooses else []), *late],
        sure,
        severity=Severity.ERROR if failing else Severity.INFO,
        message="the GID table does not begin at index 0, where the library looks",
        advice="update NCCL, or set NCCL_IB_GID_INDEX to the pod's RoCEv2 entry",
        next_command="show_gids   # where the job runs",
        missing=() if late else ("the GID table where the job runs (show_gids)",),
        explains=(Symptom.VERBS_CALL, Symptom.TRANSPORT_RETRY)
        if lookup
        else ("peer-process-died", "gid-index-wrong")
        if chooses
        else (),
    )


def _picked_out(facts: Facts, gid: Gid) -> bool:
    """Return whether a line was picked out of a table: then others may stand before it."""
    above = [
        one for one in facts.of(Command)
        if one.evidence.file == gid.evidence.file and one.evidence.place < gid.evidence.place
    ]  # fmt: skip
    last = max(above, key=lambda one: one.evidence.place, default=None)
    command = _WITHOUT_EMPTY.sub("", last.command) if last else ""
    return _PICKS.search(command) is not None


def _begins_late(seen: list[Fact], confidence_ratio: float) -> Finding:
    return finding(
        "gid-table-sparse",
        seen,
        confidence_ratio,
        message="the GID table does not begin at index 0, where the library looks",
        advice="update NCCL, or set NCCL_IB_GID_INDEX to the pod's RoCEv2 entry",
        next_command="show_gids   # where the job runs",
    )


def _before_the_first(facts: Facts, late: list[Gid]) -> list[Fact]:
    """Return queue pairs that took an empty GID before the first entry of the table.

    Where somebody pinned the index, that is the cause.
    """
    if not late or job.settings(facts, "NCCL_IB_GID_INDEX"):
        return []
    first = min(gid.index for gid in late)
    return [
        one for one in facts.of(CallFailed)
        if "modify_qp" in one.call and links.is_empty(one.local_gid)
        and one.gid_index is not None and one.gid_index < first
    ]  # fmt: skip


def _chooses_by_version(facts: Facts) -> list[Fact]:
    """Return what makes an old library search the table for a GID of some version of RoCE."""
    old = [one for one in job.versions(facts) if job.version(one.version) < _SEARCHES_RIGHT]
    asked = job.settings(facts, "NCCL_IB_ROCE_VERSION_NUM")
    return [*asked, *old] if old and asked else []


def _is_a_hole(line: Fact) -> bool:
    """Return whether somebody looked at an entry that is empty: there are some in any table."""
    return bool(_LOOKED_AT.match(line.evidence.text))


def _unreadable(line: Fact) -> bool:
    number = getattr(line, "errno", None)
    words = line.evidence.text.lower()
    return (
        number in {errno.EINVAL, errno.ENOENT} or "invalid argument" in words or "fail" in words
    )


gid_table = Rule(causes=("gid-table-sparse",), check=_check)
