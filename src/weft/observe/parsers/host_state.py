"""Small things about a host: limits, file systems, memory, device nodes, modules, services.

``ulimit -a``, ``/proc/*/limits``, ``df``, ``/proc/meminfo``, ``ls -l /dev/infiniband``,
``/sys/kernel/mm/memory_peers``, ``systemctl status``, probes that open devices.
"""

import re
from collections.abc import Sequence

from weft.observe.facts.base import Fact, Process
from weft.observe.facts.hosts import (
    DeviceNode,
    Filesystem,
    HostMemory,
    KernelModule,
    Limit,
    NameResolved,
    PeerMemoryClient,
    ServiceState,
)
from weft.observe.facts.pci import IommuState
from weft.observe.facts.programs import SoftwareVersion
from weft.observe.facts.transports import AdapterOpened, AdapterOpenFailed
from weft.observe.parser import READ, Parser
from weft.observe.parsers._values import integer, real, size
from weft.observe.patterns import Line, nothing, pattern, table

_AWAITED = re.compile(r"\b(?:until|wait\w*|if|whether|ensure|check that)\b", re.IGNORECASE)
"""Before a state that is wished for."""
_KIBI = 2**10
_LIMITS = {
    "max locked memory": "memlock",
    "open files": "nofile",
    "stack size": "stack",
    "max user processes": "nproc",
    "max memory size": "rss",
    "virtual memory": "as",
}
_SYMBOLS = {"EPERM": 1, "ENOENT": 2, "EACCES": 13}
_SCALED = {"memlock", "stack", "rss", "as"}


def _limit(found: re.Match[str], line: Line) -> Sequence[Fact]:
    name = _LIMITS[found["name"].lower()]
    unlimited = found["value"] == "unlimited"
    value = None if unlimited else integer(found["value"])
    scale = _KIBI if "kbytes" in found["unit"] else 1
    return (
        Limit(
            name=name,
            limit=None if value is None else value * scale,
            host=line.host,
            evidence=line.evidence,
        ),
    )


def _process_limit(found: re.Match[str], line: Line) -> Sequence[Fact]:
    value = integer(found["soft"])
    return (
        Limit(
            name=_LIMITS[found["name"].lower()],
            limit=None if found["soft"] == "unlimited" else value,
            host=line.host,
            evidence=line.evidence,
        ),
    )


