"""A port is a limited member of its partition, so it talks to full members only.

What it checks: bit 15 of the key at index 0 of a port's table (NCCL_IB_PKEY's default); further
limited keys beside a full one are usual.
Why it matters: two limited members cannot reach one another: links are fine, status 12 at once.
What to do: make the hosts full members in the subnet manager's partitions.conf.
References: InfiniBand Architecture Specification, partitioning; OpenSM partitions.conf.
"""

from collections.abc import Iterator

from weft.doctor import job
from weft.doctor.rule import Facts, Finding, Rule, Symptom, finding
from weft.observe.facts.adapters import PartitionKey
from weft.observe.facts.verbs import CallFailed, CompletionError

_UNANSWERED = frozenset({12, 13})
_PARTITION = 0x7FFF
"""The bits of a key that name the partition; the other tells of membership."""
_FOLLOW = (
    Symptom.TRANSPORT_RETRY, Symptom.FLUSHED, "fabric-path-unreachable", "mpi-ucx-not-nccl",
)  # fmt: skip


def _check(facts: Facts) -> Iterator[Finding]:
    limited = [
        one for one in facts.of(PartitionKey) if one.index == 0 and not one.full and one.key
    ]  # fmt: skip
    trapped = job.said(
        facts,
        r"bad p_?key|p_?key (mismatch|violation|check failed)|no valid pkey|"
        r"unable to find (?:specified )?pkey|"
        r"do(es)? not (share specified|have any shared) pkey|"
        r"port is not in partition of this mc group",
    )
    yield from _no_such_index(facts)
    yield from _apart(facts)
    if limited or trapped:
        yield finding(
            "ib-pkey-membership",
            [*limited, *trapped],
            0.9 if limited else 0.7,
            subject=", ".join(dict.fromkeys(one.adapter for one in limited if one.adapter)),
            message="the partition key at index 0 is a limited member's"
            if limited
            else "ports complain of partition keys that do not fit",
            advice="make the ports full members (partitions.conf: ALL=full), restart the SM",
            next_command="smpquery pkeys <lid> 1   # bit 15 set: 0xffff; not set: 0x7fff",
            explains=_FOLLOW,
        )


def _apart(facts: Facts) -> Iterator[Finding]:
    """Find two hosts of which the same port is a full member of another partition.

    What is sent takes the key at index 0, where nobody asks for another.
    """
    if job.settings(facts, "NCCL_IB_PKEY"):
        return
    ports: dict[tuple[str, int | None], dict[str, PartitionKey]] = {}
    for one in facts.of(PartitionKey):
        if one.index == 0 and one.full and one.adapter:
            place = one.host or one.evidence.file
            ports.setdefault((one.adapter, one.port), {})[place] = one
    unanswered = [one for one in facts.of(CompletionError) if one.status in _UNANSWERED]
    for (adapter, _), held in ports.items():
        if unanswered and len({one.key & _PARTITION for one in held.values()}) > 1:
            yield finding(
                "ib-pkey-membership",
                [*held.values(), *unanswered],
                0.8,
                subject=adapter,
                message="two hosts are in two partitions by the key at index 0",
                advice="put the ports into one partition (partitions.conf), restart the SM",
                next_command="grep . /sys/class/infiniband/*/ports/*/pkeys/[0-7]   # on both",
                explains=_FOLLOW,
            )
            return


def _no_such_index(facts: Facts) -> Iterator[Finding]:
    """Find an index of the table that the job was told to use and that holds no key."""
    held = {one.index for one in facts.of(PartitionKey) if one.key}
    failed = [one for one in facts.of(CallFailed) if "modify_qp" in one.call]
    for one in job.settings(facts, "NCCL_IB_PKEY"):
        if failed and held and one.value.isdigit() and int(one.value) not in held:
            yield finding(
                "ib-pkey-membership",
                [one, *failed, *facts.of(PartitionKey)],
                0.8,
                message=f"NCCL_IB_PKEY={one.value} is an index that holds no partition key",
                advice="have the subnet manager give the port the key, or correct the index",
                next_command="grep . /sys/class/infiniband/*/ports/*/pkeys/[0-7]",
                explains=(*_FOLLOW, Symptom.VERBS_CALL, "gid-index-wrong"),
            )


partition_key = Rule(causes=("ib-pkey-membership",), check=_check)
