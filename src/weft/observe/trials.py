"""What people say they tried, and whether it helped: ``NCCL_CROSS_NIC=0 -> ok, 171 GB/s``.

That a job runs with one thing changed is an experiment, and says more than most messages.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LONGEST = 400
_WORKS = re.compile(
    r"\b(?:works?|worked|working|runs|ran|ok|okay|fine|completes?|completed|pass(?:es|ed)?|"
    r"succeeds?|succeeded|trains|starts|solve[sd]?|solved|fix(?:es|ed)|cure[sd]|help(?:s|ed)|"
    r"resolved|goes away|gone|disappears?|back to normal|as expected)\b|"
    r"(?:->|=>|:)\s*(?:\d[\d.]* ?G[Bb](?:/s|ps)|good\b)|\u2705",
    re.IGNORECASE,
)
_FAILS = re.compile(
    r"\b(?:same (?:error|result|problem|hang)|not (?:help|work|fix|solve|ok)\w*|n[o']t (?:help|"
    r"work|fix|change)\w*|no (?:effect|difference|change|luck|help|improvement)|still|in vain|"
    r"un(?:able|successful\w*)|never|fails?|failed|hangs?|hung|crash(?:es|ed)?|times? out|"
    r"timed out|refused|denied|cannot|could not|should|would|might|may)\b|[?\u274c]",
    re.IGNORECASE,
)
"""Words by which a line says the opposite, or no more than a wish."""
_BUT = re.compile(
    r"(?:,|;|\.|\)|\u2014| but| while| whereas| and| otherwise| without)\s", re.IGNORECASE
)
_AHEAD = re.compile(r"\b(?:this|these|that|following|below|one line)\b", re.IGNORECASE)
_TRIED = re.compile(
    r"\b(?:NCCL|RCCL|UCX|FI|GLOO|OMPI_MCA|TP|NVSHMEM)_[A-Z0-9_a-z]{2,60}=\"?"
    r"[\w^=,.:/-]{0,200}[\w]|"
    r"--privileged\b|--(?:shm-size|ipc|ulimit|device|cap-add|network)[= ][\w=:./-]{1,60}|"
    r"--mca [\w^]{1,40} [\w,^]{1,40}|"
    r"modprobe nvidia[-_]peermem|modprobe nv_peer_mem|"
    r"systemctl (?:re)?start nvidia-fabricmanager|systemctl stop (?:firewalld|ufw|iptables)|"
    r"iptables -F|ufw disable|setenforce 0|(?:amd_|intel_)?iommu=(?:pt|off)|"
    r"disable[_-]acs\S{0,20}|setpci .{1,60}ACS\S{0,40}|"
    r"(?:re)?start(?:ed|ing)? (?:the )?opensm\b"
)
_HABIT = re.compile(
    r"\b(?:always|everywhere|usually|normally|routinely|by default|recommended|in production|"
    r"for (?:us|me|years|months|weeks)|(?:on|in|for) (?:all|every|other|the other)\b|elsewhere|"
    r"(?:years?|months?) ago|last (?:year|month|spring|summer|autumn|winter)|used to|"
    r"we (?:set|use|have|run with)|(?:is|are) (?:already )?set)\b",
    re.IGNORECASE,
)
"""Words by which somebody praises what he has had all along, and tries nothing."""
_TROUBLE = re.compile(
    r"\b(?:hang(?:s|ing)?\b|hung|stuck|never (?:ends|returns|finishes|starts)|fail(?:s|ed|ing|"
    r"ure)?\b|errors?\b|time[sd]? out|crash|abort|slow)",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"(?:\b(?:no|not|without|never|zero|0|any|nor|avoids?|prevents?|in case of)\b|n[o']t\b)"
    r"[^.;:]{0,24}$|\bif\b[^,.;]{0,40}$|\b(?:might|may|could|would)\b.{0,20}$|"
    r"\b(?:last (?:year|month|week|spring|summer|autumn|winter)|yesterday's|(?:years?|months?|"
    r"weeks?) ago|of last)\b.{0,60}$|INFO .{0,200}$",
    re.IGNORECASE,
)
"""What stands before a word of trouble that is denied, only thought of, or long past."""
_NONE = re.compile(r"[- ]?free\b|(?:\(s\))?[ :=]{1,3}(?:0|none|no)\b(?!\.\d)", re.IGNORECASE)
_DROPPED = re.compile(
    r"\b(?:without|unset(?:ting)?|removing|dropping|removed|unsetting|no longer set)"
    r"\s+\"?(?P<name>(?:NCCL|RCCL|UCX|FI|GLOO)_[A-Z0-9_]{2,60})(?!=)"
)


@dataclass(frozen=True, slots=True)
class Trial:
    """Something that was changed, after which all was well; ``dropped`` where it was removed.

    ``line`` counts from 1, ``text`` is the line that says so.
    """

    tried: str
    line: int
    text: str
    dropped: bool = False


def trials(text: str) -> Iterator[Trial]:
    """Yield what a text says helped.

    >>> [one.tried for one in trials("3 nodes, -x NCCL_CROSS_NIC=0: ok")]
    ['NCCL_CROSS_NIC=0']
    >>> [one.tried for one in trials("NCCL_IB_HCA=mlx5_5 -> same error")]
    []
    """
    found = list(_tried(text))
    values: dict[str, set[str]] = {}
    for one in found:
        values.setdefault(one.tried.partition("=")[0], set()).add(one.tried)
    for one in found:
        name = one.tried.partition("=")[0]
        if len(values[name]) == 1 or _fails_with(name, text):
            yield one  # where each of a variable's values will do, it decides nothing


def tells_of_trouble(text: str) -> bool:
    """Return whether somebody says that something fails, and not that nothing does.

    >>> tells_of_trouble("two nodes hang for ever"), tells_of_trouble("no errors, no hangs")
    (True, False)
    """
    for line in text.split("\n"):
        short = line[:_LONGEST]
        for said in _TROUBLE.finditer(short):
            denied = _DENIED.search(short[: said.start()]) or _NONE.match(short, said.end())
            if not denied:
                return True
    return False


def _fails_with(name: str, text: str) -> bool:
    lines = (line[:_LONGEST] for line in text.split("\n") if name in line)
    return any(_FAILS.search(line) for line in lines)


def _tried(text: str) -> Iterator[Trial]:
    """Yield what lines say helped, whatever others say."""
    promised = 0
    for number, line in enumerate(text.split("\n"), 1):
        short = line[:_LONGEST]
        if not short.strip() or _HABIT.search(short):
            continue
        above, promised = promised, 0
        told = list(_told(short))
        if above and not told:
            told = [found[0] for found in _TRIED.finditer(short)]
        for tried in told:
            yield Trial(tried.strip("\"'"), number, line.strip())
        dropped = _DROPPED.search(short)
        if dropped and _helped(short):
            yield Trial(dropped["name"], number, line.strip(), dropped=True)
        if not told and _AHEAD.search(short) and _helped(short):
            promised = number


def changes(command: str) -> list[str]:
    """Return the variables and options of a command that go round a fault, or may.

    >>> changes("mpirun -np 2 -x NCCL_DEBUG=INFO -x NCCL_NET_GDR_LEVEL=0 ./all_reduce_perf")
    ['NCCL_DEBUG=INFO', 'NCCL_NET_GDR_LEVEL=0']
    """
    return [found[0].strip("\"'") for found in _TRIED.finditer(command)]


def _told(line: str) -> Iterator[str]:
    """Yield what was tried in the parts of a line that say that it helped."""
    if not _TRIED.search(line) or not _WORKS.search(line):
        return
    parts = _BUT.split(line) if _FAILS.search(line) else [line]
    for part in parts:
        if _helped(part):
            yield from (found[0] for found in _TRIED.finditer(part))


def _helped(part: str) -> bool:
    return _WORKS.search(part) is not None and _FAILS.search(part) is None
