"""What loggers, launchers and people put before the text of a tool, on every line of it.

A label names a rank, a host, a pod or a file, or it is nobody's: a stamp, a level, the number
of the line. Labels stand one behind another, each is taken off in its turn.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice, pairwise

MOST_LABELS_OF_A_LINE = 6
_LOOKED_AT = 400
_NUMBERED_RATIO = 0.9
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? "
_DATE = (
    rf"(?:\d{{4}}[-/.]\d\d[-/.]\d\d|\d\d[-/]\d\d(?:[-/]\d{{4}})?|"
    rf"(?:{_DAY})?(?:{_MONTH} [ \d]?\d|\d\d[ -]{_MONTH})(?:[ -]\d{{4}})?)"
)
_STAMP = (
    rf"(?:{_DATE}[T _,:-]{{1,2}})?{_CLOCK}(?: ?[AP]M)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?"
    r"(?: (?:[A-Z]{3,4} )?20\d\d(?![-/\d]))?"
    r"|1\d{9}(?:\.\d{1,9}|\d{3}|\d{6}|\d{9})?(?=[ \t\]])"
)
_LEVEL = (
    r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|CRITICAL|FATAL|"
    r"trace|debug|info|notice|warn|warning|error|critical|fatal)"
)
_SOURCE = r"[\w./<>-]{1,80}\.(?:py|go|cc|cpp|c|h|rs|java|sh):\d{1,6}(?::\w{1,40})?"
LABEL = re.compile(
    r"\s{0,12}(?:"
    r"(?:[\w.@-]{1,80}(?=\[))?(?:\[[\w.@-]{1,80}@)?"  # the daemon of a launch
    r"(?P<tag>\[?\d{1,6},\d{1,6}\])<std(?:out|err|diag)>: ?"  # mpirun --tag-output
    r"|\[(?P<rank>rank\d{1,6}|default\d{1,5})\]: ?"  # PyTorch, torchrun
    r"|\((?P<actor>[\w.-]{1,60}(?: pid=\d{1,9})?(?:, ip=[\d.]{7,15})?)\) ?"  # Ray and others
    r"|\[pod/(?P<pod>[\w./-]{1,120})\] ?"  # kubectl logs --prefix
    r"|(?P<task>\d{1,5}): "  # srun --label, grep -n
    r"|(?P<file>(?!\d{1,3}(?:\.\d{1,3}){3}:)(?:\.{0,2}/)?(?:[\w.@+-]{1,80}/){0,12}[\w@+-][\w.@+-]{0,80}\."
    r"(?:txt|log|out|err|json|md|csv|\d{1,3})):(?!\d{1,8}:\d{1,8} ?\[)(?:\d{1,8}[:-])?"
    r"|(?P<host>[A-Za-z][\w.-]{1,80}|\d{1,3}(?:\.\d{1,3}){3}):(?: |(?=\t))"  # pdsh, clush
    r"|(?P<service>[\w.-]{1,60}) +\| ?"  # docker compose
    rf"|(?:<\d{{1,3}}>)?{_MONTH} [ \d]\d {_CLOCK} "  # syslog
    r"(?P<logged>[\w.-]{1,80} [\w./@-]{1,60})(?:\[\d{1,8}\])?: ?"
    r"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,\d]{0,10}(?:Z|[+-]\d\d:?\d\d)? "  # journald
    r"(?P<journal>[\w.-]{1,80} [\w./@-]{1,60})\[\d{1,8}\]: ?"
    r"|(?P<stern>[a-z0-9][a-z0-9.-]{2,80}-[a-z0-9]{0,9}\d) [a-z0-9-]{1,40} "
    r"|(?P<replica>(?:[a-z0-9-]{1,60} )?[a-z0-9][a-z0-9.-]{2,80}-[a-z0-9]{5}"
    r" [a-z0-9-]{1,40}|[a-z0-9-]{1,60} [a-z0-9][a-z0-9.-]{2,80}-\d{1,6} [a-z0-9-]{1,40}) "
    rf"|[\[(]?(?:{_STAMP})[\])]?(?: std(?:out|err) [FP])?:?[ \t]?"
    r"|\[\d{1,8}\]:?(?: |\t)"
    r"|\d{1,7}(?:\t|[:|]?(?: (?= {0,2}[A-Za-z\[(<#$/])))"  # numbers of lines
    r"|\d{1,7}:(?=[^\d\s:])"  # grep -n
    rf"|[-|:]? {{0,6}}[\[(<]?{_LEVEL}[\])>]?(?: {{0,6}}[:|-]{{1,2}}(?: |\t|(?=\S))|[ \t])"
    rf"|[-|:]? {{0,6}}[\[(<]?{_SOURCE}[\])>]?(?: ?[:|-]{{1,2}})?(?:[ \t]|(?<=:))"
    r"|(?:- |\| )?\w[\w.]{1,60}:\w{1,40}:\d{1,6}(?: - |: )"  # loguru
    r"|[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{1,9} {1,9}\d{1,8} [\w./-]{1,60}:\d{1,6}\] "  # klog
    r"|\{[\w./-]{1,60}=\"[^\"]{0,120}\"(?:, ?[\w./-]{1,60}=\"[^\"]{0,120}\"){0,20}\} "  # logcli
    r"|\[(?!(?i:resolved)\b)(?P<bracket>[A-Za-z][\w.:/@#-]{0,60})\] ?"
    r"|(?P<logger>[A-Za-z][\w.-]{1,80}):(?=[^\s:/\\])"  # Python's logging, names glued on
    r"|(?P<logged2>[A-Za-z][\w.-]{1,80} [a-z][\w./@-]{1,60})(?:\[\d{1,8}\])?: "
    r"|(?P<machine>[a-z][\w.-]{0,60}\d[\w.-]{0,20})\t"
    r"|# (?=[A-Za-z])"  # what was put out of force, or noted in a script
    r"|>{1,6} ?|[-*\u2022|](?=\s) ?|\+(?=[^+-])"  # quoted mail, lists, tables, changes
    r"|(?<=\s)(?=\S)"  # indented as a whole
    r")(?P<text>.*)",
    re.DOTALL,
)
_NUMBER = re.compile(r"[ \t]{0,8}\[?(\d{1,7})(?=[\]:|\t -]|$)")
_OWN_NUMBER = re.compile(r"^[ \t]{0,8}\[?\d{1,7}(?:\][: ]?|[:|\t ])")
_PUT_BEFORE = re.compile(r"^(?: {0,6}\d{1,7}\t| {2,6}\d{1,6} (?=\s|\S)|\d{1,7}[:-](?![ \d]))")
_FEWEST_NUMBERS = 3
_HOSTS = ("host", "machine")
_PROGRAMS = ("logged", "journal", "logged2")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A line without its first label: whose it is, where it says so."""

    text: str
    key: str = ""
    host: str = ""


