"""No expression that reads the text of strangers works longer than the square of a line."""

import importlib
import pkgutil
import re
import sys

import pytest
from tests.unit.observe.regex_work import Matcher, TooManyStepsError, slow_lines

from weft import doctor, observe
from weft.observe.patterns import Pattern

SHORT, LONG = 16, 32
FEW_STEPS = 2_500
STEEPEST = 5.4
"""Of the steps for a line twice as long: 4 for the square, 8 for the cube."""


def _expressions(held, depth: int = 0):
    """Yield the expressions that a name of a module leads to."""
    if isinstance(held, re.Pattern):
        yield held
    elif isinstance(held, Pattern):
        yield held.expression
    elif isinstance(held, list | tuple | set | frozenset | dict) and depth < 5:
        for one in held.values() if isinstance(held, dict) else held:
            yield from _expressions(one, depth + 1)
    elif getattr(held, "__closure__", None) and depth < 5:
        for cell in held.__closure__:
            yield from _expressions(cell.cell_contents, depth + 1)
    elif hasattr(held, "reader") and hasattr(held, "marks"):
        yield from _expressions(held.reader, depth + 1)


def _of_module(name: str) -> dict[tuple[str, int], re.Pattern]:
    module = importlib.import_module(name)
    return {
        (one.pattern, one.flags): one
        for held in vars(module).values()
        for one in _expressions(held)
        if isinstance(one.pattern, str)
    }


MODULES = [
    one.name
    for package in (observe, doctor)
    for one in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if _of_module(one.name)
]


def _steps(expression: re.Pattern, line: str) -> int:
    matcher = Matcher(expression, line)
    matcher.match()
    return matcher.steps


def _steepest(expression: re.Pattern) -> tuple[float, str]:
    """Return how much more work a line twice as long is, at worst, and that line."""
    worst = (0.0, "")
    for short, long in zip(
        slow_lines(expression, SHORT), slow_lines(expression, LONG), strict=True
    ):
        try:
            many = _steps(expression, long)
        except TooManyStepsError:
            return (float("inf"), long)
        if many > FEW_STEPS:
            worst = max(worst, (many / _steps(expression, short), long))
    return worst


@pytest.fixture(autouse=True)
def _deep_matches():
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.parametrize("name", MODULES)
def test_twice_the_line_is_at_most_four_times_the_work(name):
    steep = {
        pattern: found
        for (pattern, _), expression in _of_module(name).items()
        if (found := _steepest(expression))[0] > STEEPEST
    }
    assert not steep


@pytest.mark.parametrize(
    "slow", [r"(a+)+$", r"(?:a|a)*$", r"\s*\s*\s*x", r"(\w+\s*)+:", r"\s*a?\s*.*?\s*$x"]
)
def test_an_expression_that_is_slow_is_found(slow):
    assert _steepest(re.compile(slow))[0] > STEEPEST


@pytest.mark.parametrize(
    "good", [r"\s*+(\w++)\s*+:", r"\d+ \d+ x", r".*?(a|b)\s*$", r"(a++)+b"]
)
def test_an_expression_that_is_quick_is_left_in_peace(good):
    assert _steepest(re.compile(good))[0] <= STEEPEST


@pytest.mark.parametrize("text", ["ab 12", "ab  9 x", "", "AB 1"])
@pytest.mark.parametrize(
    "pattern", [r"(?i)[a-c]+\s+\d*$", r"(?:a|ab) ?\d?", r"\w+?(?= )", r"x?$"]
)
def test_the_matcher_that_counts_agrees_with_pythons(pattern, text):
    expression = re.compile(pattern)
    assert Matcher(expression, text).match() == bool(expression.match(text))
