"""The debug log of NCCL and RCCL.

A message is found after `` NCCL INFO `` or `` NCCL WARN ``; what stands before names host,
process and GPU, in many spellings. Users cut that off, so a line that begins with words only
this library uses is read as well.
The first word chooses the few rules that may fit. Lines that all ranks print alike cost a
look into a set, which is what makes logs of thousands of ranks readable.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from weft.observe.facts.base import NOBODY, Fact, Process
from weft.observe.facts.collectives import CollectiveCall
from weft.observe.facts.communicators import TopologyPart
from weft.observe.facts.programs import Message
from weft.observe.facts.verbs import CallFailed, CompletionError
from weft.observe.parser import READ, Parser, Source
from weft.observe.parsers._nccl_errors import ERRORS, NVML, completion, message
from weft.observe.parsers._nccl_line import Rule, Words, process_of
from weft.observe.parsers._nccl_paths import CHOSEN, COUNTS, CPU, PART, PATHS, WAYS, path_fact
from weft.observe.parsers._nccl_setup import (
    ENVIRONMENT,
    GPUDIRECT,
    LIST_ALONE,
    NET,
    REFUSED_PLUGIN,
    SETUP,
)

_MARK = " NCCL "
_FORK = re.compile(
    r"(?<= )(?:FLAGCX|[MBTAVXISD]?CCL|ix[A-Z]*CCL|DLCCL|TECCL|MSCCL|BCCL|ECCL|HCCLX|NCCLX) "
    r"(?=(?:INFO|WARN|TRACE|ERROR|ABORT) )"
)
"""Libraries that grew from NCCL and write as it does, under names of their own."""
_LEVELS = {
    "INFO": "info",
    "WARN": "warning",
    "TRACE": "info",
    "ERROR": "error",
    "ABORT": "error",
}
_BARE = re.compile(
    r"\s*(?:NET/(?:IB|Socket|OFI|Libfabric|FastSocket|Plugin|AWS)|Channel \d|Using "
    r"network |comm 0x"
    r"|nRanks \d|localRanks \d|NCCL version|RCCL version|NCCL git|Initialized NET|"
    r"Assigned |GPU Direct"
    r"|NCCL_\w+ set |DMA-BUF is|Failed to (?:initialize|open libibv)|Bootstrap ?: "
    r"Using|TOPO/NET|Call to ibv_"
    r"|(?:Net ?: )?Call to (?:recv|send) (?:from|to) "
    r"|Call to (?:(?:shm_)?open|posix_fallocate|ftruncate) failed"
    r"|Cuda failure|Bootstrap ?: [Nn]o socket|socket\w{4,30}: |nvml\w{3,40}\([^)]{0,60}\) "
    r"failed"
    r"|Fusing NET"
    r"|Mismatched collective|req \d+/\d+ tag |Connect to \S+ failed|Net ?: Connect to "
    r"|Could not find real path|Message truncated|Attribute \w+ of node \w+ not found"
    r"|Error: network |Failed to bind (?:NVLink SHARP|NVLS)|Duplicate GPU|socket"
    r"(?:Poll|Start)Connect:"
    r" |\d+ coll channels|"
    r"\[\d+\]\S+:\d+/(?:IB|RoCE)|Connected all|Rank "
    r"\d+: \d+ Net"
    r"|Error while (?:creating|attaching to) shared memory|Error: failed to extend /dev/shm"
    r"|Cannot initialize CollNet|Loaded (?:net|collnet) plugin|Failed to find reverse path"
    r"|\d+\[\w+\] -> \d+\[\w+\] .{0,40}via |\S+\.cc:\d+ -> \d|\.\.\. -> \S+\.cc:\d+ ->"
    r" \d|\[\d+(?:\.\.\d+)?\] (?:IB|RoCE)"
    r"|=== System :|GPU/[\w-]{1,24} ?: ?[A-Z]{2,4}/[\w-]{1,24} \("
    r"|CPU/\d[\w-]* \(|\+ (?:PCI|GPU|NVL|NET|NIC|SYS|CPU|XGMI|C2C)\[[\d.]+\] - "
    r"|Ring \d\d : \d+\[|Using internal [Nn]etwork |Net : Message truncated)"
)
_QUOTED = re.compile(
    r"Last NCCL \S{0,20} ?log entry(?: \(may be unrelated\))?:? '(?P<said>\S.*?)'?\.?\s*$|"
    r"Last error: ?(?P<last>[A-Z\d]\S* .+)"
)
"""The library's last warning as frameworks quote it: XLA and TensorFlow; PyTorch."""
_OLD = re.compile(
    r"(?:[\w.<>-]{1,120}:\d{1,8}:\d{1,8}|[\w.*<> -]{0,60}) ?(?:\[\d{1,3}\] "
    r"(?:[\w./-]{1,120}\.(?:h|cc|cu|c):\d{1,5} )?|[\w./-]{1,120}\.(?:h|cc|cu):\d{1,5} )"
    r"(?P<level>INFO|WARN) (?=[A-Z\d][\w/]*[ :]|failed to )"
)
"""Lines of 2.0 to 2.2, which do not name the library."""
_GLUED = re.compile(r"(?<![\w ])NCCL (?P<level>INFO|WARN) ")
"""Where nothing stands before the name, or a label without a space."""
_FAILS = re.compile(
    r"[Ff]ail|[Mm]ismatch|truncated|not found|[Nn]o socket|Fusing|[Cc]ould not|wrong type|"
    r"closed by remote"
)
"""What tells a warning whose beginning was cut off."""
_TRACE_LINE = re.compile(r"(?:[\w/.]+\.(?:cc|h|cu|c)):\d+ -> \d+|[\w/.]+\.(?:cc|h):\d+ ")
_CONTINUED = re.compile(
    r"\s*(?:localGid|remoteGids?|local GID|remote GID|Network is unreachable|, on dev|hca "
    r"|(?:with )?(?:error|status)[ =]\S|opcode[ =]|len[ =]\d|vendor[ _]err|from peer )"
)
_OPERATION = re.compile(
    r"(?P<operation>AllReduce|AllGather|ReduceScatter|Broadcast|Reduce|Send|Recv|"
    r"AllToAll|AlltoAll)"
    r": opCount (?P<sequence>[0-9a-f]+) .*?count (?P<count>\d+) datatype (?P<type>\d+)"
    r" .*?comm (?P<comm>\S+)(?: \[nranks=(?P<ranks>\d{1,6})\])?"
)
_OPEN_MESSAGES = (CompletionError, CallFailed)
_CUT_WORDS = ("Got completion", "Call to ")
_SOCKET = re.compile(r"(?:nccl)?(?:Os)?[Ss]ocket\w{3,40}:?$")
"""Functions of the library that join sockets; versions name them in several ways."""
_MOST_SEEN = 200_000
_CONTINUES_WITHIN = 4
_LONGEST = 4096  # of all messages but lists of rings


