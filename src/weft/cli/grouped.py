"""From the signature of a command to what typer reads: words, and groups of options.

A parameter that is a dataclass stands for several options, which are its fields.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, get_type_hints

from weft.cli.options import argument, option

Row = Sequence[Any]
"""Words as a manual writes them, help, and what typer takes besides."""
_KEYWORD = inspect.Parameter.KEYWORD_ONLY


def spread(command: Callable[..., Any], words: Mapping[str, Row] = {}) -> Callable[..., Any]:
    """Return a command that takes each field of its dataclass parameters as a parameter.

    ``words`` are those of its other parameters, which have none of their own.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Size:
    ...     width: int = 1
    >>> def area(size: Size, height: int = 2) -> int:
    ...     return size.width * height
    >>> spread(area)(width=3), str(inspect.signature(spread(area)))
    (6, '(*, width: int = 1, height: int = 2) -> int')
    """
    hints = get_type_hints(command, include_extras=True)
    hints |= {name: _worded(hints[name], row) for name, row in words.items()}
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}

    @wraps(command)
    def called(**given: Any) -> Any:  # noqa: ANN401 - whatever the options hold
        for name, group in groups.items():
            names = [field.name for field in fields(group)]
            given[name] = group(**{key: given.pop(key) for key in names if key in given})
        return command(**given)

    del called.__wrapped__  # its signature is another
    own = [
        parameter
        for given in inspect.signature(command).parameters.values()
        for parameter in (
            map(_parameter, fields(groups[given.name]), _hints_of(groups[given.name]))
            if given.name in groups
            else [given.replace(kind=_KEYWORD, annotation=hints[given.name])]
        )
    ]
    called.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        own, return_annotation=hints.get("return", inspect.Signature.empty)
    )
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in own}
    return called


def _worded(hint: Any, row: Row) -> Any:  # noqa: ANN401 - an annotation
    """Return a type with its words: an option where they begin with a dash."""
    words, text, *more = row
    make = option if words.startswith("-") else argument
    return Annotated[hint, make(words, text, **(more[0] if more else {}))]


def _hints_of(group: Any) -> list[Any]:  # noqa: ANN401 - a dataclass
    hints = get_type_hints(group, include_extras=True)
    return [hints[field.name] for field in fields(group)]


def _parameter(field: "Field[Any]", hint: Any) -> inspect.Parameter:  # noqa: ANN401 - any annotation
    made = field.default_factory
    default = field.default if made is MISSING else made()
    return inspect.Parameter(field.name, _KEYWORD, default=default, annotation=hint)
