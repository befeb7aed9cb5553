"""A rank was held up by storage, and the others gave up waiting for it.

What it checks: a full or failing file system, as one rank reports it, and watchdog timeouts or
lost peers on others; a thread that waits for storage meanwhile.
Why it matters: the network is blamed for a full disk.
What to do: make room, write checkpoints to temporary names, and let every rank fail together.
References: write(2), ENOSPC and EDQUOT; PyTorch distributed checkpointing.
"""

import errno
import re
from collections.abc import Iterator

from weft.doctor import job
from weft.doctor.rule import Facts, Finding, Rule, Severity, Symptom, finding
from weft.doctor.rules.shared_memory import of_shared_memory
from weft.observe.facts.base import Fact
from weft.observe.facts.collectives import CollectiveTimeout
from weft.observe.facts.communicators import CommunicatorHealth
from weft.observe.facts.hosts import Filesystem
from weft.observe.facts.interfaces import LinkEvent
from weft.observe.facts.pods import ClusterEvent
from weft.observe.facts.programs import StorageAnswers, StorageFailed, ThreadAt
from weft.observe.facts.verbs import CallFailed, CompletionError

_VOLUME = re.compile(r"Failed(?:Mount|AttachVolume|MapVolume)|VolumeConditionAbnormal")
_NO_DATA = (
    r"transport endpoint is not connected\W{0,6}/|"
    r"\b(?:FSTimeout|ReadTimeout|EndpointConnection)Error\b.{0,80}"
    r"(?:s3|gs|abfs|hdfs|oci|https?)://|"
    r"\b(?:s3|gs|abfs|hdfs|oci)://\S+ .{0,40}(?:fail|time(?:d )?out)"
)
"""Words of programs whose files are behind a network."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_FULL_RATIO = 0.99
_OF_NO_RANK = re.compile(
    r"Could not install packages|\bpip\b|\.cache/|\b(?:apt|dnf|yum)\b|\bwriting blob\b"
)
"""Words of programs that install or fetch, before or beside any job."""
_NOT_STORAGE = ("/dev/shm", "/run", "/sys", "/boot", "/snap", "tmpfs")  # noqa: S108 - mount points


def _unread(facts: Facts) -> list[Fact]:
    """Return what says that a mount or an object store did not answer."""
    volumes: list[Fact] = [
        one for one in facts.of(ClusterEvent) if one.warning and _VOLUME.match(one.reason)
    ]
    return [*volumes, *job.said(facts, _NO_DATA)]


def _failures(facts: Facts) -> list[StorageFailed]:
    """Return failures of a rank's files that lasted, and are its storage's own."""
    return [
        one for one in facts.of(StorageFailed)
        if not of_shared_memory(one) and not _by_network(facts, one)
        and not _answered_again(facts, one)
        and not _OF_NO_RANK.search(one.evidence.text)
    ]  # fmt: skip


def _full(facts: Facts) -> list[Fact]:
    """Return file systems without room."""
    return [
        one for one in facts.of(Filesystem)
        if (one.used_ratio or 0) >= _FULL_RATIO and not one.mount.startswith(_NOT_STORAGE)
        and (one.device or "").startswith(_NOT_STORAGE) is False
    ]  # fmt: skip


def _check(facts: Facts) -> Iterator[Finding]:
    failed, full = _failures(facts), _full(facts)
    waiting = [*facts.of(CollectiveTimeout)]
    echoes: list[Fact] = [*waiting, *facts.of(CompletionError), *facts.of(CallFailed)]
    if failed:
        told = bool(echoes) and not _by_the_way(facts, failed)
        yield _failed(failed, [*full, *waiting], echoed=told)
    elif held := _held(facts):
        yield _waits([*held, *waiting])
    elif stuck := job.said(facts, r"persistent D-state .{0,60}processes detected"):
        yield _stuck(stuck, waiting)
    elif waiting and (unread := _unread(facts)):
        yield _unreached([*unread, *waiting])
    elif full and waiting:
        yield _without_room([*full, *waiting])


def _waits(seen: list[Fact]) -> Finding:
    return finding(
        "app-storage-stall",
        seen,
        0.7,
        message="a rank waits for storage, and the others wait for it",
        advice="look at the storage of that rank, and at what it reads or writes there",
        next_command="df -h; dmesg | grep -i -e nfs -e lustre -e 'blocked for more'",
        missing=("a second look some minutes later: is it still there?",),
        explains=(Symptom.WATCHDOG, "app-collective-mismatch", "peer-process-died"),
    )


def _stuck(stuck: list[Fact], waiting: list[CollectiveTimeout]) -> Finding:
    return finding(
        "app-storage-stall",
        [*stuck, *waiting],
        0.65 if waiting else 0.5,
        severity=Severity.ERROR if waiting else Severity.WARNING,
        message="processes wait in the kernel and cannot be stopped, as for storage",
        advice="look at the mounts that these processes use",
        next_command="cat /proc/<pid>/stack; dmesg | grep -i -e 'blocked for more' -e nfs",
        missing=("what the processes wait for: storage, or the driver of a device",),
        explains=(Symptom.WATCHDOG,),
    )


def _unreached(seen: list[Fact]) -> Finding:
    return finding(
        "app-storage-stall",
        seen,
        0.65,
        message="a rank could not reach its data, and the others waited for it",
        advice="see to the mount or the object store; raise the timeout where it is slow",
        next_command="mount; df -h; dmesg | tail   # on the host of the rank that is late",
        explains=(Symptom.WATCHDOG, "peer-process-died"),
    )


def _without_room(seen: list[Fact]) -> Finding:
    return finding(
        "app-storage-stall",
        seen,
        0.6,
        message="a file system is full, and collectives timed out",
        advice="make room, then look which rank was writing",
        next_command="df -h; df -i",
        missing=("the log of the rank that was writing",),
        explains=(Symptom.WATCHDOG,),
    )


def _by_the_way(facts: Facts, failed: list[StorageFailed]) -> bool:
    """Return whether a server was slow while adapters lost a peer: who waits still answers."""
    slow = all(one.errno in {None, errno.ETIMEDOUT} and not one.path for one in failed)
    return slow and facts.any_of(CompletionError)


def _failed(failed: list[StorageFailed], beside: list[Fact], *, echoed: bool) -> Finding:
    """Say that a rank failed at its storage; ``echoed`` where others report as much."""
    full_up = any(one.errno in _FULL for one in failed)
    return finding(
        "app-storage-stall",
        [*failed, *beside],
        0.9 if echoed else 0.75 if full_up else 0.5,
        severity=Severity.ERROR if echoed or full_up else Severity.WARNING,
        subject=next((one.path for one in failed if one.path), ""),
        message="storage is nearly full: what is yet to be written there will fail"
        if all(one.error == "nearly full" for one in failed)
        else "a rank failed at its storage; what others report is its echo"
        if echoed or full_up
        else "storage failed or did not answer in time: who needs it waits",
        advice="make room (or raise the quota), then restart from the last whole checkpoint",
        next_command="df -h; df -i; quota -s",
        explains=(Symptom.WATCHDOG, Symptom.TRANSPORT_RETRY, Symptom.FLUSHED,
                  "peer-process-died", Symptom.CONNECT),
    )  # fmt: skip


def _held(facts: Facts) -> list[Fact]:
    """Return where threads wait for storage while others gave up a collective, or are ahead."""
    ahead: list[Fact] = [
        one for one in facts.of(CommunicatorHealth)
        if "MISMATCH" in {one.status, one.errors}
    ]  # fmt: skip
    held = [one for one in facts.of(ThreadAt) if one.kind == "storage"]
    late = [*facts.of(CollectiveTimeout), *ahead]
    return [*held, *ahead] if held and late else []


def _answered_again(facts: Facts, failed: StorageFailed) -> bool:
    """Return whether the server that did not answer did so later, as the same log says."""
    return any(
        one.server == failed.server
        and one.evidence.file == failed.evidence.file
        and one.evidence.place > failed.evidence.place
        for one in facts.of(StorageAnswers)
    )


def _by_network(facts: Facts, failed: StorageFailed) -> bool:
    """Return whether storage that is reached over RDMA failed as its network did."""
    remote = failed.evidence.text.find("nvme nvme") >= 0
    down = any(not one.up for one in facts.of(LinkEvent))
    own = [one for one in facts.of(CompletionError) if "nvme nvme" in one.evidence.text]
    return remote and (down or bool(own))


storage_stall = Rule(causes=("app-storage-stall",), check=_check)
