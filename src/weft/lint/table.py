"""Rules that are rows of data: which settings, under which conditions, and what to do.

A rule of ``tables/*.yaml`` has an ``about`` (the four sections of its page) and ``rows``. Where
these do not suffice it has ``messages``, and a function of its name in the module of
``weft.lint.predicates`` named as the table yields ``problem`` with the name of one of them. The
function is called with each thing that its first parameter is: a kind of fact, a switch
(``Device``), a fleet of switches (``list[Device]``), all that was read (``Case``). A rule with
neither reports what readers could not accept (``Flaw``). An entry ``defaults`` holds what the
rules after it have in common, a rule what its rows have.
A row names one kind of fact (``of``) and tests of its fields (``when``); the first row that
holds for a fact reports it, or each that does where the rule says ``every``. A test is a value,
a list of values, or ``OPERATORS`` by name.
``fabric`` and ``cluster`` (dotted paths of the cluster document, or ``none``) are conditions on
what else was read; ``with`` and ``without`` are about another fact, and ``same`` lists the
fields that the two share, as ``value: port`` where the names differ.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields
from importlib import import_module
from operator import attrgetter
from string import Formatter
from typing import Any, Final, get_type_hints

from weft.inventory import table as inventory_tables
from weft.lint import facts as vocabulary
from weft.lint import predicates
from weft.lint.document import whole
from weft.lint.facts import Fact, Side
from weft.lint.rule import Case, Device, Found, Layer, Match, Problem, Rule, Severity
from weft.readers.matcher import pattern

Row = Mapping[str, Any]
Operator = Callable[[Any, Any, Fact | None], bool]
Prepared = tuple[tuple[Operator, Any], ...]
"""A test: what judges a value, and the bound that it is compared with."""
_OF_ROWS: Final = ("of", "fabric", "without", "message", "fix")
"""What a rule may say once for all of its rows."""


def table_rules() -> Iterator[tuple[str, Rule]]:
    """Yield every rule of the tables by name; raises ValueError for an unknown field."""
    for table, row in written():
        yield row["rule"], _rule(table, row)


def written() -> Iterator[tuple[str, Row]]:
    """Yield every rule with the name of its table and with the defaults that stand above it."""
    for table, rules in inventory_tables.tables("weft.lint", "tables").items():
        shared: Row = {}
        for row in rules:
            if "rule" in row:
                yield table, {**shared, **row}
            else:
                shared = row["defaults"]


def _rule(table: str, row: Row) -> Rule:
    shared = {name: row[name] for name in _OF_ROWS if name in row}
    rows = row.get("rows", () if "messages" in row else (_flaws(row["rule"]),))
    checked = [_checked(row["rule"], {**shared, **item}) for item in rows]
    predicate = _predicate(table, row)

    def check(case: Case) -> Iterator[Problem]:
        yield from (_worded(row["messages"], found) for found in predicate(case))
        reported: set[int] = set()
        for item in checked:
            for fact in _candidates(case, item):
                if id(fact) in reported and not row.get("every"):
                    continue
                partners = _partners(case, item, fact)
                if partners is None:
                    continue
                reported.add(id(fact))
                yield _problem(case, item, fact, partners)

    return Rule(
        layer=Layer(row["layer"]),
        severity=Severity(row["severity"]),
        reference=row["reference"],
        check=check,
        needs=tuple(Side[need.upper()] for need in row.get("needs", ())),
        not_on=frozenset(row.get("not_on", ())),
        about=row["about"].strip(),
    )


def _flaws(rule: str) -> Row:
    """Return the row of a rule that reports what a reader could not accept."""
    return {"of": "Flaw", "when": {"rule": rule}, "message": "{message}", "fix": "{fix}"}


def _predicate(table: str, row: Row) -> Callable[[Case], Found]:
    """Return the function for what the rows of a rule cannot say."""
    if "messages" not in row:
        return lambda _: iter(())
    predicate = getattr(import_module(f"{predicates.__name__}.{table}"), row["rule"])
    (_, subject), *others = get_type_hints(predicate).items()

    def found(case: Case) -> Found:
        for item in _subjects(case, subject):
            yield from predicate(item, case) if len(others) > 1 else predicate(item)

    return found


def _subjects(case: Case, kind: Any) -> Iterable[Any]:  # noqa: ANN401 - a type
    """Return what a predicate is about, by the type of its first parameter."""
    if kind is Case:
        return (case,)
    if kind is Device:
        return case.switches
    return case.fleets() if kind == list[Device] else case.of(kind)


def _worded(messages: Mapping[str, Mapping[str, str]], match: Match) -> Problem:
    """Return what a predicate found in the words of its rule."""
    texts = messages[match.message]
    severity = Severity(texts["severity"]) if "severity" in texts else match.severity
    message, fix = (
        _WORDS.vformat(texts[text], match.seen, match.words) for text in ("message", "fix")
    )
    return Problem(seen=match.seen, message=message, fix=fix, severity=severity)


class _Words(Formatter):
    """Fills messages: of a list ``!n`` is the length, ``!l`` the entries, ``!m`` the rest."""

    def convert_field(self, value: Any, conversion: str | None) -> Any:  # noqa: ANN401
        """Return a word as its conversion says."""
        convert = _CONVERSIONS.get(conversion or "")
        return convert(value) if convert else super().convert_field(value, conversion)


def _listed(values: Any) -> str:  # noqa: ANN401 - a list, or a set without order
    entries = sorted(values) if isinstance(values, AbstractSet) else values
    return ", ".join(map(str, entries)) if entries else "nothing"


_WORDS: Final = _Words()
_CONVERSIONS: Final[Mapping[str, Callable[[Any], object]]] = {
    "n": len,
    "l": _listed,
    "m": lambda values: f" and {len(values) - 1} more" if len(values) > 1 else "",
}


def _checked(rule: str, row: Row) -> Row:
    """Return a row with its tests prepared; its kinds, fields and operators are known."""
    others = {name: _checked(rule, row[name]) for name in ("with", "without") if name in row}
    when = row.get("when", {})
    names = {"file", *(field.name for field in fields(_kind(row["of"])))}
    for field, test in when.items():
        unknown = ({field} - names) | (set(_operators(test)) - OPERATORS.keys())
        if unknown:
            raise ValueError(f"rule {rule}: {', '.join(sorted(unknown))} is unknown")
    tests = tuple((field, _prepared(test)) for field, test in when.items())
    return {**row, **others, "when": tests, "values": _values_of(when)}


def _values_of(when: Mapping[str, Any]) -> Callable[[Fact], object]:
    """Return what gives the values of a fact that decide whether it passes the tests."""
    bounds = (bound for test in when.values() for bound in _operators(test).values())
    others = {bound["field"] for bound in bounds if isinstance(bound, Mapping)}
    names = {*when, *others}
    return attrgetter(*sorted(names)) if names else lambda _: ()


def _kind(name: str) -> type[Fact]:
    kind: type[Fact] = getattr(vocabulary, name)
    return kind


def _candidates(case: Case, row: Row) -> Iterator[Fact]:
    """Yield the facts that a row is about, where it applies to this fabric and cluster."""
    if not _applies(case, row):
        return
    values, judged = row["values"], dict[object, bool]()
    for fact in case.of(_kind(row["of"])):
        key = values(fact)  # facts are many and their values few: each is judged once
        if key not in judged:
            judged[key] = _matches(fact, row["when"])
        if judged[key]:
            yield fact


def _applies(case: Case, row: Row) -> bool:
    cluster = row.get("cluster", {})
    if "fabric" in row and not holds(case.fabric, row["fabric"], None):
        return False
    if cluster == "none":
        return case.cluster is None
    return not cluster or (
        case.cluster is not None
        and all(
            holds(_at(case.cluster.cluster, path), test, None) for path, test in cluster.items()
        )
    )


def _at(value: Any, path: str) -> Any:  # noqa: ANN401 - any attribute of a cluster document
    for name in path.split("."):
        value = getattr(value, name)
    return value


def _matches(fact: Fact, when: Iterable[tuple[str, Prepared]]) -> bool:
    return all(
        judge(getattr(fact, name), bound, fact) for name, test in when for judge, bound in test
    )


def _partners(case: Case, row: Row, fact: Fact) -> tuple[Fact, ...] | None:
    """Return the fact that a row compares with; None where one lacks, or is there in excess."""
    absent = row.get("without")
    if absent and any(_is_partner(fact, item, absent) for item in case.of(_kind(absent["of"]))):
        return None
    wanted = row.get("with")
    if not wanted:
        return ()
    found = (item for item in case.of(_kind(wanted["of"])) if _is_partner(fact, item, wanted))
    first = next(found, None)
    return None if first is None else (first,)


def _is_partner(fact: Fact, other: Fact, part: Row) -> bool:
    same = part.get("same", {})
    pairs = same.items() if isinstance(same, Mapping) else ((name, name) for name in same)
    return (
        other is not fact
        and _matches(other, part["when"])
        and all(_text(getattr(fact, a)) == _text(getattr(other, b)) for a, b in pairs)
    )


def _problem(case: Case, row: Row, fact: Fact, partners: tuple[Fact, ...]) -> Problem:
    words = {field.name: _shown(getattr(fact, field.name)) for field in fields(fact)}
    words |= {"fabric": case.fabric, "other": partners[0] if partners else None}
    shown: list[Fact] = [fact, *partners]
    if row.get("cluster") and case.cluster is not None:
        shown.append(case.cluster)
    severity = row.get("severity")
    return Problem(
        seen=tuple(shown),
        message=row["message"].format(**words),
        fix=row["fix"].format(**words),
        severity=Severity(severity) if severity else None,
    )


def _shown(value: Any) -> Any:  # noqa: ANN401 - any field of a fact
    return ", ".join(map(str, value)) if isinstance(value, tuple) else value


def _text(value: Any) -> str:  # noqa: ANN401 - any field of a fact
    """Return a value as rows write it.

    >>> _text(True), _text(None), _text(" PXB ")
    ('true', 'none', 'pxb')
    """
    return str(value).strip().lower()


def _number(value: Any, fact: Fact | None) -> float | None:  # noqa: ANN401 - as above
    """Return a number: itself, a text of one, or ``times`` another ``field`` of the fact."""
    if isinstance(value, Mapping):
        other = _number(getattr(fact, value["field"]), fact)
        return None if other is None else other * value.get("times", 1)
    if isinstance(value, str):
        return whole(value)
    return value if isinstance(value, int | float) else None


def _compares(judge: Callable[[float, float], bool]) -> Callable[..., bool]:
    def compare(value: Any, bound: Any, fact: Fact | None) -> bool:  # noqa: ANN401 - as above
        number, limit = _number(value, fact), _number(bound, fact)
        return number is not None and limit is not None and judge(number, limit)

    return compare


def _is_one_of(value: Any, allowed: frozenset[str], _: Fact | None) -> bool:  # noqa: ANN401
    return _text(value) in allowed


def _texts(allowed: Any) -> frozenset[str]:  # noqa: ANN401 - a value or a list of values
    several = isinstance(allowed, Sequence) and not isinstance(allowed, str)
    return frozenset(map(_text, allowed if several else [allowed]))


def _is_outside(number: float | None, ends: tuple[float, float]) -> bool:
    return number is not None and not ends[0] <= number <= ends[1]


OPERATORS: Final[Mapping[str, Operator]] = {
    "is": _is_one_of,
    "not": lambda value, barred, fact: not _is_one_of(value, barred, fact),
    "below": _compares(lambda number, bound: number < bound),
    "above": _compares(lambda number, bound: number > bound),
    "at_most": _compares(lambda number, bound: number <= bound),
    "outside": lambda value, ends, fact: _is_outside(_number(value, fact), ends),
    "any_outside": lambda value, ends, _: any(_is_outside(item, ends) for item in value or ()),
    "multiple_of": _compares(lambda number, factor: number % factor == 0),
    "power_of_two": lambda value, wanted, fact: (
        ((number := int(_number(value, fact) or 0)) & (number - 1) == 0) is wanted
    ),
    "matches": lambda value, told, _: pattern(told).fullmatch(str(value)) is not None,
    "not_matches": lambda value, told, _: not pattern(told).fullmatch(str(value)),
    "has": lambda value, item, _: item in value,
    "lacks": lambda value, item, _: item not in value,
    "longer": lambda value, count, _: len(value) > count,
}
"""What a test may ask of a field; texts compare without case and surrounding spaces."""


def _operators(test: Any) -> Mapping[str, Any]:  # noqa: ANN401 - a test as a row writes it
    return test if isinstance(test, Mapping) else {"is": test}


def _prepared(test: Any) -> Prepared:  # noqa: ANN401 - a test as a row writes it
    """Return the operators of a test with their bounds, the values of ``is`` as texts."""
    return tuple(
        (OPERATORS[name], _texts(bound) if name in {"is", "not"} else bound)
        for name, bound in _operators(test).items()
    )


def holds(value: Any, test: Any, fact: Fact | None) -> bool:  # noqa: ANN401 - as above
    """Return whether a value passes every operator of a test.

    >>> holds("PXB", ["pix", "pxb"], None), holds("12", {"above": 3, "below": 9}, None)
    (True, False)
    """
    return all(judge(value, bound, fact) for judge, bound in _prepared(test))