@dataclass(slots=True)
class _Reader:
    """Reads the log of all ranks, whose lines may be mixed in any way."""

    source: Source
    _processes: dict[str, Process] = field(default_factory=dict)
    _paths: set[str] = field(default_factory=set)
    _drawn_by: dict[str, int | None] = field(default_factory=dict)
    _indents: dict[str, list[int]] = field(default_factory=dict)
    _calls: dict[tuple[Process, str], CollectiveCall] = field(default_factory=dict)
    _held: tuple[Words, Sequence[Fact], int] | None = None

    def take(self, text: str, number: int) -> Sequence[Fact] | None:
        """Return the facts of a line of the log."""
        at = text.find(_MARK)
        if at < 0 and "C" in text and (" INFO " in text or " WARN " in text):
            text = _FORK.sub("NCCL ", text[:_LONGEST], count=1)
            at = text.find(_MARK)
        if at >= 0:
            if text.startswith("INFO Ch", at + 6):
                return self._channel(text, at, number)
            text = text[:_LONGEST]
            level, _, words = text[at + 6 :].partition(" ")
            if level in _LEVELS:
                return self._message(text, at, level, words.strip(), number)
        quoted = _QUOTED.search(text[:_LONGEST]) if "Last " in text else None
        if quoted:
            return self._quote(quoted, text, number)
        begun = self._begun(text, number, named=at >= 0)
        if begun is None and self._held and _CONTINUED.match(text):
            return self._continue(text, number)
        return self._bare(text, number) if begun is None and _BARE.match(text) else begun

    def _quote(self, quoted: "re.Match[str]", text: str, number: int) -> Sequence[Fact]:
        """Read the last warning of the library, which a framework quotes in its own error."""
        said = (quoted["said"] or quoted["last"]).strip()
        words = Words(said, text, number, "WARN", "", NOBODY, self.source)
        return self._state(words, said.partition(" ")[0])

    def _begun(self, text: str, number: int, *, named: bool) -> Sequence[Fact] | None:
        """Read a message whose beginning is another: an old version's, or cut off."""
        old = None if named else _OLD.match(text)
        if old:
            words = text[old.end() : _LONGEST].strip()
            return self._message(text, old.start("level"), old["level"], words, number)
        glued = None if named else _GLUED.search(text)
        if glued:
            words = text[glued.end() : _LONGEST].strip()
            return self._message(text, glued.start(), glued["level"], words, number)
        if text.startswith(("INFO ", "WARN ")) and _BARE.match(text, 5):
            return self._message(text, 0, text[:4], text[5:_LONGEST].strip(), number)
        return None

    def end(self) -> Iterable[Fact]:
        """Return what may have gone on, and the last collective each rank began."""
        calls, self._calls = self._calls, {}
        return (*self._released(), *calls.values())

    def _message(
        self, line: str, at: int, level: str, text: str, number: int
    ) -> Sequence[Fact]:
        if level == "INFO" and (text.startswith("Connected to") or text in self._paths):
            return READ
        first = text.partition(" ")[0]
        if first.startswith("ncclComm") and " comm 0x" in text:
            text, first = text[text.index("comm 0x") :], "comm"  # which call made it
        if level == "INFO" and " -> " in text[:80] and _TRACE_LINE.match(text):
            return READ
        head = line[:at]
        place = ""
        if level != "INFO":
            head, place = _without_place(head)
        words = Words(text, line, number, level, place, self._process(head), self.source)
        return self._state(words, first)

    def _process(self, head: str) -> Process:
        process = self._processes.get(head)
        if process is None:
            if len(self._processes) > _MOST_SEEN:
                self._processes.clear()
            process = self._processes[head] = process_of(head)
        return process

    def _channel(self, line: str, at: int, number: int) -> Sequence[Fact]:
        """State how two ranks are joined, once for all their channels, or a ring."""
        ends = line[line.find(" : ", at) + 3 :]
        if ends in self._paths:
            return READ
        text = line[at + 11 :].strip()
        words = Words(text, line, number, "INFO", "", self._process(line[:at]), self.source)
        if " via " not in ends:
            return self._state(words, "Channel")
        self._remember(ends)
        return path_fact(ends.strip(), words) or READ

    def _remember(self, text: str) -> None:
        if len(self._paths) < _MOST_SEEN:
            self._paths.add(text)

    def _state(self, words: Words, first: str) -> Sequence[Fact]:
        """Return what a message states: by its first word, else by its shape."""
        if first == "Trees":
            self._remember(words.text)
        facts = _by_first_word(words, first)
        if facts is None:
            facts = self._by_shape(words)
        elif not facts and words.level == "WARN":
            facts = (message(words),)  # a warning says something, whatever it begins with
        before = self._released()
        if any(isinstance(fact, _OPEN_MESSAGES) or _is_cut(fact) for fact in facts):
            self._held = (words, facts, words.number)
            return before
        return (*before, *facts) if before else facts

    def _released(self) -> Sequence[Fact]:
        """Return the facts of a message that might have gone on in the next line."""
        held, self._held = self._held, None
        return held[1] if held else READ

    def _by_shape(self, words: Words) -> Sequence[Fact]:
        text = words.text
        called = _OPERATION.match(text)
        if called:
            return self._called(called, words)
        for rule in (WAYS, PART, CPU):
            part = rule.expression.match(text)
            if part:
                return self._drawing(rule, part, words)
        for rule in (ENVIRONMENT, GPUDIRECT, COUNTS, CHOSEN, NVML, LIST_ALONE, REFUSED_PLUGIN):
            found = rule.expression.match(text)
            if found:
                return rule.build(found, words)
        return (message(words),) if words.level != "INFO" else READ

    def _drawing(self, rule: Rule, part: "re.Match[str]", words: Words) -> Sequence[Fact]:
        """State the machine's topology as the first process of each host draws it."""
        host = words.process.host
        if self._drawn_by.setdefault(host, words.process.pid) != words.process.pid:
            return READ
        facts = rule.build(part, words)
        depth = 0 if rule is WAYS else self._depth(words, top=rule is CPU)
        return tuple(
            replace(one, depth=depth) if isinstance(one, TopologyPart) else one for one in facts
        )

    def _depth(self, words: Words, *, top: bool) -> int:
        """Return how far down a line of the drawing stands: below those with less before it."""
        before = words.line[: words.line.find(words.text)]
        indent = len(before) - len(before.rstrip())
        above = self._indents.setdefault(words.process.host, [])
        while above and (top or above[-1] >= indent):
            above.pop()
        if top:
            return 0
        above.append(indent)
        return len(above)

    def _called(self, found: "re.Match[str]", words: Words) -> Sequence[Fact]:
        """Remember the last collective of each rank, which tells who stopped where."""
        if len(self._calls) < _MOST_SEEN:
            self._calls[words.process, found["comm"]] = CollectiveCall(
                operation=found["operation"],
                sequence=int(found["sequence"], 16),
                elements=int(found["count"]),
                datatype=found["type"],
                communicator=found["comm"],
                ranks=int(found["ranks"]) if found["ranks"] else None,
                state="began",
                process=words.process,
                evidence=words.evidence,
            )
        return READ

    def _continue(self, text: str, number: int) -> Sequence[Fact]:
        """Read on in a message that was broken over lines: it is stated whole."""
        assert self._held is not None
        words, facts, last = self._held
        if number - last > _CONTINUES_WITHIN:
            return self._released()
        whole = replace(words, text=f"{words.text} {text.strip()}")
        facts = _by_first_word(whole, whole.text.partition(" ")[0]) or facts
        self._held = (whole, facts, number)
        return READ

    def _bare(self, text: str, number: int) -> Sequence[Fact] | None:
        """Read a message whose beginning was cut off."""
        message = text[:_LONGEST].strip()
        level = "WARN" if _FAILS.search(message) else "INFO"
        words = Words(message, text, number, level, "", NOBODY, self.source)
        if " via " in message and message[0].isdigit():
            return path_fact(message, words) or READ
        if message.startswith("Channel ") and " via " in message:
            _, _, ends = message.partition(" : ")
            return path_fact(ends.strip(), words) or READ
        return self._state(words, message.partition(" ")[0])