def _service_limit(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State the limit that systemd gives a service."""
    value = size(found["value"])
    if value is None and found["value"] != "infinity":
        return READ
    return (Limit(name="memlock", limit=value, host=line.host, evidence=line.evidence),)


def _no_devices(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that a container was given no device nodes."""
    del found
    return (
        DeviceNode(
            path="/dev/infiniband", present=False, host=line.host, evidence=line.evidence
        ),
    )


def _no_devices_asked(found: re.Match[str], line: Line) -> Sequence[Fact]:
    asked = "HostConfig.Devices" in line.source.command
    return _no_devices(found, line) if asked else ()


def _groups(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State how the groups of the I/O memory unit translate, where somebody looked."""
    if "iommu_groups" not in line.source.command:
        return ()
    state = "passthrough" if found["type"] == "identity" else "on"
    return (IommuState(state=state, host=line.host, evidence=line.evidence),)


def _hypervisor(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that the host is a guest."""
    if "Hypervisor" not in line.text and "detect-virt" not in line.source.command:
        return ()
    return (
        SoftwareVersion(
            software="hypervisor", version=found["name"].lower(),
            process=Process(host=line.host), evidence=line.evidence,
        ),
    )  # fmt: skip


def _guest_product(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that the host is a guest, by the name of the machine that its firmware tells."""
    command = line.source.command
    if "system-product-name" not in command and "product_name" not in command:
        return ()
    return (
        SoftwareVersion(
            software="hypervisor", version=found["name"].lower(),
            process=Process(host=line.host), evidence=line.evidence,
        ),
    )  # fmt: skip


def _memlock(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State ``ulimit -l``, which prints KiB."""
    value = integer(found["value"])
    return (
        Limit(
            name="memlock",
            limit=None if value is None else value * _KIBI,
            host=line.host,
            evidence=line.evidence,
        ),
    )


def _filesystem(found: re.Match[str], line: Line) -> Sequence[Fact]:
    unit = 1 if re.search(r"[KMGTP]", found["size"]) or found["size"] == "0" else _KIBI
    used = real(found["used_percent"])
    values = [size(found[name]) for name in ("size", "used", "free")]
    total, taken, free = (None if v is None else v * unit for v in values)
    return (
        Filesystem(
            mount=found["mount"].strip(),
            device=found["device"],
            size_bytes=total,
            used_bytes=taken,
            free_bytes=free,
            used_ratio=None if used is None else used / 100,
            host=line.host,
            evidence=line.evidence,
        ),
    )


def _memory(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        HostMemory(
            name=found["name"],
            size_bytes=int(found["size"]) * _KIBI,
            host=line.host,
            evidence=line.evidence,
        ),
    )


def _node(found: re.Match[str], line: Line) -> Sequence[Fact]:
    name = found["name"]
    return (
        DeviceNode(
            path=name if "/" in name or name == "shm" else f"/dev/infiniband/{name}",
            mode=found["mode"],
            owner=f"{found['owner']}:{found['group']}",
            host=line.host,
            evidence=line.evidence,
        ),
    )


def _no_node(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        DeviceNode(path=found["path"], present=False, host=line.host, evidence=line.evidence),
    )


def _probe(found: re.Match[str], line: Line) -> Sequence[Fact]:
    groups = found.groupdict()
    return (
        AdapterOpenFailed(
            adapter=groups.get("adapter") or "",
            path=groups.get("path") or "",
            errno=integer(found["errno"]) or _SYMBOLS.get(found["error"]),
            error=found["error"].strip(),
            process=Process(host=line.host),
            evidence=line.evidence,
        ),
    )


def _resolved(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State names that a host takes for its own loopback (``/etc/hosts``, ``getent hosts``)."""
    if line.before.strip():
        return READ
    return tuple(
        NameResolved(
            name=name, address=found["address"], host=line.host, evidence=line.evidence
        )
        for name in found["names"].split()
        if not name.startswith("localhost")
    )


def _denied(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that a security module keeps a node from a process."""
    return (
        AdapterOpenFailed(
            path=f"/dev/infiniband/{found['path']}", errno=_SYMBOLS["EACCES"],
            error="denied by the security module", process=Process(host=line.host),
            evidence=line.evidence,
        ),
    )  # fmt: skip


def _no_manager(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State that the connection manager's node is not there, as its first call says."""
    del found
    path = "/dev/infiniband/rdma_cm"
    return (DeviceNode(path=path, present=False, host=line.host, evidence=line.evidence),)


def _opened(found: re.Match[str], line: Line) -> Sequence[Fact]:
    process = Process(host=line.host)
    return (AdapterOpened(adapter=found["adapter"], process=process, evidence=line.evidence),)


_READS = re.compile(r"(?:^|[\s;|&$#])(?:cat|ls|stat|test|find|grep|tail|head)\s")


def _peer(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State a client whose folder is shown, where the line is an answer and no question."""
    if _READS.search(line.before):
        return READ
    return (PeerMemoryClient(name=found["name"] or "", host=line.host, evidence=line.evidence),)


def _loaded(found: re.Match[str], line: Line) -> Sequence[Fact]:
    if _AWAITED.search(line.before):
        return READ
    name = found["name"].replace("-", "_")
    return (KernelModule(name=name, host=line.host, evidence=line.evidence),)


def _in_sysfs(found: re.Match[str], line: Line) -> Sequence[Fact]:
    """State a module whose folder is listed, where the line is an answer and no question."""
    return _loaded(found, line) if not line.before.strip() else READ


def _no_peers(found: re.Match[str], line: Line) -> Sequence[Fact]:
    del found
    return (PeerMemoryClient(name="", host=line.host, evidence=line.evidence),)


def _service(found: re.Match[str], line: Line) -> Sequence[Fact]:
    return (
        ServiceState(
            service=found["service"].removesuffix(".service"),
            state=found["state"].lower(),
            text=line.text.strip()[:200],
            host=line.host,
            moment=line.moment,
            evidence=line.evidence,
        ),
    )


_NAMES = "|".join(_LIMITS)
host_state = Parser(
    tool="limits, df, ls and probes of a host",
    marks=(
        "max locked memory",
        "Max locked memory",
        "LimitMEMLOCK=",
        "open files",
        "ulimit",
        "Use%",
        "tmpfs",
        "shm",
        "kB",
        "/dev/",
        "uverbs",
        "rdma_cm",
        "issm",
        "umad",
        "RDMA_OPEN",
        "rdma_create_event_channel",
        "OPEN_FAILED",
        "memory_peers",
        "peermem",
        "nv_peer_mem",
        ".service",
        "Filesystem",
        "Hypervisor",
        '"Devices"',
        "HostConfig",
        "DMA",
        "identity",
        "detect-virt",
        "product",
        "127.0.",
        "Errno",
    ),
    reader=table(
        pattern(
            "",
            rf"(?P<name>{_NAMES})\s+\((?P<unit>[^)]*)\)\s+(?P<value>\d+|unlimited)\s*$",
            _limit,
            re.IGNORECASE,
        ),
        pattern(
            "",
            r"(?:core file size|data seg size|scheduling priority|file size|pending "
            r"signals|pipe size|"
            r"POSIX message queues|real-time priority|cpu time|file locks|real-time "
            r"non-blocking time)\s+\(",
            nothing,
        ),
        pattern(
            "LimitMEMLOCK=",
            r"(?<!Default)LimitMEMLOCK=(?P<value>\d+[KMGT]?|infinity)\b",
            _service_limit,
        ),
        pattern(
            "Max locked",
            r"(?P<name>Max locked memory)\s+(?P<soft>\d+|unlimited)",
            _process_limit,
        ),
        pattern("Max ", r"Max [\w ]{1,30}?\s{2,30}\S{1,30}\s{1,30}\S", nothing),
        pattern(
            "",
            r"\s*(?:\d{1,5}\s+)?(?P<type>DMA(?:-FQ)?|identity)\s*$",
            _groups,
        ),
        pattern(
            "ulimit -l",
            r"ulimit -l(?: [a-z]{1,10}){0,3}\s*[:=]+>?\s*(?P<value>\d+|unlimited)",
            _memlock,
        ),
        pattern('"Devices"', r"\"Devices\": (?:null|\[\s*\])", _no_devices),
        pattern("[]", r"\[\](?:\s+(?:false|\[\]|null|map\[\]))*\s*$", _no_devices_asked),
        pattern("Hypervisor vendor:", r"Hypervisor vendor:\s+(?P<name>\S+)", _hypervisor),
        pattern("", r"(?P<name>kvm|qemu|vmware|microsoft|xen|amazon)\s*$", _hypervisor),
        pattern(
            "",
            r"(?P<name>Virtual Machine|KVM|HVM domU|Standard PC|VMware|Google Compute Engine|"
            r"OpenStack|Bochs|RHEV)\b[\w .,()+/-]{0,40}$",
            _guest_product,
        ),
        pattern("Filesystem", r"Filesystem\s+\S+", nothing),
        pattern(
            "",
            r"(?P<device>[\w./:-]+)\s+(?P<size>[\d.]+[KMGTP]?i?)\s+"
            r"(?P<used>[\d.]+[KMGTP]?i?)\s+"
            r"(?P<free>[\d.]+[KMGTP]?i?)\s+(?P<used_percent>\d+)%\s+(?P<mount>/\S*)",
            _filesystem,
        ),
        pattern("", r"(?P<name>[A-Z]\w+(?:\(\w+\))?):\s+(?P<size>\d+) kB\s*$", _memory),
        pattern(
            "",
            r"(?P<mode>[cbdl][rwxsStT-]{9})[.+@]?\s++\d++\s++(?P<owner>\S++)\s++(?P<group>\S++)\s++.*?"
            r"(?P<name>(?:/\S+/)?(?:uverbs\d+|rdma_cm|umad\d+|issm\d+|nvidia\S*|gdrdrv"
            r"|knem|shm|by-ibdev))\s*$",
            _node,
        ),
        pattern(
            "cannot access",
            r"cannot access '?(?P<path>/(?:dev|sys)/[^':]+)'?: No such file or directory",
            _no_node,
        ),
        pattern(
            "RDMA_OPEN_FAILED",
            r"RDMA_OPEN_FAILED device=(?P<adapter>\S+) errno=(?P<errno>\d+) error="
            r"(?P<error>.*)",
            _probe,
        ),
        pattern("RDMA_OPEN_OK", r"RDMA_OPEN_OK device=(?P<adapter>\S+)", _opened),
        pattern(
            "OPEN_FAILED",
            r"OPEN_FAILED (?P<path>/\S+?): errno=(?P<errno>\d+) (?P<error>.*)",
            _probe,
        ),
        pattern(
            "cannot open",
            r"cannot open '?(?P<path>/dev/infiniband/[^':]+)'?.*?: (?P<errno>)"
            r"(?P<error>[A-Z].*)",
            _probe,
        ),
        pattern(
            "avc:",
            r"avc:\s+denied .{0,200}?name=\"(?P<path>uverbs\d+|rdma_cm)\"(?!.*permissive=1)",
            _denied,
        ),
        pattern(
            '"/dev/infiniband/uverbs',
            r"\"(?P<path>/dev/infiniband/uverbs\d+)\", O_\w.{0,60}= -1 (?P<errno>)"
            r"(?P<error>ENOENT)",
            _probe,
        ),
        pattern(
            "open /dev/infiniband/",
            r"open (?P<path>/dev/infiniband/[^':\s]+)'?:? ?(?P<errno>)"
            r"(?P<error>(?:No such|Permission|Operation|Device|Cannot|Invalid|Bad|Input)\b.*)",
            _probe,
        ),
        pattern(
            "/dev/infiniband/",
            r"(?P<path>/dev/infiniband/(?:uverbs|umad|rdma_cm)\w*)'?: (?P<errno>)"
            r"(?P<error>[Pp]ermission denied|[Oo]peration not permitted)",
            _probe,
        ),
        pattern(
            "127.",
            r"(?P<address>127(?:\.\d{1,3}){3})\s+(?P<names>[A-Za-z][\w.-]{0,80}"
            r"(?:\s+[A-Za-z][\w.-]{0,80}){0,4})\s*$",
            _resolved,
        ),
        pattern(
            "[Errno ",
            r"\[Errno (?P<errno>\d+)\] (?P<error>Permission denied|Operation not permitted)"
            r": b?'(?P<path>/dev/infiniband/(?:uverbs|umad|rdma_cm)\w*)'",
            _probe,
        ),
        pattern(
            "No such file or directory: ",
            r"No such file or directory: b?'(?P<path>/dev/infiniband/\w+)'",
            _no_node,
        ),
        pattern(
            "/dev/infiniband/",
            r"(?P<path>/dev/infiniband/(?:uverbs|umad|rdma_cm)\w*)\W.{0,120}?(?P<errno>)"
            r"(?P<error>Permission denied|Operation not permitted|EACCES|EPERM)",
            _probe,
        ),
        pattern(
            "/dev/infiniband",
            r"(?P<path>/dev/infiniband(?:/(?:uverbs|umad|rdma_cm)\w*)?)\W.{0,120}?"
            r"(?:No such file or directory|ENOENT)",
            _no_node,
        ),
        pattern(
            "couldn't stat",
            r"couldn't stat '(?P<path>/dev/infiniband/\w+)'",
            _no_node,
        ),
        pattern(
            "rdma_create_event_channel",
            r"rdma_create_event_channel: (?P<error>No such (?:device|file or directory).*)",
            _no_manager,
        ),
        pattern(
            "/sys/kernel/mm/memory_peers",
            r"/sys/kernel/mm/memory_peers\S*, .{0,40}\bENOENT\b",
            _no_peers,
        ),
        pattern(
            "/sys/kernel/mm/memory_peers",
            r"/sys/kernel/mm/memory_peers\S*?'?: No such file",
            _no_peers,
        ),
        pattern(
            "/sys/kernel/mm/memory_peers/",
            r"/sys/kernel/mm/memory_peers/(?P<name>\w+)",
            _peer,
        ),
        pattern(
            "memory_peers",
            r"memory_peers'?:? (?:is )?(?:empty|total 0|No such file)",
            _no_peers,
        ),
        *(
            pattern(
                mark,
                rf"(?P<name>{mark})(?: module)? (?:is|was) (?:already )?(?:loaded|present)\b",
                _loaded,
            )
            for mark in ("nvidia_peermem", "nvidia-peermem", "nv_peer_mem")
        ),
        pattern(
            "lsmod",
            r"lsmod\b.{0,60}?\b(?P<name>nvidia_peermem|nv_peer_mem) +\d{4,7} +\d+\b",
            _loaded,
        ),
        pattern(
            "successfully loaded nv",
            r"successfully loaded (?P<name>nvidia-peermem)\b",
            _loaded,
        ),
        pattern("/sys/module/nv", r"/sys/module/(?P<name>nvidia_peermem)/?\s*$", _in_sysfs),
        pattern(
            "",
            r"\W{0,8}(?P<service>[\w@.-]+\.service)\s+(?:loaded|not-found|masked)"
            r"\s+(?P<state>\w+)\b.*",
            _service,
        ),
        pattern(
            "",
            r".{0,200}?(?P<service>[\w@.-]+\.service): (?P<state>Failed|Main process "
            r"exited|Deactivated|Scheduled restart|Start request repeated).*",
            _service,
        ),
    ),
    rank=55,
)
