"""Specs as YAML text: plain, to be loaded again, or explained, to be read and edited."""

import io
import json
import re
from collections.abc import Iterator, Mapping
from textwrap import wrap
from types import MappingProxyType
from typing import Any, Final

from weft.spec.base import Part
from weft.spec.load import API_VERSION, preset
from weft.spec.settings import Tuning

_WIDTH: Final = 96
_BESIDE: Final = 60


def document(part: Part) -> dict[str, Any]:
    """Return a part as the document that loads to the same part; quantities have units."""
    spec = part.model_dump(mode="json", exclude_none=True)
    name = spec.pop("name", type(part).__name__.lower())
    return {
        "apiVersion": API_VERSION,
        "kind": type(part).__name__,
        "metadata": {"name": name},
        "spec": spec,
    }


def tuning_yaml(tuning: Tuning, head: str = "") -> str:
    """Return a tuning as the file that ``load_tuning`` reads, with how it was found."""
    settings = tuning.settings.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
    metadata: dict[str, Any] = {"name": tuning.name}
    if tuning.record is not None:
        metadata["record"] = tuning.record.model_dump(mode="json")
    whole = {
        "apiVersion": API_VERSION, "kind": type(tuning.settings).__name__,
        "metadata": metadata, "spec": settings,
    }  # fmt: skip
    comments = "".join(f"# {line}".rstrip() + "\n" for line in head.splitlines())
    return comments + _dumped([whole])


def as_yaml(*parts: Part) -> str:
    """Return parts as one YAML text, a document each."""
    return _dumped([document(part) for part in parts])


def _dumped(documents: list[dict[str, Any]]) -> str:
    from ruamel.yaml import YAML  # noqa: PLC0415 - 15 ms that not every command needs

    stream = io.StringIO()
    YAML().dump_all(documents, stream)
    return stream.getvalue()


def as_json(*parts: Part) -> str:
    """Return parts as one JSON text: a document, or a list of several."""
    documents = [document(part) for part in parts]
    return json.dumps(documents[0] if len(documents) == 1 else documents, indent=2)


def explained(
    part: Part,
    head: str = "",
    replace: Mapping[str, object] | None = None,
    *,
    base: str = "",
) -> str:
    """Return a part as YAML with the meaning of every key beside it.

    Keys that have no value stand there as comments. ``replace`` gives top-level keys another
    value (a model by its name). With a preset as ``base`` the text names it, and keys that
    have its value are comments too: what a file states is then what its owner decided.
    """
    data = document(part)
    lines = [f"# {line}".rstrip() for line in head.splitlines()]
    lines += [f"apiVersion: {API_VERSION}", f"kind: {data['kind']}", "metadata:"]
    lines += [f"  name: {_scalar(data['metadata']['name'])}", "spec:"]
    same: Mapping[str, Any] = {}
    if base:
        lines.append(
            f"  preset: {base}  # Laid under the keys below; weft init --list has all."
        )
        own = document(preset(base))["spec"]
        same = {key: value for key, value in own.items() if key not in _ALWAYS}
    spec = {**data["spec"], **(replace or {})}
    lines += _keys(type(part), spec, "  ", skip=("name",), same=same)
    return "\n".join(lines) + "\n"


_ALWAYS: Final = ("hosts",)
"""Keys that a file states even where they are those of its preset."""


def _keys(
    kind: type[Part],
    data: Mapping[str, Any],
    indent: str,
    skip: tuple[str, ...] = (),
    same: Mapping[str, Any] = MappingProxyType({}),
) -> Iterator[str]:
    for key, field in kind.model_fields.items():
        if key in skip:
            continue
        value, held = data.get(key), same.get(key)
        meaning = " ".join((field.description or "").split())
        below = _part_of(kind, key)
        is_empty = value is None or (below is not None and not value)
        is_comment = is_empty or (value is not None and value == held)
        mark = "# " if is_comment and "#" not in indent else ""
        if isinstance(value, Mapping) and below:
            yield from _line(f"{indent}{mark}{key}:", meaning, indent)
            inner = held if isinstance(held, Mapping) and value != held else {}
            yield from _keys(below, value, f"{indent}{mark}  ", same=inner)
        elif isinstance(value, Mapping) and value:
            yield from _line(f"{indent}{mark}{key}:", meaning, indent)
            yield from (f"{indent}{mark}  {k}: {_scalar(v)}" for k, v in value.items())
        else:
            shown = f"{key}: {_scalar(value)}" if value is not None else f"{key}:"
            yield from _line(indent + mark + shown, meaning, indent)


def _part_of(kind: type[Part], key: str) -> type[Part] | None:
    from weft.spec.parts import part_at  # noqa: PLC0415 - a small piece of a larger module

    below = part_at(kind, (key,))
    return None if below is kind else below


def _line(text: str, meaning: str, indent: str) -> Iterator[str]:
    """Yield a key with its meaning beside it, or above it where that is too long."""
    beside = f"{text}  # {meaning}"
    if not meaning:
        yield text
    elif len(beside) <= _WIDTH and len(text) <= _BESIDE:
        yield beside
    else:
        yield from (f"{indent}# {line}" for line in wrap(meaning, _WIDTH - len(indent) - 2))
        yield text


def _scalar(value: object) -> str:
    """Return a plain value as YAML writes it; text that YAML would misread is quoted."""
    if not isinstance(value, str):
        return json.dumps(value)
    return (
        value if _PLAIN.fullmatch(value) and value.lower() not in _WORDS else json.dumps(value)
    )


_PLAIN: Final = re.compile(r"[A-Za-z_][\w./-]*|\d+(\.\d+)?[A-Za-z]*[A-Zbs](/s)?|\d+\.\d+\.\d+")
"""Names, quantities with their unit, and versions: what YAML reads as text as it stands."""
_WORDS: Final = frozenset({"true", "false", "null", "yes", "no", "on", "off", "nan", "inf"})
