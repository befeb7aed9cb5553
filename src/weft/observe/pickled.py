"""The plain values of a pickle: numbers, texts, lists and dictionaries; nothing is ever called.

A pickle is a small program, and Python's own reader runs it. Here its steps are followed only
as far as they build plain values. PyTorch wraps lists and dictionaries of its own in calls that
restore their types; of those the value is taken as it is. Any other call ends the reading.
"""

import pickletools
from collections.abc import Callable
from itertools import islice
from typing import Any, Final

MOST_BYTES: Final = 64 << 20
MOST_STEPS: Final = 20_000_000
_PROTOCOLS = range(2, 6)
_WRAPPERS = ("torch.jit._pickle restore_type_tag", "torch.jit._pickle build_")
_NAMED_PARTS = 2
_DEEPEST: Final = 100


class NotPlain(ValueError):  # noqa: N818 - says what the pickle is
    """A pickle does more than build plain values, or is damaged."""


def is_pickle(head: bytes) -> bool:
    """Return whether a file begins as pickles do since protocol 2.

    >>> import pickle
    >>> is_pickle(pickle.dumps({})), is_pickle(b"{}")
    (True, False)
    """
    return len(head) > 1 and head[0] == 0x80 and head[1] in _PROTOCOLS  # noqa: PLR2004 - PROTO


class _Mark:
    """Where a row of values begins."""


class _Called:
    """A function that is named and not looked up."""

    def __init__(self, name: str) -> None:
        self.name = name


def plain(data: bytes) -> object:
    """Return the value of a pickle.

    >>> import pickle
    >>> plain(pickle.dumps({"entries": [1, "a", None, (2.5, True)]}))
    {'entries': [1, 'a', None, [2.5, True]]}

    Raises:
        NotPlain: it calls something, or is damaged.
    """
    machine = _Machine()
    try:
        for code, argument, _ in islice(pickletools.genops(data), MOST_STEPS):
            if code.name == "STOP":
                return _bounded(machine.stack.pop())
            machine.step(code.name, argument)
    except NotPlain:
        raise
    except (ValueError, LookupError, TypeError, OverflowError, AttributeError) as error:
        raise NotPlain(f"damaged: {error}") from error
    raise NotPlain("it has no end")


def _bounded(value: object) -> object:
    """Return a value that does not hold itself and does not unfold to far more than it is.

    A pickle may name one list many times, which holds another many times, and so on.
    """
    sizes: dict[int, int] = {}
    opened: set[int] = set()
    left = [value]
    while left:
        one = left[-1]
        inner = _inner(one)
        if inner is None or id(one) in sizes:
            left.pop()
        elif id(one) in opened:
            left.pop()
            opened.remove(id(one))
            sizes[id(one)] = 1 + sum(sizes.get(id(part), 1) for part in inner)
            if sizes[id(one)] > MOST_STEPS:
                raise NotPlain("it unfolds without end")
        else:
            opened.add(id(one))
            if len(opened) > _DEEPEST or any(id(part) in opened for part in inner):
                raise NotPlain("it is too deep, or holds itself")
            left += inner
    return value


def _inner(value: object) -> list[object] | None:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else None


