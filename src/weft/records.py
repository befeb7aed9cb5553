"""Tables of rows by name, written as TOML beside the code that they are for."""

import tomllib
from dataclasses import fields
from functools import cache
from importlib import resources
from typing import Any, TypeVar

T = TypeVar("T")


@cache
def table(package: str, name: str) -> dict[str, Any]:
    """Return the table of a file of a package, in the order of the file."""
    file = resources.files(package).joinpath(f"{name}.toml")
    return tomllib.loads(file.read_text(encoding="utf-8"))


def records(package: str, name: str, kind: type[T], *, named: str = "name") -> dict[str, T]:
    """Return the rows of a table as objects of a dataclass, by name.

    Lists become what the fields are, and tables the dataclasses of theirs. The name of a row
    is its field ``named``, where the class has one. A key without a field is an error.
    """
    from pydantic import ConfigDict, TypeAdapter  # noqa: PLC0415 - not every command needs it

    has_name = named in {field.name for field in fields(kind)}  # type: ignore[arg-type]
    rows = {
        key: {named: key, **row} if has_name else row
        for key, row in table(package, name).items()
    }
    adapter = TypeAdapter(dict[str, kind], config=ConfigDict(extra="forbid"))  # type: ignore[valid-type]
    found: dict[str, T] = adapter.validate_python(rows)
    return found
