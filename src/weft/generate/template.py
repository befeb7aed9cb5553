"""Texts of files: one Jinja2 template a file, which holds the words; code holds the values."""

import json
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any

import yaml
from jinja2 import Environment, PackageLoader, StrictUndefined

from weft.generate import targets


def text_of(path: str, **values: Any) -> str:  # noqa: ANN401 - whatever the template asks for
    """Return the text of a template below ``targets``."""
    return str(_template(path).render(values))


def manifests_of(path: str, **values: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401
    """Yield the documents of a template of YAML; nothing where there is no such template."""
    if resources.files(targets).joinpath(path).is_file():
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        yield from yaml.load_all(text_of(path, **values), Loader=loader)


def texts_in(path: str, **values: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the mapping that a template of YAML holds, every scalar of it as text."""
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    found: dict[str, Any] = yaml.load(text_of(path, **values), Loader=loader)  # noqa: S506
    return found


@cache
def _template(path: str) -> Any:  # noqa: ANN401 - jinja2's own
    environment = Environment(  # noqa: S701 - no HTML is written
        loader=PackageLoader("weft.generate", "targets"), undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters["json"] = json.dumps
    return environment.get_template(path)
