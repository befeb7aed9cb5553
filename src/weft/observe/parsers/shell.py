"""Commands typed before their outputs: they name the host and what follows."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from weft.observe.facts.adapters import AdapterSeen
from weft.observe.facts.base import Evidence, Fact, Process
from weft.observe.facts.hosts import DeviceNode, Limit, ModuleAbsent, PeerMemoryClient
from weft.observe.facts.interfaces import Interface
from weft.observe.facts.programs import Command, Setting
from weft.observe.facts.transports import NoVerbsLibrary
from weft.observe.parser import Parser, Source

_THEN = re.compile(r"\s*(?:;|&&)\s*")
_PROMPT = re.compile(
    r"\s*(?:(?:\(\w+\) )?(?:\[(?P<user>[\w.-]+)@(?P<host>[\w.-]+)[ :][^\]]{0,120}\][$#]|"
    r"(?P<user2>[\w.-]+)@(?P<host2>[\w.-]+)(?::| (?=[~/]))[^$#]{0,120}[$#]|"
    r"[~/][\w/.-]{0,60} ?[$#]|"
    r"[\w.-]{1,40} \[[\w.-]{1,40}: \w{3,12}\] (?:\([\w -]{1,30}\) )?[#>]|"
    r"[\w.-]{1,40}@[\w.-]{1,60}>(?= show )|[$#>%\u276f]|sonic-cli#|"
    r"(?!(?:ba|z|c|k)?sh\b)(?P<host3>[a-z][\w-]{0,40})[$]|\w[\w.-]{0,40}#)\s+|"
    r"\w[\w.-]{0,40}(?:\(config[\w-]{0,30}\))?[#>](?=show )|"
    r"(?P<host4>[a-z][\w.-]{0,60}):[~/][\w./-]{0,80} ?[#>$] )"
    r"(?P<command>\S.*)"
)
_KNOWN = re.compile(
    r"(?:cd /\S{1,200}\s*(?:;|&&)\s*)?"
    r"(?:sudo |time |srun [^|]{0,200}|mpirun |env |docker |"
    r"watch (?:-\w{1,12} ?[\d.]{0,6} ){0,3}[\"']?)*(?:[.~]{0,2}/(?:\S*/)?)?"
    r"(?:cd(?= /)|tail(?= -)|while(?= (?:true|:|sleep)\b)|"
    r"nvidia-smi|ib\w+|ibv_\w+|rdma|ethtool|mlnx_qos|show|portstat|dmesg|"
    r"journalctl|lspci|setpci|lsmod|modprobe|mokutil|ulimit|df|ip|cat|grep|kubectl|oc|service|"
    r"k\w{0,3}(?= (?:get|describe|logs|exec|apply|delete|-n) )|"
    r"perfquery|sminfo|smpquery|sleep|portstat|pfcstat|queuestat|nstat|"
    r"uptime|date|netstat|ss|tc|dcb|devlink|mlxfwmanager|mstfwmanager|mstconfig|mstflint|flint|mstlink|"
    r"modinfo|dmidecode|ofed_info|lldpctl|lldpcli|lshw|nv|ls|free|numactl|lscpu|uname|env|export|systemctl|sharp"
    r"\w*|ucx_info|fi_info|f?ping|find|ldconfig|rpm|dpkg|ssh|"
    r"iptables|firewall-cmd|ufw|systemd-detect-virt|nc|ncat|curl|wget|socat|nft|telnet|strace|ncclras|mlxlink|"
    r"rping|arping|ucmatose|udaddy|qperf|aws|gcloud|az|oci|"
    r"mpirun|srun|show_gids|saquery|opensm|docker|podman|hostname|sysctl|dcgmi|mst|"
    r"mlxlink|mlxconfig|getent|hccn_tool|"
    r"torchrun|python3?|\S*_perf|ifconfig|route|cma_\w+|dcb|lldptool|for|echo|exec|configure|interface)"
    r"\b(?!\()"
)
_EXPORT = re.compile(
    r"\s*(?:export |set |-x |--env |-e )?\"?(?P<name>(?:NCCL|RCCL|UCX|FI|OMPI|NVSHMEM|"
    r"MLX5|TORCH|CUDA|GLOO|SHARP|ROCM|ROCR|NVIDIA|RDMAV|IBV|MELLANOX)_\w+)"
    r"(?:=|\"?: ?(?=\"))(?P<value>.*)$"
)
_COMMENT = re.compile(r"\s+#.*$")
_SAID_OF_IT = re.compile(
    r"(?<=[^\s,])\s{1,4}(?:->|=>|\u2192|[:;(]|[a-z]{2,20}\b(?!=))[^\"']{0,200}$"
)
"""What somebody writes behind a value: a shell ends it at the first blank."""
_WENT = re.compile(r"cd (?P<folder>/[^\s;&]{1,200})")
_LAUNCH = re.compile(
    r"(?:-x |--mca |-mca |-H |-np |-n \d|--host |--allow-run-as-root|\"\$\{BIN\}\"|"
    r"mpirun (?!noticed|detected|was|has|could|failed))"
)
_LED = re.compile(
    r"\s*(?P<own>(?:[A-Z][A-Z0-9_]{1,60}=\S{0,200} +)+)(?=(?:\S{0,80}/)?"
    r"(?:mpirun|mpiexec|orterun|srun|torchrun|python3?|\w+_perf)(?:\s|$))"
)
"""Variables before the name of a program, which are that program's alone."""
_FORWARDED = re.compile(r"-x (?P<name>[A-Z][A-Z0-9_]+)(?:=(?P<value>\S+))?")
_SEPARATOR = re.compile(
    r"(?:={3,}|#{2,}|-{3,}|\*{3,}|`) ?(?P<command>[\w./-][^=#*]{1,200}?) ?(?:={3,}|#{2,}"
    r"|-{3,}|\*{3,}|`)?\s*$"
)


