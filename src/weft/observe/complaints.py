"""Whether a line says in plain words that something is wrong, whoever wrote it.

No list of messages is ever complete. Where no rule names a cause, the lines that no parser
understood and that complain are what somebody should read first.
"""

import re

LONGEST = 400
_TROUBLE = re.compile(
    r"fail|fatal|error|cannot|can't|could(?: not|n't)|unable to|denied|not permitted"
    r"|not (?:found|present|available|exist|loaded|supported)|no such|missing|no space left"
    r"|refused|reset by peer|timed[ -]?out|unreachable|not respond|mismatch|incompatib|invalid"
    r"|out of memory|exhausted|exceed|insufficient|aborted|killed|segfault|segmentation fault"
    r"|\bhung\b|stuck|corrupt|\bdown\b|degraded|dropped|\bincorrect|\bWARN(?:ING)?:",
    re.IGNORECASE,
)
_FINE = re.compile(
    r"\bno (?:errors?|failures?|drops?|issues?)\b|\b0 (?:errors?|failures?|failed|dropped)"
    r"|(?:errors?|failures?|failed|dropped\w*)(?: \w+)?[\s:=|.]*(?:\b0\b|none|no\b|false)"
    r"|without error|success|\bpassed\b|ignor",
    re.IGNORECASE,
)


def complains(text: str) -> bool:
    """Return whether a line tells of trouble, and not that all is well.

    >>> complains("uverbs0: open: Permission denied"), complains("0 errors on nvlink 3")
    (True, False)
    """
    line = text[:LONGEST]
    return bool(_TROUBLE.search(line)) and not _FINE.search(line)