def labels(line: str, *, numbered: bool) -> Iterator[Labelled]:
    """Yield a line without its first label, without its first two, and so on.

    In a text whose lines are ``numbered``, numbers are nobody's rank.

    >>> [one.text for one in labels("3: [rank3]: NCCL", numbered=False)]
    ['[rank3]: NCCL', 'NCCL']
    >>> [one.host for one in labels("gpu-a: Port 1:", numbered=False)]
    ['gpu-a']
    """
    text, key, host = line, "", ""
    if numbered:
        text = _OWN_NUMBER.sub("", line, count=1)
        yield Labelled(text)
    for _ in range(MOST_LABELS_OF_A_LINE):
        found = LABEL.match(text)
        if not found or not text:
            return
        told = {name: word for name, word in found.groupdict().items() if word}
        cell = text.lstrip().startswith("|")
        text = told.pop("text", "")
        if cell and text.endswith("|"):
            text = text[:-1].rstrip()
        key += " ".join(told.values())
        logged = next((told[name] for name in _PROGRAMS if name in told), "")
        named = next((told[name] for name in _HOSTS if name in told), logged.split(" ")[0])
        host = named or host
        yield Labelled(text, key, host)


def is_numbered(block: str) -> bool:
    r"""Return whether the lines of a text carry their numbers.

    >>> is_numbered("7: CA 'mlx5_0'\n8:   Port 1:\n9:     State: Down")
    True
    >>> is_numbered("0: State: Down\n1: State: Down\n0: Rate: 40")
    False
    """
    numbers = _numbers(block)
    return all(int(before[1]) < int(after[1]) for before, after in pairwise(numbers)) and bool(
        numbers
    )


def unnumbered(block: str) -> str:
    r"""Return a text without the numbers that a viewer or a search put before each line.

    >>> unnumbered("     7\tCA 'mlx5_0'\n     8\t\tPort 1:\n     9\t\t\tState: Down")
    "CA 'mlx5_0'\n\tPort 1:\n\t\tState: Down"
    >>> unnumbered("1: lo: <UP>\n2: eth0: <UP>\n3: eth1: <UP>")
    '1: lo: <UP>\n2: eth0: <UP>\n3: eth1: <UP>'
    """
    numbers = _numbers(block) if _PUT_BEFORE.match(block) else []
    if len(numbers) < _FEWEST_NUMBERS or not all(map(_PUT_BEFORE.match, _texts(numbers))):
        return block
    steps = {int(after[1]) - int(before[1]) for before, after in pairwise(numbers)}
    if min(steps) < 1 or (numbers[0].string[numbers[0].end()] == " " and steps != {1}):
        return block
    return "\n".join(_PUT_BEFORE.sub("", line, count=1) for line in block.split("\n"))


def _texts(found: Iterable[re.Match[str]]) -> Iterator[str]:
    return (one.string for one in found)


def _numbers(block: str) -> list[re.Match[str]]:
    """Return the numbers that lines begin with, none where some lines begin otherwise."""
    full = (line for line in block.split("\n") if line.strip())
    looked = list(islice(full, _LOOKED_AT))
    found = [one for one in map(_NUMBER.match, looked) if one]
    return found if len(found) >= max(2.0, _NUMBERED_RATIO * len(looked)) else []
