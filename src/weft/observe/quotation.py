"""Which lines of a text only quote messages: nothing of what they say has happened.

Tests that passed provoke errors on purpose; source code, rules of alarms, manuals and notes of
releases name the messages of faults. A line counts as a quotation by its form alone, so that
what somebody says about a real output stays what it is.
"""

import re

_NOTHING: frozenset[int] = frozenset()
_SOURCE = re.compile(
    r"\bre\.compile\(|\bregexp\.MustCompile\(|\bstd::regex\b|"
    r"\"[^\"\n]*%(?:\d+)?(?:s|d|u|lu|ld|zu|p|x)\b[^\"\n]*\"|\{\{-? ?\$(?:labels|value)\b|"
    r"^\s*(?:-\s*)?(?:alert|expr): "
)
"""Expressions that seek a message, forms in which one is written, rules of alarms."""
_NOTES = re.compile(
    r"^\W{0,6}Fix(?:e[sd])? (?!by\b|it\b|this\b|with\b|in\b|on\b|at\b|rate\b)\S"
)
"""A line of the notes of a release; "fixed by ..." tells of a repair instead."""
_PASSED = re.compile(r"^=+ (?!.*(?:failed|error))(?:.* )?\d+ passed\b.*=+\s*$")
_TEST = re.compile(
    r"^=+ test session starts|^collected \d+ item|^\S+::\S*test|^test_\w+ \(|^-+ Captured ",
    re.IGNORECASE,
)
_RAN = re.compile(r"^Ran \d+ tests? in ")
_GO = re.compile(r"^\s*(?P<run>=== RUN|--- PASS:|--- FAIL:)\s+(?P<name>\S+)")
_GTEST = re.compile(r"^\[ (?P<run>RUN     |      OK|  FAILED ) \] (?P<name>\S+)")
_TABLE = re.compile(
    r"^\s*\|.*\b(?:message|error|code|symptom|xid|log)s?\b.*\|.*"
    r"\b(?:meaning|cause|what to do|fix|remedy|action|description|explanation)s?\b.*\|\s*$",
    re.IGNORECASE,
)
"""The head of a table that explains messages."""
_IN_SOURCE = ("re.compile(", "regexp.Must", "std::regex", "%", "{{", "expr: ", "alert: ")
_IN_TESTS = (" passed", "=== RUN", "[ RUN ", "Ran ")
_ROW = re.compile(r"^\s*\|.*\|\s*$", re.MULTILINE)


def quotations(block: str) -> frozenset[int]:
    """Return the places of the lines that only quote, the first line being 0.

    >>> quotations('memlock = re.compile(r"Cannot allocate memory")')
    frozenset({0})
    """
    source = any(mark in block for mark in _IN_SOURCE)
    tests = any(mark in block for mark in _IN_TESTS)
    table = "|\n" in block and _ROW.search(block) is not None
    if not (source or tests or table or "Fix" in block):
        return _NOTHING
    lines = block.split("\n")
    found = {
        place for place, line in enumerate(lines)
        if (source and _SOURCE.search(line[:_LONGEST]))
        or ("Fix" in line and _NOTES.match(line))
    }  # fmt: skip
    if tests:
        found |= _tested(lines)
    if table:
        found |= _explained(lines)
    return frozenset(found)


_LONGEST = 600


def _tested(lines: list[str]) -> set[int]:
    """Return the lines of tests that passed: of a whole session, or of one test."""
    found: set[int] = set()
    begun: int | None = None
    running: dict[str, int] = {}
    for place, line in enumerate(lines):
        if begun is None and _TEST.match(line):
            begun = place
        elif _PASSED.match(line) or (_RAN.match(line) and _is_ok(lines, place)):
            found.update(range(place if begun is None else begun, place + 1))
            begun = None
        elif _RAN.match(line):
            begun = None
        test = _GO.match(line) or _GTEST.match(line)
        if not test:
            continue
        if "RUN" in test["run"]:
            running[test["name"]] = place
        elif "FAIL" not in test["run"]:
            inside = [at for name, at in running.items() if _is_part(name, test["name"])]
            found.update(range(min(inside, default=place), place + 1))
    return found


def _is_ok(lines: list[str], place: int) -> bool:
    """Return whether what follows a count of tests says that all of them passed."""
    return any(line.startswith("OK") for line in lines[place + 1 : place + 3])


def _is_part(name: str, of: str) -> bool:
    """Return whether a test is another, or one of its parts."""
    return name == of or name.startswith(f"{of}/")


def _explained(lines: list[str]) -> set[int]:
    """Return the rows of tables that explain messages."""
    found: set[int] = set()
    within = False
    for place, line in enumerate(lines):
        within = bool(_TABLE.match(line)) or (within and line.lstrip().startswith("|"))
        if within:
            found.add(place)
    return found