_EXEC = re.compile(
    r"(?:\b(?:kubectl|oc|docker|podman|nerdctl) (?:.{0,80}? )?exec "
    r"(?:(?:-n|-c|-u|-e|-w|--namespace|--container|--user|--env)[ =]\S+ |-\S+ )*(?:pods?/)?|"
    r"^(?:sudo )?ssh (?:-\w{1,4} )?(?:-o \S{1,60} )?(?:[\w.-]{1,40}@)?(?=[\w.-]{1,80} \S))"
    r"(?P<there>[a-z0-9][\w.-]{0,200})"
)
"""A command that runs another elsewhere: in a pod, in a container, on a host."""
_SOUGHT = re.compile(
    r"lsmod\s*\|\s*e?grep\s+(?:-\w+\s+)*[\"']?(?P<name>[\w-]+(?:\\?\|[\w-]+)*)"
    r"[\"']?\s*$"
)
_LIBRARY_SOUGHT = re.compile(
    r"(?:(?:ldconfig -p|rpm -qa|dpkg -l)\s*\|\s*e?grep\s+(?:-\w+\s+)*|find\s.{1,80}-name\s+)"
    r"[\"']?\*?(?P<name>(?:lib)?ibverbs|rdma-core)[\w.*-]*[\"']?\s*(?:2>\s?\S+\s*)?$"
)
_ALTERNATIVES = re.compile(r"\\?\|")
_KIBI = 1 << 10
_LIMITED = re.compile(r"\bulimit -(?:H|S)?l\s*['\")]*\s*$")
_TOLD = re.compile(r"ulimit -l\b.{0,30}[:=]\s*(?:\d+|unlimited)\s*$")
"""What a job prints of its limit, which is no command."""
_MANY = re.compile(r"\b(?:srun|mpirun|mpiexec|pdsh|clush|ansible|parallel|for|hostname)\b")
"""A command that is answered once for each of several hosts."""
_TITLE = re.compile(
    r"(?P<sign>={1,4}|-{1,4}|#{1,4}|>{1,4}) ?(?P<host>[a-z0-9][\w.-]{0,80})(?: |$|:)"
)
_SHOWN = re.compile(
    r"\becho \"?\$\{?(?P<name>(?:NCCL|UCX|FI|RCCL|GLOO)_\w+)\}?\"?\s*$|"
    r"\bprintenv (?P<named>(?:NCCL|UCX|FI|RCCL|GLOO)_\w+)\s*$"
)
_WORD = re.compile(r"\s*[\w^=,:./-]{1,200}\s*$")
_SEARCHES = re.compile(r"grep|\s-i?name\s")
_NO_PROGRAM = re.compile(r": (?:command )?not found\s*$")
_VALUE = re.compile(r"\s*(?:\d{1,5}: )?(?P<value>unlimited|\d{1,18})\s*$")
_LISTED = re.compile(
    r"\bls\s+(?:-[\w-]+\s+)*(?P<path>/dev/infiniband|/sys/class/infiniband|/sys/class/net|"
    r"/sys/kernel/mm/memory_peers)/?\s*(?:2>\S+|\|\s*cat)?\s*$"
)
_NAMES = re.compile(r"\s*\w[\w.-]{1,39}(?:\s+\w[\w.-]{1,39}){0,40}\s*$")
_LONG_LINE = re.compile(r"\s*(?:total [1-9]|[cdlb-][rwxsStT-]{9}\S*\s)")
_SIGNS = (
    "$ ",
    "# ",
    "> ",
    "\u276f ",
    "% ",
    " | grep ",
    "==",
    "##",
    "NCCL_",
    "UCX_",
    "FI_",
    "OMPI_",
    "_IFNAME",
    "CUDA_",
    "--mca ",
    "-x ",
    "mpirun",
    "srun ",
    "modprobe",
    "service ",
    "lsmod",
    "nvidia-smi",
    "ibv_",
    "ibstat",
    "ethtool -",
    "mlnx_qos",
    "show_gids",
    "-H ",
    "-np ",
    "perfquery",
    "ib_",
    "ibping",
    "iblinkinfo",
    "rdma ",
    "\\",
    "BIN}",
    "lspci -",
    "dmesg -",
    "kubectl ",
    "oc ",
    "TORCH_",
    "GLOO_",
    "SHARP_",
    "NVSHMEM_",
    "RCCL_",
    "- show ",
    "#show ",
    ">show ",
    "`show ",
)
_MOST_WORDS = 8  # more are prose
_MOST_COMMANDS = 4096
_PAUSE = re.compile(r"(?:^|;|&&)\s*(?:sudo )?sleep\s+\d")
_COUNTS = re.compile(
    r"ethtool .*(?:-S|--statistics)\b|perfquery|ibqueryerrors|hw_counters|/counters\b|"
    r"/debug/bnxt_re|rdma (?:-\w+ )*statistic|"
    r"show .*(?:counter|queue|queuing|priority-group|pfc|drop|stat)|"
    r"ip (?:-\w+ )*-s |mlxlink .*-c|nstat|portstat|pfcstat|queuestat|"
    r"\bk\w* (?:-\S+ )*(?:describe|get) nodes?\b"
)
"""Commands that print counters, which count from one reading to the next."""