def _is_cut(fact: Fact) -> bool:
    """Return whether a message ends before it says what went wrong."""
    return isinstance(fact, Message) and any(words in fact.text for words in _CUT_WORDS)


def _by_first_word(words: Words, first: str) -> Sequence[Fact] | None:
    family = "NET/IB" if first.startswith("NET/IB") else first
    family = "socket" if _SOCKET.match(first) else family
    call = first.partition("(")[0]
    for rules in (ERRORS.get(family), NET.get(family), SETUP.get(call), PATHS.get(first)):
        facts = _matched(rules or (), words)
        if facts is not None:
            return facts
    if first.startswith("NET/"):
        return _of_network(words, first.rstrip(":"))
    return None


def _of_network(words: Words, first: str) -> Sequence[Fact] | None:
    """Read a message of any network: whether it reaches GPU memory, and errors."""
    found = GPUDIRECT.expression.match(words.text)
    if found:
        return GPUDIRECT.build(found, words)
    for rules in (SETUP.get(first), NET.get(first), ERRORS["NET"], NET["NET"]):
        if words.level != "INFO" and rules is NET["NET"]:
            break
        facts = _matched(rules or (), words)
        if facts is not None:
            return facts
    if "ompletion" in words.text:
        return completion(words.text, words)
    return None


