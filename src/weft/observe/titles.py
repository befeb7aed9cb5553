"""Titles that people write above outputs, to say whose each is: ``# pod A``, ``== gpu-04 ==``.

A line counts as a title only where another of its form names somebody else, or the same at
another time, and where something stands below it: one alone may be anything.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

MOST_LENGTH = 100
_KIND = (
    r"host|node|pod|server|machine|worker|container|vm|box|system|client|peer|master|head|"
    r"sender|receiver|source|target|instance|switch|leaf|spine|tor"
)
_NO_HOST = re.compile(
    r"(?:mlx\d|eth|en[opsx]?\d|ens|enp|ib[ps]?\d|bond|lo\d|net\d|veth|nvme|roce|hfi|irdma|bnxt|"
    r"efa|erdma|swp|ethernet|gpu\d+$|gpu ?\d|nic|hca|port|lane|link|ring|tree|chann?el|rank|"
    r"cuda|nccl|rccl|ucx|v\d|run|test|step|case|try|attempt|phase|part|fig|table|example|section|"
    r"version|iteration|epoch|job|log|file|exp|config|option|issue|pr\d|group|batch|size|numa|"
    r"cpu|dim|level|layer|stage|round|line|item|note|xid|sxid|mtu|gid|qp|lid|vlan|prio|pool|"
    r"step|task|thread|block|page|day|week|sm\d|tc\d|q\d|pf\d|vf\d|slot|rail|plane|"
    r"driver|image|release|ubuntu|rhel|rocky|centos|debian|kernel|cfg|build|commit|branch|tag|"
    r"model|seed|before|after|(?:tp|pp|dp|ep|fp|bf|int|bs|cu|t)-?\d{1,3}$|"
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[-_]?\d{1,2}$)",
    re.IGNORECASE,
)
"""What has a number and is no host: devices, ports, runs, dates, versions, settings."""
_TITLE = re.compile(
    r"^(?P<before>[ \t]{0,3}(?:[#=*>+~_|/<-]{1,12}|\[)?)[ \t]{0,3}"
    r"(?:(?:(?:output|result|log|taken|run|same|this is|that is|now)s? )?"
    r"(?:on|from|at|of|for|in) (?:the )?)?"
    r"(?:(?:bad|good|working|failing|healthy|broken|local|remote|first|second|other|another|"
    r"faulty|sick|slow|fast) )?"
    rf"(?P<core>(?:(?:the )?(?P<kind>{_KIND})[ _#-]?(?P<id>[A-Za-z]|\d{{1,4}}|one|two|"
    r"(?-i:[a-z][a-z0-9.-]{0,50}\d[\w.-]{0,30}))?|"
    r"(?P<name>[a-z][a-z0-9.-]{0,60}\d[\w.-]{0,60}?)))"
    r"(?P<remark>[ ]?[(,;:-][^=#*|\n]{0,60}?|"
    r"[ ](?:today|now|before|after|again|earlier|later)\b[^=#*|\n]{0,40}?)?"
    r"(?P<after>[ \t]{0,3}(?:[#=*<:+~_|-]{1,12}|\])?)[ \t]{0,3}$",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"\b(?:today|yesterday|now|before|after|again|earlier|later|last|next|ago|then|since|"
    r"\d{1,2}:\d\d)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Title:
    """Whose the output below is; ``when`` where the title says when it was taken."""

    host: str
    when: str = ""


def titles(block: str) -> Mapping[int, Title]:
    r"""Return the titles of a text by place, the first line being 0.

    >>> {place: one.host for place, one in titles("# pod A\nx\n# pod B\ny").items()}
    {0: 'pod A', 2: 'pod B'}
    >>> titles("mlx5_0:\nx\nmlx5_1:\ny")
    {}
    """
    forms: dict[tuple[str, str, bool], dict[int, Title]] = defaultdict(dict)
    lines = block.split("\n")
    for place, line in enumerate(lines):
        found = _TITLE.match(line) if 1 < len(line) <= MOST_LENGTH else None
        if found and _names_somebody(found) and _stands_above(lines, place):
            form = (found["before"].strip(), (found["kind"] or "").lower(), bool(found["name"]))
            forms[form][place] = _title(found)
    alike = [found for found in forms.values() if len(set(found.values())) > 1]
    return {place: title for found in alike for place, title in found.items()}


def _names_somebody(found: re.Match[str]) -> bool:
    """Return whether a line looks like a title, and what it names like a host."""
    ends = found.string.rstrip().endswith((":", "]"))
    marked = found["before"].strip() or ends or found["kind"]
    named = found["kind"] or not _NO_HOST.match(found["name"])
    return bool(marked and named)


def _stands_above(lines: list[str], place: int) -> bool:
    """Return whether something other than a title, and no part of a document, stands below."""
    below = next((one for one in lines[place + 1 : place + 4] if one.strip()), "")
    if not below or (len(below) <= MOST_LENGTH and _TITLE.match(below)):
        return False
    line = lines[place]
    plain = line[:1].isalnum() and line.rstrip().endswith(":")
    return not (plain and below[:1] in " \t-")


def _title(found: re.Match[str]) -> Title:
    """Return whose an output is: of ``node tr-01`` the name, of ``node 1`` both words."""
    remark, name = found["remark"] or "", found["id"] or ""
    named = any(map(str.isalpha, name)) and any(map(str.isdigit, name))
    return Title(
        name if named else found["core"].strip(), remark if _WHEN.search(remark) else ""
    )