@dataclass(slots=True)
class _Reader:
    """Remembers the last command for the other readers."""

    source: Source
    continued: bool = False
    sought: tuple[str, Evidence] | None = None
    absent: list[Fact] = field(default_factory=list)
    libraries: dict[tuple[str, str], Fact | None] = field(default_factory=dict)
    listed: tuple[str, Evidence] | None = None
    names: list[str] = field(default_factory=list)
    missing: bool = False
    limited: int = 0
    many: bool = False
    member: str = ""
    shown: tuple[str, int] | None = None
    typed: dict[tuple[str, str], int] = field(default_factory=dict)
    waited: bool = False
    numbers: bool = False

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the command or variable of a line."""
        self._look(text)
        answered = self._answered(text, number)
        if answered is None:
            answered = self._variables(text, number) or None
        if answered is not None:
            return answered
        if self.continued or _LAUNCH.match(text.strip()):
            return self._launch(text, number)
        prompt = _PROMPT.match(text)
        titled = _SEPARATOR.match(text) if not prompt else None
        command = prompt["command"] if prompt else titled["command"] if titled else text.strip()
        if not _KNOWN.match(command) or (not prompt and not titled and not _bare(command)):
            return None
        evidence = self.source.evidence(text, number)
        host = self._arrive(command, prompt)
        absent, self.absent = [*self.absent, *self._folder()], []
        self._expect(command, evidence)
        typed = _EXPORT.match(command) if command.startswith("export ") else None
        if typed:
            value = _COMMENT.sub("", typed["value"]).strip().strip("\"'")
            absent.append(Setting(name=typed["name"], value=value, evidence=evidence))
        forwarded = _forwarded(command, evidence) if prompt else []
        return (
            *absent,
            Command(command=command[:300], host=host, evidence=evidence),
            *forwarded,
        )

    def _arrive(self, command: str, prompt: re.Match[str] | None) -> str:
        """Go where a command runs, and return the name of that host, pod or container."""
        inside = _EXEC.search(command)
        hosts = prompt.group("host", "host2", "host3", "host4") if prompt else ()
        host = inside["there"] if inside else next(filter(None, hosts), "")
        self.source.arrive(host)
        self.source.command = command
        went = _WENT.match(command)
        self.source.folder = went["folder"] if went else self.source.folder
        self._again(command, host)
        return host

    def _expect(self, command: str, evidence: Evidence) -> None:
        """Note what the lines below a command will answer."""
        listed, shown = _LISTED.search(command), _SHOWN.search(command)
        self.listed = (listed["path"], evidence) if listed else None
        self.shown = (shown["name"] or shown["named"], evidence.line) if shown else None
        self.limited = evidence.line if _LIMITED.search(command) else 0
        self.many, self.member = bool(_MANY.search(command)), ""
        search = _SOUGHT.search(command) or _LIBRARY_SOUGHT.search(command)
        self.sought = (search["name"], evidence) if search else None

    def end(self) -> Iterable[Fact]:
        """Return the modules and libraries that were sought in vain."""
        self._look("")
        absent, self.absent = [*self.absent, *self._folder()], []
        libraries, self.libraries = self.libraries, {}
        return [*absent, *(one for one in libraries.values() if one is not None)]

    def _answered(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return what a line answers to the command before it, if it does."""
        if self.many and self._of_loop(text):
            return ()
        facts = self._entry(text, number) if self.listed else None
        if facts is not None:
            return facts
        answer = self._answer(text, number)
        return None if answer is None else (answer,)

    def _of_loop(self, text: str) -> bool:
        """Take a title that a loop writes before each host's answers: it names the host."""
        titled = _TITLE.match(text)
        if not titled or not re.search(
            rf"echo [\"']?{titled['sign']} ?\$", self.source.command
        ):
            return False
        self.source.arrive(titled["host"])
        return True

    def _again(self, command: str, host: str) -> None:
        """Number the readings of counters: a command typed once more on a host begins one.

        Without the host's name only a pause between says that it is the same host.
        """
        self.waited = self.waited or bool(_PAUSE.search(command))
        if self.source.sample is not None and not self.numbers:
            return  # the file's name said which reading it is
        key = (host, _counting(command))
        if not _COUNTS.search(command) or (key in self.typed and not (host or self.waited)):
            return
        times = self.typed.get(key, -1) + 1
        if len(self.typed) < _MOST_COMMANDS or key in self.typed:
            self.typed[key] = times
        self.source.sample, self.numbers = times or None, True

    def _answer(self, text: str, number: int) -> Fact | None:
        """Return what the line after a question answers: a variable, a limit."""
        if self.shown and self.shown[1] == number - 1 and _WORD.match(text):
            evidence = self.source.evidence(text, number)
            return Setting(name=self.shown[0], value=text.strip(), evidence=evidence)
        if self.limited != number - 1:
            return None
        limit = _VALUE.match(text)
        self.limited = number if self.many else 0
        if not limit:
            self.member = text.strip() if _WORD.match(text) else ""
            self.limited = self.limited if self.member else 0
            return None
        return self._memlock(limit["value"], text, number)

    def _memlock(self, value: str, text: str, number: int) -> Limit:
        """State what ``ulimit -l`` answered, in KiB."""
        limit = None if value == "unlimited" else int(value) * _KIBI
        evidence = self.source.evidence(text, number)
        host = self.member or self.source.host
        return Limit(name="memlock", limit=limit, host=host, evidence=evidence)

    def _entry(self, text: str, number: int) -> Sequence[Fact] | None:
        """Take what a folder holds, from its listing in words or in long lines."""
        assert self.listed is not None
        path, _ = self.listed
        if "cannot access" in text or "No such file" in text:
            self.missing = True
            return None
        if _LONG_LINE.match(text):
            self.missing = True  # those who read long lines state them, one by one
            return None
        if not _NAMES.match(text):
            return None
        names = text.split()
        self.names += names
        evidence = self.source.evidence(text, number)
        return [self._held(path, name, evidence) for name in names]

    def _held(self, path: str, name: str, evidence: Evidence) -> Fact:
        host = self.source.host
        if path == "/sys/class/infiniband":
            return AdapterSeen(adapter=name, host=host, evidence=evidence)
        if path == "/sys/class/net":
            return Interface(interface=name, host=host, evidence=evidence)
        if path == "/dev/infiniband":
            return DeviceNode(path=f"{path}/{name}", host=host, evidence=evidence)
        return PeerMemoryClient(name=name, host=host, evidence=evidence)

    def _folder(self) -> list[Fact]:
        """State what a listed folder lacks."""
        listed, names, missing = self.listed, self.names, self.missing
        self.listed, self.names, self.missing = None, [], False
        if listed is None or missing:
            return []
        path, evidence = listed
        host = self.source.host
        if path == "/dev/infiniband" and names and not any("uverbs" in one for one in names):
            return [DeviceNode(path=f"{path}/uverbs*", present=False, host=host,
                               evidence=evidence)]  # fmt: skip
        if path == "/sys/kernel/mm/memory_peers" and not names:
            return [PeerMemoryClient(name="", host=host, evidence=evidence)]
        return []

    def _look(self, text: str) -> None:
        """Note whether the line after a search for a module or library shows it."""
        sought, self.sought = self.sought, None
        names = _ALTERNATIVES.split(sought[0]) if sought else []
        if not sought or _NO_PROGRAM.search(text):
            return
        counted = text.strip().isdigit() and int(text) > 0  # grep -c
        host = self.source.host
        lacks = _not_found(names[0], host, sought[1])
        shown = _SEARCHES.split(text, maxsplit=1)[0]  # the next line may be the next search
        there = counted or any(name in shown for name in names)
        if isinstance(lacks, NoVerbsLibrary):  # it may be found by another search
            before = self.libraries.setdefault((host, names[0]), lacks)
            self.libraries[host, names[0]] = None if there else before
        elif not there:
            self.absent.append(lacks)

    def _variables(self, text: str, number: int) -> Sequence[Fact]:
        """Return a variable that a line sets, or those of the command that follows them."""
        evidence = self.source.evidence(text, number)
        prompt = _PROMPT.match(text) if "=" in text else None
        typed = prompt["command"] if prompt else text
        led = _LED.match(typed)
        if led:
            own = [
                Setting(name=one["name"], value=one["value"], origin="command",
                        evidence=evidence)
                for word in led["own"].split()
                if (one := _EXPORT.match(word))
            ]  # fmt: skip
            return (*own, *self._launch(typed, number))
        variable = _EXPORT.match(text)
        if not variable:
            return ()
        value = _SAID_OF_IT.sub("", _COMMENT.sub("", variable["value"]).strip())
        value = value.rstrip(",").strip("\"'")
        return (Setting(name=variable["name"], value=value, evidence=evidence),)

    def _launch(self, text: str, number: int) -> Sequence[Fact]:
        """Read the lines of a launch: the variables it forwards."""
        self.continued = text.rstrip().endswith("\\")
        evidence = self.source.evidence(text, number)
        return (
            Command(command=text.strip()[:300], evidence=evidence),
            *_forwarded(text, evidence),
        )


