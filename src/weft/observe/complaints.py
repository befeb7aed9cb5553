"""What sort of trouble a line tells of in plain words, whoever wrote it.

No list of messages is ever complete. Lines that no parser understood and that complain are
kept, few and short: a hint, and what somebody should read first, where no cause is named.
"""

import re

LONGEST = 400
MOST = 200
"""So many complaints are kept of one text."""
_TROUBLE = {
    "missing": r"not (?:found|present|available|exist|installed|loaded|configured|detected"
    r"|visible|assigned|recogni[sz]ed|enumerated)|no such|missing|absent"
    r"|does(?: not|n't) exist|(?:cannot|can't|could(?: not|n't)|unable to) find"
    r"|unavailable|nonexistent|none found"
    r"|\bno [\w /.-]{1,40}(?:found|available|detected|present|exists?|records?|configured)",
    "denied": r"denied|not permitted|forbidden|not allowed|unauthori[sz]ed|\beacces|\beperm\b"
    r"|rejected by|prohibited",
    "exhausted": r"(?:cannot|can't|could(?: not|n't)|failed to) allocate"
    r"|out of (?!sequence|order|range|sync)"
    r"|\benomem\b|no space left|exhausted|exceed|insufficient|too (?:small|low|many|large)"
    r"|limits? (?:reached|exceeded)|not enough|overflow|allocation .{0,30}failed|lack of",
    "timeout": r"tim(?:ed?|ing)[ -]?out|unreachable|no route|not respond|no response|\bhangs?\b"
    r"|\bhung\b|stuck|expired|retries exceeded|retry (?:count|limit|exceeded)|deadline",
    "refused": r"refused|reset by peer|connection (?:closed|aborted|lost)|broken pipe"
    r"|disconnect|unexpected(?:ly)? (?:eof|closed)",
    "mismatch": r"mismatch|differ|inconsistent|incompatib"
    r"|(?:does|do)(?: not|n't) (?:match|support)"
    r"|unsupported|not support|wrong|invalid|unexpected|incorrect|misconfig|bad address"
    r"|conflict|undefined symbol|out of range|not at (?:the )?max|out of sync",
    "down": r"\bdown\b|inactive|not (?:active|running|up|started|initiali[sz]ed|ready)"
    r"|disabled|offline|polling|stopped|\bexited\b|no carrier",
    "flapping": r"flap|went down|link down|up and down|lost carrier|link[- ]?downed"
    r"|(?:down|up) again|retrain",
    "degraded": r"degrad|downgrad|slow(?:ed|down|er)\b|throttl|below (?:expected|the|its)"
    r"|lower than|under[- ]?perform|limited by|not at (?:the )?max",
    "lost": r"\bdrop(?:ped|s)?\b|discard|\blost\b|\bloss\b|retransmi"
    r"|out[_ ]of[_ ](?:sequence|order)",
    "errors": r"errors?\b|uncorrect|corrupt|parity|replay",
    "fatal": r"fatal|catastroph|\bassert|panic|hardware error|internal error|unrecoverable"
    r"|critical|compromised",
    "died": r"killed|segfault|segmentation|aborted|\bdied\b|\bdead\b|terminated|\boom\b"
    r"|signal \d+|exit(?:ed)? (?:code|with|status)|core dumped|crash",
    "lost_device": r"fallen off|(?:is|was) lost|lost from|no longer (?:on|there|present)"
    r"|disappear|vanish|unable to determine the device handle",
    "failed": r"fail|cannot|can't|could(?: not|n't)|unable|unsuccessful|\berr(?:or|no)\b|abort"
    r"|\bWARN(?:ING)?:",
}
_FINE = re.compile(
    r"^\s*(?:\W{0,3}\[\s?(?:ok|pass(?:ed)?)\s?\]|[\u2713\u2714\u2705])"
    r"|\bno (?:uncorrectable |correctable |ecc |xid |link ){0,3}(?:errors?|failures?|drops?"
    r"|issues?)\b|\b0 (?:errors?|failures?|failed|dropped)"
    r"|(?:errors?|failures?|failed|dropped\w*)(?: \w+)?[\s:=|.]*(?:\b0\b|none\b|no\b|false)"
    r"|without error|success|\bpassed\b|ignor|\W[Nn]ot [Aa]ctive"
    r"|retrying|will retry|try(?:ing)? again|process exited, code=|failed with result '",
    re.IGNORECASE,
)
_ANY = re.compile("|".join(_TROUBLE.values()), re.IGNORECASE)
_KINDS = tuple((name, re.compile(words, re.IGNORECASE)) for name, words in _TROUBLE.items())


def troubles(text: str) -> tuple[str, ...]:
    """Return the kinds of trouble a line tells of; none of a line that says all is well.

    >>> troubles("uverbs0: open: Permission denied"), troubles("0 errors on nvlink 3")
    (('denied',), ())
    """
    line = text[:LONGEST]
    if not _ANY.search(line) or _FINE.search(line):
        return ()
    return tuple(name for name, words in _KINDS if words.search(line))