def _matched(rules: Iterable[Rule], words: Words) -> Sequence[Fact] | None:
    for rule in rules:
        found = rule.expression.match(words.text)
        if found:
            return rule.build(found, words)
    return None


def _without_place(head: str) -> tuple[str, str]:
    """Split the place in the source from what stands before it."""
    before, _, last = head.rstrip().rpartition(" ")
    if last.startswith("(") and last.endswith(")"):
        before, _, last = before.rstrip().rpartition(" ")
    if last.isdigit() and before.endswith(":"):  # "file.cc: 106"
        before, _, name = before.rpartition(" ")
        last = f"{name}{last}"
    if ".c" in last or ".h:" in last:
        return before, last
    return head, ""


nccl_log = Parser(
    tool="NCCL debug log",
    marks=(
        "NCCL ",
        "CCL INFO ",
        "CCL WARN ",
        "CX INFO ",
        "CX WARN ",
        "] INFO ",
        " WARN ",
        "NET/",
        "Channel ",
        "Using network",
        "nRanks ",
        "localRanks ",
        "Call to ibv_",
        "NCCL_",
        "/RoCE",
        "/IB",
        " -> ",
        "coll channels",
        "CollNet",
        "reverse path",
        "Net devices",
        "NVLS",
        "Cuda failure",
        "Bootstrap",
        "socket",
        "nvml",
        "Fusing NET",
        "ismatch",
        "Connect to ",
        "real path",
        "truncated",
        "Attribute ",
        "NET plugin",
        "shared memory segment",
        "=== System",
        "PCI[",
        "/LOC)",
        "Ring 0",
        "Using internal ",
        "Net : ",
    ),
    reader=_Reader,
    rank=10,
    longest=1 << 16,
)