def _forwarded(command: str, evidence: Evidence) -> list[Setting]:
    """Return the variables that a launch passes on to the ranks."""
    return [
        Setting(name=one["name"], value=one["value"], origin="command", evidence=evidence)
        for one in _FORWARDED.finditer(command)
        if one["value"]
    ]


def _not_found(name: str, host: str, evidence: Evidence) -> Fact:
    """State what a search did not find: a module, or the verbs library."""
    if "verbs" in name or name == "rdma-core":
        return NoVerbsLibrary(process=Process(host=host), evidence=evidence)
    return ModuleAbsent(name=name, host=host, evidence=evidence)


def _counting(command: str) -> str:
    """Return what of a command prints counters, without what is typed before and after.

    >>> _counting("date; ethtool -S eth4") == _counting("sleep 30; ethtool -S eth4; uptime")
    True
    """
    return "; ".join(part for part in _THEN.split(command.strip()) if _COUNTS.search(part))


def _bare(command: str) -> bool:
    """Return whether a line without a prompt is a command, by its options or its name alone."""
    words = command.split()
    if _TOLD.search(command):
        return False
    return len(words) <= _MOST_WORDS and (
        any(word.startswith("-") for word in words[1:])
        or (words[1:2] == ["|"] and words[2:3] in (["grep"], ["egrep"], ["awk"], ["head"]))
        or (len(words) == 1 and words[0].startswith(("ib", "nvidia-smi", "show_gids", "lsmod")))
        or words[:1] == ["modprobe"]
        or (words[:1] == ["service"] and words[2:] in (["status"], ["start"], ["restart"]))
    )


shell = Parser(
    tool="commands",
    marks=_SIGNS,
    reader=_Reader,
    rank=5,
)
