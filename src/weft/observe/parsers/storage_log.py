"""What programs and the kernel print when storage is full, slow or gone.

File systems of a network (NFS, Lustre, BeeGFS, GPFS, Ceph), local disks, and the writers of
checkpoints, each in its own words.
"""

import errno
import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact, Process
from weft.observe.facts.programs import Message, StorageAnswers, StorageFailed, ThreadAt
from weft.observe.parser import READ, Parser
from weft.observe.patterns import Build, Line, nothing, words

_NOT_STORAGE = re.compile(
    r"/dev/[s]hm|posix_fallocate|shared memory|hugepage|nccl-", re.IGNORECASE
)
_FULL = re.compile(r"No space left on device|\bENOSPC\b|\(os error 28\)", re.IGNORECASE)
_QUOTA = re.compile(r"Disk quota exceeded|\bEDQUOT\b|\(os error 122\)", re.IGNORECASE)
_STALE = re.compile(r"Stale (?:NFS )?file handle", re.IGNORECASE)
_WRITER = re.compile(
    r"PytorchStreamWriter failed writing|(?:checkpoint|ckpt|model)\w* (?:write|save) failed|"
    r"fail(?:ed|ure)? to (?:write|save|flush)\b.{0,60}(?:checkpoint|ckpt|\.pt\b|\.safetensors)|"
    r"basic_ios::clear: iostream error|unexpected pos \d+ vs \d+",
    re.IGNORECASE,
)
_NETWORK = re.compile(
    r"nfs: server (?P<nfs>\S+) not responding|"
    r"LustreError: .{0,200}(?:rc = -\d+|evict|timed? ?out)|"
    r"Lustre: .{0,200}(?:Connection to \S+ .{0,60}was lost|slow reply)|"
    r"ceph: (?:mds\d+ (?:hung|caps stale)|osd\d+ .{0,60}(?:lost|down))|"
    r"beegfs: .{0,200}(?:timed out|unreachable)|mmfs.{0,200}(?:unmount|lost)|"
    r"CIFS: VFS: .{0,80}(?:not responded|No task)|"
    r"LNetError: .{0,200}(?:Can't load LND|timed? ?out|rc[ =:]+-\d+)|"
    r"nvme nvme\d+: (?:rdma connection establishment failed|Connect rejected: status|"
    r"rdma_resolve_addr wait failed|Failed reconnect attempt|failed to connect queue|"
    r"starting error recovery|Reconnecting in \d+ seconds|Removing after \d+ failed)|"
    r"nvme_rdma\.c:\s*\d+:\w+: \*ERROR\*: (?:RDMA address resolution|RDMA connect|Failed to "
    r"connect)|rpcrdma: connection to \S+ .{0,60}closed \(-1(?:10|11|13)\)|"
    r"BeeGFS\S*: .{0,80}RDMA.{0,80}(?:timed? ?out|fail)",
    re.IGNORECASE,
)
_BACK = re.compile(r"nfs: server (?P<nfs>\S+) OK\b")
_DISK = re.compile(
    r"(?:blk_update_request: |Buffer )?I/O error(?:, dev|,? on dev) (?!fd\d|sr\d|loop)|"
    r"nvme nvme\d+: (?:I/O (?:tag )?\d+.{0,60}timeout|controller is down)|"
    r"(?:EXT4-fs|XFS|BTRFS)[^:]{0,40}(?:error|\): Corruption|\): .{0,40}shut ?down)|"
    r"Remounting filesystem read-only|Read-only file system",
    re.IGNORECASE,
)
_WAITS = re.compile(
    r"(?:nfs|rpc_wait|lustre|ll_\w+|ptlrpc|cl_sync|xfs_\w+|ext4_\w+|jbd2|ceph|fuse_\w+|"
    r"io_schedule|wait_on_page)\w*\+0x"
)
_STACK = re.compile(
    r"^\s*\[<0>\] (?P<function>(?:nfs|rpc_wait|lustre|ll_|ptlrpc|cl_sync|ceph_|fuse_|jbd2_|"
    r"wait_on_page)\w{0,60})\+0x"
)
"""Where the kernel holds a process, as ``/proc/PID/stack`` shows it."""
_PROCESS = re.compile(r"/proc/(?P<pid>\d{1,8})/stack")
_SAVING = re.compile(
    r"\b(?:[Ss]aving (?:\w+ ){0,4}(?:checkpoint|ckpt|state)|"
    r"[Gg]etting (?:full )?(?:model|optimizer) state dict|"
    r"[Rr]etrieving (?:full )?(?:model|optimizer) state dict|"
    r"[Ww]riting (?:\w+ ){0,3}(?:checkpoint|ckpt))\b"
)
_PATH = re.compile(r"'(?P<path>/[^']{1,200})'|(?<=\s)(?P<bare>/(?!dev/sd)[\w./-]{3,200})")
_RANK = re.compile(r"\[?[Rr]ank ?(\d{1,6})[\]:]")


def _failed(code: int | None) -> Build:
    def build(found: re.Match[str], line: Line) -> Sequence[Fact]:
        if _NOT_STORAGE.search(line.text):
            return READ
        path, rank = _PATH.search(line.text), _RANK.search(line.text[:400])
        return (
            StorageFailed(
                errno=code,
                error=found[0][:200],
                path=(path["path"] or path["bare"] or "") if path else "",
                server=found.groupdict().get("nfs") or "",
                moment=line.moment,
                process=Process(host=line.host, rank=int(rank[1]) if rank else None),
                evidence=line.evidence,
            ),
        )

    return build


def _waits(found: re.Match[str], line: Line) -> Sequence[Fact]:
    asked = _PROCESS.search(line.source.command)
    pid = int(asked["pid"]) if asked else None
    return (
        ThreadAt(
            kind="storage", function=found["function"],
            process=Process(host=line.host, pid=pid), evidence=line.evidence,
        ),
    )  # fmt: skip


def _saving(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that a rank gathers or writes a checkpoint."""
    return (
        Message(
            software="checkpoint", level="info", text=found[0], moment=line.moment,
            evidence=line.evidence,
        ),
    )  # fmt: skip


def _answers(found: re.Match[str], line: Line) -> Sequence[Fact]:
    process = Process(host=line.host)
    return (
        StorageAnswers(
            server=found["nfs"], moment=line.moment, process=process, evidence=line.evidence
        ),
    )


storage_log = Parser(
    tool="storage and file systems",
    marks=(
        "No space left",
        "ENOSPC",
        "os error",
        "quota exceeded",
        "EDQUOT",
        "file handle",
        "StreamWriter",
        "save",
        "Saving ",
        "saving ",
        "state dict",
        "riting ",
        "write",
        "iostream",
        "unexpected pos",
        "not responding",
        "nfs: server",
        "Lustre",
        "ceph",
        "beegfs",
        "mmfs",
        "CIFS",
        "I/O error",
        "nvme",
        "rpcrdma",
        "LNetError",
        "-fs",
        "XFS",
        "read-only",
        "Read-only",
        "+0x",
    ),
    reader=words(
        (_FULL, _failed(errno.ENOSPC)),
        (_QUOTA, _failed(errno.EDQUOT)),
        (_STALE, _failed(errno.ESTALE)),
        (_WRITER, _failed(None)),
        (_NETWORK, _failed(errno.ETIMEDOUT)),
        (_BACK, _answers),
        (_DISK, _failed(errno.EIO)),
        (_STACK, _waits),
        (_WAITS, nothing),
        (_SAVING, _saving),
    ),
    rank=59,
    longest=1024,
)
