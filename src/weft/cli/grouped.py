"""From the signature of a command to what typer reads: words, and groups of options.

A parameter that is a dataclass stands for several options, which are its fields.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from weft.cli import completion

Row = Sequence[Any]
"""Words, help, and what typer takes besides; ``complete`` names a function of completion."""
_KEYWORD = inspect.Parameter.KEYWORD_ONLY


def spread(command: Callable[..., Any], words: Mapping[str, Row] = {}) -> Callable[..., Any]:
    """Return a command that takes each field of its dataclass parameters as a parameter.

    ``words`` are the rows of its parameters, and of those fields, by their names.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Size:
    ...     width: int = 1
    >>> def area(size: Size, height: int = 2) -> int:
    ...     return size.width * height
    >>> spread(area)(width=3), str(inspect.signature(spread(area)))
    (6, '(*, width: int = 1, height: int = 2) -> int')
    """
    own = list(_parameters(command, words))
    hints = get_type_hints(command)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}

    @wraps(command)
    def called(**given: Any) -> Any:  # noqa: ANN401 - whatever the options hold
        for name, group in groups.items():
            names = [field.name for field in fields(group)]
            given[name] = group(**{key: given.pop(key) for key in names if key in given})
        return command(**given)

    del called.__wrapped__  # its signature is another
    called.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        own, return_annotation=hints.get("return", inspect.Signature.empty)
    )
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in own}
    return called


def _parameters(
    command: Callable[..., Any], words: Mapping[str, Row]
) -> Iterator[inspect.Parameter]:
    """Yield the parameters of a command, those of its groups in their place."""
    hints = get_type_hints(command)
    for given in inspect.signature(command).parameters.values():
        hint = hints[given.name]
        single = [given.replace(kind=_KEYWORD, annotation=hint)]
        for parameter in _fields_of(hint) if is_dataclass(hint) else single:
            row = words.get(parameter.name)
            yield parameter if row is None else _worded(parameter, row)


def _fields_of(group: Any) -> Iterator[inspect.Parameter]:  # noqa: ANN401 - a dataclass
    hints = get_type_hints(group)
    for field in fields(group):
        made = field.default_factory
        default = field.default if made is MISSING else made()
        yield inspect.Parameter(
            field.name, _KEYWORD, default=default, annotation=hints[field.name]
        )


def _worded(parameter: inspect.Parameter, row: Row) -> inspect.Parameter:
    """Return a parameter with its words: an option where they have one, as ``-b --begin``."""
    words, text, *more = row
    settings = dict(more[0]) if more else {}
    if "complete" in settings:
        settings["autocompletion"] = getattr(completion, settings.pop("complete"))
    flags = [word for word in words.split() if word.startswith("-")]
    value = next((word for word in words.split() if word not in flags), None)
    make: Any = typer.Option if flags else typer.Argument
    hint: Any = parameter.annotation
    worded = Annotated[hint, make(*flags, metavar=value, help=text or None, **settings)]
    return parameter.replace(annotation=worded)