class _Machine:
    """The stack of a pickle, and what it remembers."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def step(self, name: str, argument: Any) -> None:  # noqa: ANN401 - as pickletools gives it
        """Follow one step."""
        if name in _CONSTANTS:
            self.stack.append(_CONSTANTS[name])
        elif name in _VALUES:
            self.stack.append(argument)
        elif name in _SILENT:
            return
        elif name in _EMPTY:
            self.stack.append(_EMPTY[name]())
        elif name in _STEPS:
            _STEPS[name](self, argument)
        else:
            raise NotPlain(f"it does more than hold values ({name})")

    def row(self) -> list[Any]:
        """Take the values above the last mark."""
        at = len(self.stack) - 1
        while not isinstance(self.stack[at], _Mark):
            at -= 1
            if at < 0:
                raise NotPlain("damaged: no mark")
        values = self.stack[at + 1 :]
        del self.stack[at:]
        return values

    def remembered(self, key: int) -> None:
        """Put a remembered value on the stack."""
        self.stack.append(self.memo[key])

    def fill(self, pairs: list[Any]) -> None:
        """Put pairs into the dictionary below them."""
        into = self.stack[-1]
        if not isinstance(into, dict):
            raise NotPlain("damaged: no dictionary")
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            into[key if isinstance(key, str | int | float) else str(key)[:100]] = value

    def extend(self, values: list[Any]) -> None:
        """Put values at the end of the list below them."""
        into = self.stack[-1]
        if not isinstance(into, list):
            raise NotPlain("damaged: no list")
        into += values

    def take(self, count: int) -> list[Any]:
        """Take the last values."""
        if len(self.stack) < count:
            raise NotPlain("damaged: nothing is left")
        values = self.stack[-count:]
        del self.stack[-count:]
        return values

    def call(self, _: object) -> None:
        """Take the value that a wrapper of PyTorch is given, and call nothing."""
        called, given = self.take(2)
        known = isinstance(called, _Called) and called.name.startswith(_WRAPPERS)
        if not known or not isinstance(given, list) or not given:
            name = called.name if isinstance(called, _Called) else "something"
            raise NotPlain(f"it calls {name[:100]}")
        self.stack.append(given[0])

    def name(self, argument: object) -> None:
        """Put the name of a function on the stack."""
        words = str(argument).split(" ") if argument else [str(one) for one in self.take(2)]
        if len(words) != _NAMED_PARTS:
            raise NotPlain("damaged: no name")
        self.stack.append(_Called(" ".join(words)))


_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_VALUES = {
    "INT", "BININT", "BININT1", "BININT2", "LONG1", "FLOAT", "BINFLOAT", "BINUNICODE",
    "SHORT_BINUNICODE", "BINUNICODE8", "UNICODE",
}  # fmt: skip
_SILENT = {"PROTO", "FRAME"}
_EMPTY: dict[str, Callable[[], object]] = {
    "EMPTY_DICT": dict, "EMPTY_LIST": list, "EMPTY_TUPLE": list, "MARK": _Mark,
}  # fmt: skip
_STEPS: dict[str, Callable[[_Machine, Any], None]] = {
    "BINPUT": lambda m, key: m.memo.__setitem__(key, m.stack[-1]),
    "LONG_BINPUT": lambda m, key: m.memo.__setitem__(key, m.stack[-1]),
    "PUT": lambda m, key: m.memo.__setitem__(key, m.stack[-1]),
    "MEMOIZE": lambda m, _: m.memo.__setitem__(len(m.memo), m.stack[-1]),
    "BINGET": lambda m, key: m.remembered(key),
    "LONG_BINGET": lambda m, key: m.remembered(key),
    "GET": lambda m, key: m.remembered(key),
    "APPEND": lambda m, _: m.extend(m.take(1)),
    "APPENDS": lambda m, _: m.extend(m.row()),
    "SETITEM": lambda m, _: m.fill(m.take(2)),
    "SETITEMS": lambda m, _: m.fill(m.row()),
    "LIST": lambda m, _: m.stack.append(m.row()),
    "TUPLE": lambda m, _: m.stack.append(m.row()),
    "TUPLE1": lambda m, _: m.stack.append(m.take(1)),
    "TUPLE2": lambda m, _: m.stack.append(m.take(2)),
    "TUPLE3": lambda m, _: m.stack.append(m.take(3)),
    "POP": lambda m, _: m.take(1).clear(),
    "POP_MARK": lambda m, _: m.row().clear(),
    "GLOBAL": _Machine.name,
    "STACK_GLOBAL": _Machine.name,
    "REDUCE": _Machine.call,
}
